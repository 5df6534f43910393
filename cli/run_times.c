#include "cli/run_times.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "cli/members.h"
#include "ir/base/jsonin.h"

/* TUNING: a run of 100,000 composites is below */
#define SCHEMA "marq.run/1"

struct times_reader {
	const cJSON *const *composite; /* of the result */
	uint32_t n;
	const cJSON *targets; /* of its plan */
	double *ns;
	struct run_times *out;
};

static bool
is_same(const char *what, const char *ran, const char *planned, uint32_t id,
    struct err *err)
{
	return strcmp(ran, planned) == 0
	    || err_set(err, ERR_INPUT,
	        "composite %u: %s is '%s', and '%s' in the result: a run of "
	        "another one",
	        id, what, ran, planned);
}

static bool
read_composite(
    struct times_reader *r, const cJSON *item, uint32_t id, struct err *err)
{
	const cJSON *x = r->composite[id];
	const char *planned = text_of(
	    cJSON_GetArrayItem(r->targets, (int)exact_of(x, "target")), "text");
	const char *target, *implementation;
	int64_t ns;
	bool simulated;

	if (!jsonin_str(item, "target", &target, err)
	    || !jsonin_str(item, "implementation", &implementation, err)
	    || !jsonin_i64(item, "measured_ns", &ns, err)
	    || !jsonin_bool(item, "simulated", &simulated, err)
	    || !is_same("its target", target, planned, id, err)
	    || !is_same("its implementation", implementation,
	        text_of(x, "implementation"), id, err))
		return false;
	if (ns < 0)
		return err_set(
		    err, ERR_INPUT, "composite %u: it took less than 0 ns", id);
	r->ns[id] = simulated ? number_of(x, "cost_ns") : (double)ns;
	r->out->nsimulated += simulated;
	return true;
}

static bool
read_composites(struct times_reader *r, const cJSON *doc, struct err *err)
{
	const cJSON *list, *item;
	uint32_t id = 0;

	if (!jsonin_array(doc, "composites", &list, err))
		return false;
	if ((uint32_t)cJSON_GetArraySize(list) != r->n)
		return err_set(err, ERR_INPUT,
		    "%d composites, the result has %u: a run of another one",
		    cJSON_GetArraySize(list), r->n);
	cJSON_ArrayForEach(
	    item, list) if (!read_composite(r, item, id++, err)) return false;
	return true;
}

static bool
read_run(struct times_reader *r, const cJSON *doc, struct err *err)
{
	const char *schema;
	int64_t measured, conversions;
	double sum = 0;

	if (!jsonin_str(doc, "schema", &schema, err))
		return false;
	if (strcmp(schema, SCHEMA) != 0)
		return err_set(err, ERR_INPUT,
		    "schema '%s' is not " SCHEMA
		    ", what `marq run --format=json` prints",
		    schema);
	if (!jsonin_i64(doc, "measured_ns", &measured, err)
	    || !jsonin_i64(doc, "conversions_measured_ns", &conversions, err)
	    || !read_composites(r, doc, err))
		return false;
	for (uint32_t i = 0; i < r->n; i++)
		sum += r->ns[i];
	r->out->composite = r->ns;
	r->out->conversions = conversions > 0 ? (double)conversions : 0;
	sum += r->out->conversions;
	r->out->total = r->out->nsimulated || (double)measured < sum
	    ? sum
	    : (double)measured;
	return true;
}

bool
run_times_read(struct run_times *out, const char *path,
    const cJSON *const *composite, uint32_t n, const cJSON *targets,
    struct arena *a, struct err *err)
{
	struct times_reader r = {.composite = composite,
	    .n = n,
	    .targets = targets,
	    .ns = arena_new(a, double, n),
	    .out = out};
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_TIMES, err);
	bool ok;

	*out = (struct run_times){.nsimulated = 0};
	if (!doc)
		return false;
	ok = read_run(&r, doc, err) || err_in(err, "%s", path);
	jsonin_close(doc);
	return ok;
}
