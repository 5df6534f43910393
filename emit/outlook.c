#include "emit/outlook.h"

#include <string.h>

#include "ir/base/json.h"
#include "ir/base/map.h"

/* ---- assumptions ---- */

/* What keeping the plan costs there; null where it is not legal. */
static void
write_regret(struct json *j, const struct plan_end *e)
{
	json_cost(j, "regret_ns",
	    e->kept == COST_NEVER ? COST_NEVER : e->kept - e->best);
}

static void
write_end(struct json *j, const struct plan_end *e)
{
	json_inline_object(j);
	json_key_real(j, "value", e->value);
	json_cost(j, "kept_ns", e->kept);
	json_cost(j, "best_ns", e->best);
	write_regret(j, e);
	json_key_uint(j, "moved", e->nmoved);
	json_key_bool(j, "flips", e->flips);
	json_key(j, "breaks_at");
	if (e->flips)
		json_real(j, e->breaks_at);
	else
		json_null(j);
	json_close(j);
}

static cost_ns
regret_of(const struct plan_assumption *x)
{
	cost_ns most = 0;

	for (uint32_t e = 0; e < 2; e++) {
		if (x->end[e].kept == COST_NEVER)
			return COST_NEVER;
		if (x->end[e].kept - x->end[e].best > most)
			most = x->end[e].kept - x->end[e].best;
	}
	return most;
}

static void
write_sensitivity(struct json *j, const struct sensitivity *s)
{
	json_key_uint(j, "sensitivity_left", s ? s->nleft : 0);
	json_key(j, "sensitivity");
	if (!s) {
		json_null(j);
		return;
	}
	json_array(j);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct plan_assumption *x = &s->item[i];

		json_object(j);
		json_key_str(j, "parameter", x->name);
		json_key_uint(j, "target", x->target);
		json_key_str(j, "unit", x->unit);
		json_key_real(j, "value", x->value);
		json_key_bool(j, "flips", x->end[0].flips || x->end[1].flips);
		json_cost(j, "regret_ns", regret_of(x));
		for (uint32_t e = 0; e < 2; e++) {
			json_key(j, e ? "high" : "low");
			write_end(j, &x->end[e]);
		}
		json_close(j);
	}
	json_close(j);
}

/* ---- what is left on the table ---- */

/* The node whose operator is the same as that of node i, or i. */
static uint32_t
first_alike(const struct emit_work *w, const struct opportunity *o, uint32_t i,
    struct map *seen)
{
	const char *op = w->graph->node[o->node[i]].op_type;

	return map_add(seen, op, strlen(op), i);
}

static void
write_operators(
    struct json *j, const struct emit_work *w, const struct opportunity *o)
{
	struct arena scratch;
	struct map seen;
	uint32_t *n;

	arena_init(&scratch);
	map_init(&seen, &scratch);
	n = arena_new(&scratch, uint32_t, o->nnodes);
	for (uint32_t i = 0; i < o->nnodes; i++)
		n[first_alike(w, o, i, &seen)]++;
	json_key(j, "operators");
	json_array(j);
	for (uint32_t i = 0; i < o->nnodes; i++) {
		if (n[i] == 0)
			continue;
		json_inline_object(j);
		json_key_str(j, "op_type", w->graph->node[o->node[i]].op_type);
		json_key_uint(j, "nodes", n[i]);
		json_close(j);
	}
	json_close(j);
	arena_release(&scratch);
}

static void
write_conditions(struct json *j, const struct opportunity *o)
{
	const struct refusal *r = o->refusal;

	json_key(j, "failed");
	json_array(j);
	for (uint32_t i = 0; r && i < r->nreasons; i++) {
		if (!refusal_names(r, i))
			continue;
		json_inline_object(j);
		json_key_str(j, "condition", r->reason[i].condition);
		json_key_str(j, "actual", r->reason[i].actual);
		json_key_str(j, "required", r->reason[i].required);
		json_close(j);
	}
	json_close(j);
}

/* What `marq explain --what-if` is asked for the same. */
static void
write_what_if(
    struct json *j, const struct emit_work *w, const struct opportunity *o)
{
	const struct refusal *r = o->refusal;
	const char *target = w->plan->mix->target[o->target].kind->name;

	json_key(j, "what_if");
	json_inline_array(j);
	for (uint32_t i = 0; r && i < r->nreasons; i++)
		if (refusal_names(r, i))
			json_strf(j, "%s:%s", target, r->reason[i].condition);
	if (o->obstacle == OBSTACLE_COST) {
		json_strf(j, "free:host..%s", target);
		json_strf(j, "free:%s..host", target);
	}
	json_close(j);
}

static void
write_saving(struct json *j, const struct opportunity *o)
{
	const bool known = o->saving != SAVING_UNKNOWN;

	json_cost(j, "now_ns", o->now);
	json_cost(j, "moves_ns", o->moves);
	json_key_str(j, "saving", saving_text(o->saving));
	json_cost(j, "saves_ns", known ? o->saves : COST_NEVER);
	json_cost(j, "at_most_ns", known ? o->at_most : COST_NEVER);
	json_key_uint(j, "taken", o->ntaken);
	if (!known)
		json_key_str(j, "why_not", o->why_not);
}

static void
write_opportunity(
    struct json *j, const struct emit_work *w, const struct opportunity *o)
{
	json_object(j);
	json_key_uint(j, "target", o->target);
	json_key_str(j, "cause", obstacle_text(o->obstacle));
	write_conditions(j, o);
	write_what_if(j, w, o);
	write_operators(j, w, o);
	write_saving(j, o);
	json_key(j, "nodes");
	json_inline_array(j);
	for (uint32_t i = 0; i < o->nnodes; i++)
		json_uint(j, o->node[i]);
	json_close(j);
	json_close(j);
}

static void
write_opportunities(struct json *j, const struct emit_work *w)
{
	const struct opportunities *list = w->in->opportunities;

	json_key(j, "opportunities");
	if (!list) {
		json_null(j);
		return;
	}
	json_array(j);
	for (uint32_t i = 0; i < list->n; i++)
		write_opportunity(j, w, &list->item[i]);
	json_close(j);
}

void
outlook_json(struct json *j, const struct emit_work *w)
{
	write_sensitivity(j, w->in->sensitivity);
	write_opportunities(j, w);
}
