/* marq model check: every fault of a model, not just the first. */
#include <stdio.h>

#include "cli/model.h"
#include "cli/search_args.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"
#include "ir/infer.h"
#include "ir/lenient.h"
#include "targets/host/host.h"

struct model_findings {
	const char *path;
	struct notes faults, warnings;
};

/* Everything the importer finds; and if it finds nothing, everything
 * inference finds. ERR_IO and such are not faults of the model. */
static bool
find_faults(struct model_findings *f, const struct search_args *args,
    struct arena *a, struct err *err)
{
	struct infer_options infer_all = {
	    .eval = host_eval, .keep_going = true};
	struct onnx_options collect = args->onnx;
	struct model m;
	bool ok;

	collect.collect = true;
	ok = onnx_read(&m, args->model, &collect, a, err);
	if (ok) {
		infer_all.notes = &m.notes;
		infer_all.faults = &m.faults;
		ok = infer(m.graph, &infer_all, err)
		    && (!args->strict || lenient_refuse(&m.notes, err));
		model_close(&m);
	}
	f->faults = m.faults;
	f->warnings = m.notes;
	if (ok)
		return true;
	if (err->kind != ERR_INPUT && err->kind != ERR_UNSUPPORTED)
		return false;
	if (f->faults.n == 0)
		notes_add(&f->faults, "%s", err->text);
	err_clear(err);
	return true;
}

static void
print_text(const struct model_findings *f)
{
	for (uint32_t i = 0; i < f->faults.n; i++)
		printf("%s: error: %s\n", f->path, f->faults.text[i]);
	for (uint32_t i = 0; i < f->warnings.n; i++)
		printf("%s: warning: %s\n", f->path, f->warnings.text[i]);
	if (f->faults.n)
		printf("%s: %u error%s, %u warning%s\n", f->path, f->faults.n,
		    plural(f->faults.n), f->warnings.n, plural(f->warnings.n));
	else
		printf("%s: valid, %u warning%s\n", f->path, f->warnings.n,
		    plural(f->warnings.n));
}

static void
list_json(struct json *j, const char *key, const struct notes *notes)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < notes->n; i++)
		json_str(j, notes->text[i]);
	json_close(j);
}

static void
print_json(const struct model_findings *f)
{
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.check/1");
	json_key_str(&j, "model", f->path);
	json_key_bool(&j, "valid", f->faults.n == 0);
	json_key_int(&j, "exit", f->faults.n ? err_exit(ERR_INPUT) : 0);
	list_json(&j, "errors", &f->faults);
	list_json(&j, "warnings", &f->warnings);
	json_close(&j);
}

static const struct command_line line = {
    .options = model_options,
    .operands = SEARCH_OPERAND(0),
    .args_doc = "MODEL.onnx",
    .doc = "Find everything that is wrong with a model. Exit status 0: "
           "valid; 3: not.",
};

bool
model_check(struct cli *c, int argc, char **argv, struct err *err)
{
	struct search_args args;
	struct model_findings f;

	search_args_init(&args, c);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	f.path = args.model;
	if (!find_faults(&f, &args, c->run, err))
		return false;
	if (c->format == OUT_JSON)
		print_json(&f);
	else
		print_text(&f);
	if (f.faults.n == 0)
		cli_next(c, "marq search %s", f.path);
	if (f.faults.n)
		c->status = err_exit(ERR_INPUT);
	return true;
}
