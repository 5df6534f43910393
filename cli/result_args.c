/* A result directory in place of a model: the search arguments it stands for. */
#include <cjson/cJSON.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/search_args.h"
#include "ir/base/jsonin.h"

#define RESULT_LIMIT ((size_t)256 << 20)

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Paths in a result are as they were given: from where the search ran, which
 * is usually where the result lies. */
static const char *
find_model(const char *path, const char *folder, struct arena *a)
{
	const char *beside;

	if (path[0] == '/' || access(path, R_OK) == 0)
		return arena_str(a, path);
	beside = arena_printf(a, "%s/../%s", folder, path);
	return access(beside, R_OK) == 0 ? beside : arena_str(a, path);
}

static bool
take_targets(struct search_args *args, const cJSON *list, struct err *err)
{
	struct arena *a = args->cli->run;
	uint32_t n = (uint32_t)cJSON_GetArraySize(list);
	const cJSON *item;

	if (args->targets.n)
		return true;
	args->targets.text = arena_new(a, const char *, n);
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return err_set(err, ERR_INPUT, "a target is no string");
		args->targets.text[args->targets.n++] =
		    arena_str(a, item->valuestring);
	}
	return true;
}

static bool
take_result(struct search_args *args, const cJSON *doc, struct err *err)
{
	const cJSON *model, *plan, *targets;
	const char *path;

	if (!jsonin_object(doc, "model", &model, err)
	    || !jsonin_str(model, "path", &path, err)
	    || !jsonin_object(doc, "plan", &plan, err)
	    || !jsonin_array(plan, "targets", &targets, err)
	    || !take_targets(args, targets, err))
		return false;
	args->model = find_model(path, args->model, args->cli->run);
	return true;
}

bool
search_args_resolve(struct search_args *args, struct err *err)
{
	const char *result;
	struct cJSON *doc;
	bool ok;

	if (!args->model || !is_folder(args->model))
		return true;
	result = arena_printf(args->cli->run, "%s/result.json", args->model);
	doc = jsonin_open(result, RESULT_LIMIT, err);
	if (!doc)
		return false;
	ok = take_result(args, doc, err) || err_in(err, "%s", result);
	jsonin_close(doc);
	args->replay = result;
	output_keep(args->cli, result);
	output_keep(args->cli, args->model);
	return ok;
}
