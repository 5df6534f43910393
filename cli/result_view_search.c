/* A side that is searched on the spot: "model.onnx@xnnpack+dnnl+host". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/result_view.h"
#include "emit/emit.h"
#include "ir/base/folder.h"

bool
result_view_is_search(const char *text)
{
	size_t n = strlen(text);

	if (n > 5 && strcmp(text + n - 5, ".onnx") == 0)
		return true;
	return strchr(text, '@') && access(text, F_OK) != 0;
}

/* "model.onnx@a:k=v+b": the model, and its targets in order. */
static bool
split(struct search_args *args, const char *text, struct err *err)
{
	struct arena *a = args->cli->run;
	const char *at = strrchr(text, '@'), *end;

	if (!at || at == text)
		return err_set(err, ERR_USAGE,
		    "%s: a model needs targets, as %s@xnnpack+dnnl+host", text,
		    text);
	args->model = arena_strn(a, text, (size_t)(at - text));
	for (at++;; at = end + 1) {
		end = strchr(at, '+');
		if (!end)
			end = at + strlen(at);
		if (end == at)
			return err_set(
			    err, ERR_USAGE, "%s: an empty target", text);
		text_list_add(
		    &args->targets, arena_strn(a, at, (size_t)(end - at)), a);
		if (*end == '\0')
			return true;
	}
}

static bool
write_result(struct job *j, const char *folder, struct err *err)
{
	struct emit_in in = {
	    .model = &j->model,
	    .plan = &j->plan,
	    .counts = j->counts,
	    .constraints = &j->constraints,
	    .command = j->args->cli->line,
	    .threads = j->args->threads,
	};
	struct outdir o;

	if (!out_begin(&o, folder, false, j->arena, err))
		return false;
	o.is_scratch = true;
	if (emit_all(&in, &o, "result,alternatives", j->arena, err)
	    && out_commit(&o, err))
		return true;
	out_abandon(&o);
	return false;
}

/* The way through a result directory is the one every other side goes. */
bool
result_view_search(struct result_view *s, const char *text,
    const struct search_args *like, struct err *err)
{
	struct search_args args = *like;
	struct arena *a = like->cli->run;
	struct job j = {.opened = false};
	const char *folder, *result;
	bool ok;

	*s = (struct result_view){.path = text};
	if (!split(&args, text, err))
		return false;
	folder = folder_new(NULL, a, err);
	if (!folder)
		return false;
	result = arena_printf(a, "%s/result", folder);
	ok = job_import(&j, &args, a, err) && job_bind(&j, err)
	    && job_candidates(&j, true, err) && job_search(&j, err)
	    && write_result(&j, result, err)
	    && result_view_read(s, result, a, err);
	ok = job_close(&j, err) && ok;
	folder_remove(folder);
	s->path = text;
	return ok || strstr(err->text, args.model) ? ok
	                                           : err_in(err, "%s", text);
}
