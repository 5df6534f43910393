#include "cli/batch_summary.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "cli/batch_state.h"
#include "cli/diff.h"
#include "cli/units.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"

#define MAX_SUMMARY ((size_t)64 << 20)

struct summary {
	const struct manifest *m;
	const struct unit_status *status;
	uint64_t *before_ns; /* [nunits] 0: not in the last run */
	bool *wins; /* [nunits] cheapest mix of its model and shape */
	bool *regressed, *unproven; /* [nunits] against the last run */
};

static bool
succeeded(const struct unit_status *s)
{
	return s->ended && s->exit == 0 && s->cost_ns > 0;
}

/* The verdict of `marq compare` over what the last run wrote and what is there
 * now. A plan that is worse and was not proven (the budget ran out) is no
 * regression of a proven one. */
static void
judge_unit(struct summary *s, uint32_t i, struct arena *a)
{
	const struct unit *u = &s->m->unit[i];
	struct err ignored = {.kind = ERR_NONE};
	struct result_view x = {.path = NULL}, y = {.path = NULL};
	struct diff d;

	if (!succeeded(&s->status[i])
	    || !result_view_read(
	        &x, batch_before_path(s->m, u, a), a, &ignored))
		return;
	if (result_view_read(&y, arena_printf(a, "%s/%s", s->m->out, u->name),
	        a, &ignored)) {
		diff_make(&d, &x, &y, DIFF_THRESHOLD, a);
		s->unproven[i] =
		    d.verdict == DIFF_SLOWER && x.proven && !y.proven;
		s->regressed[i] = d.verdict == DIFF_SLOWER && !s->unproven[i];
		result_view_close(&y);
	}
	result_view_close(&x);
}

static bool
has_regressed(const struct summary *s, uint32_t i)
{
	return s->regressed[i];
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

/* Nothing wins by an estimate, nor against one that looks cheaper. */
static void
find_winners(struct summary *s)
{
	for (uint32_t i = 0; i < s->m->nunits; i++) {
		s->wins[i] = succeeded(&s->status[i]) && s->status[i].proven
		    && !s->status[i].estimated;
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
		uint64_t cost;

		if (!jsonin_is_u62(
		        cJSON_GetObjectItemCaseSensitive(item, "cost_ns"),
		        &cost))
			continue;

		for (uint32_t i = 0; i < s->m->nunits; i++)
			if (cJSON_IsString(name)
			    && strcmp(name->valuestring, s->m->unit[i].name)
			        == 0)
				s->before_ns[i] = cost;
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
		json_key_bool(j, "estimated", u->estimated);
		json_key_uint(j, "regions", u->regions);
		json_key_str(j, "best_baseline", u->baseline);
		json_key_uint(j, "best_baseline_ns", u->baseline_ns);
		json_key_bool(j, "best_baseline_bound", u->baseline_bound);
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
	fprintf(f, "| %s | %s%s%s | ", s->m->unit[i].name,
	    u->estimated ? "estimated " : "",
	    format_duration(u->cost_ns, cost, sizeof cost),
	    s->wins[i] ? " **wins**" : "");
	if (u->baseline_ns && !(u->baseline_bound && u->estimated))
		fprintf(f, "%s%.3f of %s", u->baseline_bound ? "at most " : "",
		    (double)u->cost_ns / (double)u->baseline_ns, u->baseline);
	fprintf(f, " | %s | ", u->proven ? "proven" : "not proven");
	if (s->before_ns[i])
		fprintf(f, "%+.1f %% since the last run%s",
		    100.0 * ((double)u->cost_ns / (double)s->before_ns[i] - 1),
		    has_regressed(s, i)  ? ": **regressed**"
		        : s->unproven[i] ? ": not proven, and it was"
		                         : "");
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
	    .regressed = arena_new(a, bool, m->nunits),
	    .unproven = arena_new(a, bool, m->nunits),
	};

	read_before(&s, before);
	find_winners(&s);
	*regressed = 0;
	for (uint32_t i = 0; i < m->nunits; i++) {
		judge_unit(&s, i, a);
		*regressed += has_regressed(&s, i);
	}
	return file_write(arena_printf(a, "%s/summary.md", m->out),
	           write_markdown, &s, err)
	    && file_write(arena_printf(a, "%s/summary.json", m->out),
	        write_json, &s, err);
}
