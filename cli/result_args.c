/* A result directory in place of a model: the search arguments it stands for. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/search_args.h"
#include "costmodel/machine.h"
#include "ir/base/jsonin.h"
#include "targets/by_hand.h"

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

/* A result is a file from anywhere: what it names is neither opened nor started for
 * that. */
static bool
may_open(const char *text, struct arena *a, struct err *err)
{
	return !target_by_hand(text, a)
	    || err_set(err, ERR_USAGE,
	        "it was made with '%s', which is opened only when you name it: "
	        "give all its targets with -t",
	        text);
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
		if (!may_open(item->valuestring, a, err))
			return false;
		args->targets.text[args->targets.n++] =
		    arena_str(a, item->valuestring);
	}
	return true;
}

/* "float32[1,3,224,224]": what is open stays open. */
static bool
parse_shape(struct bind_shape *s, const char *type, struct arena *a)
{
	const char *at = strchr(type, '[');
	char *end;

	if (!at)
		return false;
	s->dtype = dtype_find(arena_strn(a, type, (size_t)(at - type)));
	for (at++; *at >= '0' && *at <= '9' && s->rank < RANK_MAX;
	     at = end + (*end == ',')) {
		int64_t *dim = arena_new(a, int64_t, s->rank + 1);

		if (s->rank)
			memcpy(dim, s->dim, s->rank * sizeof *dim);
		dim[s->rank++] = strtoll(at, &end, 10);
		s->dim = dim;
	}
	return *at == ']';
}

/* Shapes of values as a result lists them, behind those in `o`. */
static void
add_shapes(struct onnx_options *o, const cJSON *values, struct arena *a)
{
	uint32_t n = o->nshapes + (uint32_t)cJSON_GetArraySize(values);
	struct bind_shape *shape = arena_new(a, struct bind_shape, n + 1);
	struct err none = {.kind = ERR_NONE};
	const char *name, *type;
	const cJSON *item;

	if (o->nshapes)
		memcpy(shape, o->shape, o->nshapes * sizeof *shape);
	o->shape = shape;
	cJSON_ArrayForEach(item, values)
	{
		struct bind_shape *s = &shape[o->nshapes];

		if (!jsonin_str(item, "name", &name, &none)
		    || !jsonin_str(item, "type", &type, &none))
			return; /* of another version: shapes stay open */
		*s = (struct bind_shape){
		    .value = arena_str(a, name), .weak = true};
		o->nshapes += parse_shape(s, type, a);
	}
}

/* A result with opaque nodes is one of --opaque, with what was said of them. */
static void
take_opaque(struct search_args *args, const cJSON *list)
{
	struct arena *a = args->cli->run;
	const bool told_now = args->opaque_prices.n > 0;
	struct err none = {.kind = ERR_NONE};
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		const cJSON *outputs =
		    cJSON_GetObjectItemCaseSensitive(item, "outputs");
		const cJSON *told =
		    cJSON_GetObjectItemCaseSensitive(item, "told");
		const char *label;
		uint64_t ns;

		args->onnx.opaque = true;
		add_shapes(&args->onnx, outputs, a);
		if (!told_now && cJSON_IsTrue(told)
		    && jsonin_u62(item, "cost_ns", &ns, &none)
		    && jsonin_str(item, "label", &label, &none))
			text_list_add(&args->opaque_prices,
			    arena_printf(a, "%s=%" PRIu64 "ns", label, ns), a);
	}
}

/* Scales are worked out again, of what they came from. */
static void
take_calibration(struct search_args *args, const cJSON *int8)
{
	struct err none = {.kind = ERR_NONE};
	const char *data, *ranges;

	if (args->precision.calibrate || !cJSON_IsObject(int8)
	    || !jsonin_str(int8, "data", &data, &none)
	    || !jsonin_str(int8, "ranges", &ranges, &none))
		return;
	args->precision.calibrate = arena_str(args->cli->run, data);
	args->precision.ranges = arena_str(args->cli->run, ranges);
}

/* Candidates are looked for as they were; what is asked for now counts, too. */
static void
take_asked(struct search_args *args, const cJSON *doc)
{
	const char *nan =
	    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(doc, "nan"));
	struct err none = {.kind = ERR_NONE};
	uint32_t threads;

	if (args->threads == 0 && jsonin_u32(doc, "threads", &threads, &none)
	    && threads <= CORES_MAX)
		args->threads = threads;
	if (nan && strcmp(nan, "ignore") == 0)
		args->ignore_nan = true;
	if (cJSON_IsTrue(
	        cJSON_GetObjectItemCaseSensitive(doc, "exact_convolutions")))
		args->exact_convolutions = true;
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(doc, "exact_halves")))
		args->exact_halves = true;
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
	take_asked(args, doc);
	take_calibration(args, cJSON_GetObjectItemCaseSensitive(doc, "int8"));
	add_shapes(&args->of_result,
	    cJSON_GetObjectItemCaseSensitive(model, "inputs"), args->cli->run);
	take_opaque(args, cJSON_GetObjectItemCaseSensitive(doc, "opaque"));
	args->model = find_model(path, args->model, args->cli->run);
	return true;
}

bool
search_args_is_result(const struct search_args *args)
{
	return args->model && is_folder(args->model);
}

static bool
resolve(struct search_args *args, struct err *err)
{
	const char *result =
	    arena_printf(args->cli->run, "%s/result.json", args->model);
	struct cJSON *doc = jsonin_open(result, LIMIT_READ_RESULT, err);
	bool ok;

	if (!doc)
		return false;
	ok = take_result(args, doc, err) || err_in(err, "%s", result);
	jsonin_close(doc);
	args->replay = result;
	output_keep(args->cli, result);
	output_keep(args->cli, args->model);
	return ok;
}

bool
search_args_resolve(struct search_args *args, struct err *err)
{
	return !search_args_is_result(args) || resolve(args, err);
}
