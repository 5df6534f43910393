#include "cli/batch_summary.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"

/* TUNING: sessions drift by 2-12 % (measured prices), but stored prices do not
 * move at all; 3 % is the default of `marq compare` too. */
#define REGRESSION_PERCENT 3
#define MAX_SUMMARY ((size_t)64 << 20)

struct summary {
	const struct manifest *m;
	const struct unit_status *status;
	uint64_t *before_ns; /* [nunits] 0: not in the last run */
	bool *wins; /* [nunits] cheapest mix of its model and shape */
};

static bool
succeeded(const struct unit_status *s)
{
	return s->ended && s->exit == 0 && s->cost_ns > 0;
}

static bool
has_regressed(const struct summary *s, uint32_t i)
{
	uint64_t before = s->before_ns[i];

	return before && succeeded(&s->status[i])
	    && (double)s->status[i].cost_ns
	    > (double)before * (1 + REGRESSION_PERCENT / 100.0);
}

/* Same model and shape, whatever the mix? Unit names are model@mix[@shape]. */
static bool
compete(const struct unit *a, const struct unit *b)
{
	const char *x = a->name + strlen(a->model_name) + 1;
	const char *y = b->name + strlen(b->model_name) + 1;

	return strcmp(a->model_name, b->model_name) == 0
	    && strcmp(x + strlen(a->mix_name), y + strlen(b->mix_name)) == 0;
}

static void
find_winners(struct summary *s)
{
	for (uint32_t i = 0; i < s->m->nunits; i++) {
		s->wins[i] = succeeded(&s->status[i]);
		for (uint32_t k = 0; k < s->m->nunits && s->wins[i]; k++)
			if (succeeded(&s->status[k])
			    && compete(&s->m->unit[i], &s->m->unit[k])
			    && (s->status[k].cost_ns < s->status[i].cost_ns
			        || (s->status[k].cost_ns == s->status[i].cost_ns
			            && k < i)))
				s->wins[i] = false;
	}
}

static void
read_before(struct summary *s, const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_open(path, MAX_SUMMARY, &err);
	const cJSON *item;

	if (!doc)
		return;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(doc, "units"))
	{
		const cJSON *name =
		    cJSON_GetObjectItemCaseSensitive(item, "unit");
		const cJSON *cost =
		    cJSON_GetObjectItemCaseSensitive(item, "cost_ns");

		for (uint32_t i = 0; i < s->m->nunits; i++)
			if (cJSON_IsString(name) && cJSON_IsNumber(cost)
			    && cost->valuedouble > 0
			    && strcmp(name->valuestring, s->m->unit[i].name)
			        == 0)
				s->before_ns[i] = (uint64_t)cost->valuedouble;
	}
	jsonin_close(doc);
}

static void
write_unit(struct json *j, const struct summary *s, uint32_t i)
{
	const struct unit_status *u = &s->status[i];

	json_object(j);
	json_key_str(j, "unit", s->m->unit[i].name);
	json_key_str(j, "model", s->m->unit[i].model_name);
	json_key_str(j, "mix", s->m->unit[i].mix_name);
	json_key_int(j, "exit", u->exit);
	if (succeeded(u)) {
		json_key_uint(j, "cost_ns", u->cost_ns);
		json_key_uint(j, "lower_bound_ns", u->lower_bound_ns);
		json_key_bool(j, "proven", u->proven);
		json_key_uint(j, "regions", u->regions);
		json_key_str(j, "best_baseline", u->baseline);
		json_key_uint(j, "best_baseline_ns", u->baseline_ns);
		json_key_bool(j, "wins", s->wins[i]);
	} else {
		json_key_str(j, "error", u->error);
	}
	if (s->before_ns[i])
		json_key_uint(j, "before_ns", s->before_ns[i]);
	json_key_bool(j, "regressed", has_regressed(s, i));
	json_close(j);
}

static bool
write_json(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;
	struct json j;

	(void)err;
	json_init(&j, f, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.batch/1");
	json_key(&j, "units");
	json_array(&j);
	for (uint32_t i = 0; i < s->m->nunits; i++)
		write_unit(&j, s, i);
	json_close(&j);
	json_close(&j);
	return true;
}

static void
write_row(FILE *f, const struct summary *s, uint32_t i)
{
	const struct unit_status *u = &s->status[i];
	char cost[32];

	if (!u->ended) {
		fprintf(f, "| %s | not run yet | | | |\n", s->m->unit[i].name);
		return;
	}
	if (!succeeded(u)) {
		fprintf(f, "| %s | failed (exit %d) | | | %s |\n",
		    s->m->unit[i].name, u->exit, u->error);
		return;
	}
	fprintf(f, "| %s | %s%s | ", s->m->unit[i].name,
	    format_duration(u->cost_ns, cost, sizeof cost),
	    s->wins[i] ? " **wins**" : "");
	if (u->baseline_ns)
		fprintf(f, "%.3f of %s",
		    (double)u->cost_ns / (double)u->baseline_ns, u->baseline);
	fprintf(f, " | %s | ", u->proven ? "proven" : "not proven");
	if (s->before_ns[i])
		fprintf(f, "%+.1f %% since the last run%s",
		    100.0 * ((double)u->cost_ns / (double)s->before_ns[i] - 1),
		    has_regressed(s, i) ? ": **regressed**" : "");
	fputs(" |\n", f);
}

static bool
write_markdown(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;

	(void)err;
	fputs(
	    "# Batch summary\n\n"
	    "| unit | predicted latency | against the best baseline | optimal "
	    "| notes |\n|---|---|---|---|---|\n",
	    f);
	for (uint32_t i = 0; i < s->m->nunits; i++)
		write_row(f, s, i);
	return true;
}

bool
batch_summary_write(const struct manifest *m, const struct unit_status *status,
    const char *before, uint32_t *regressed, struct arena *a, struct err *err)
{
	struct summary s = {
	    .m = m,
	    .status = status,
	    .before_ns = arena_new(a, uint64_t, m->nunits),
	    .wins = arena_new(a, bool, m->nunits),
	};

	read_before(&s, before);
	find_winners(&s);
	*regressed = 0;
	for (uint32_t i = 0; i < m->nunits; i++)
		*regressed += has_regressed(&s, i);
	return file_write(arena_printf(a, "%s/summary.md", m->out),
	           write_markdown, &s, err)
	    && file_write(arena_printf(a, "%s/summary.json", m->out),
	        write_json, &s, err);
}
