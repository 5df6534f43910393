#include "search/forward_step.h"

#include <assert.h>

#include "search/mask.h"

void
stepper_init(struct stepper *s, const struct problem *p, struct arena *a)
{
	*s = (struct stepper){.p = p, .splits = p->has_marks};
	convert_init(&s->memo, p, a);
	for (uint32_t t = 0; t < p->ntargets; t++)
		s->splits |= p->target[t].max_run_nodes != NO_LIMIT
		    || p->target[t].fed_only;
}

bool
candidate_is_ready(const struct problem *p, const struct forward_state *x,
    const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (bitset_has(x->covered, c->node[i]))
			return false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!value_is_there(p, x, c->input[i].value))
			return false;
	return true;
}

bool
run_can_take(const struct problem *p, const struct forward_state *x,
    const struct problem_candidate *c)
{
	const struct problem_target *t = &p->target[c->target];

	if (x->last != c->target
	    || (t->max_run_nodes != NO_LIMIT
	        && x->run_nodes + c->nnodes > t->max_run_nodes))
		return false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (p->value[c->input[i].value].mark
		    && live_forward_find(x, c->input[i].value)->fresh)
			return false;
	return true;
}

/* The same need in fewer words, so that equal states have equal keys: without what
 * it is made in; the way into a local format in its place, where there is one only;
 * and no local format that can be entered from what is there anyway. */
static uint32_t
shorten(const struct problem *p, const struct live_forward *l, uint32_t need)
{
	uint32_t class = p->value[l->value].class, have = l->have & ~p->local;
	uint32_t local = need & p->local, kept = 0;

	need &= ~(have | p->local);
	for (uint32_t rest = local, f; mask_next(&rest, &f);) {
		uint32_t enter = transfer_formats(p, class, f);

		if (!(enter & (enter - 1)))
			need |= enter & ~have;
	}
	for (uint32_t f; mask_next(&local, &f);)
		if (!(transfer_formats(p, class, f) & (have | need)))
			kept |= UINT32_C(1) << f;
	return need | kept;
}

/* Ask for a value in more formats and pay what that adds to its tree. */
static bool
demand(struct stepper *s, struct forward_state *x, struct live_forward *l,
    uint32_t need)
{
	uint32_t class = s->p->value[l->value].class;
	cost_ns before = convert_cost(&s->memo, class, l->have, l->need);
	cost_ns after = convert_cost(&s->memo, class, l->have, l->need | need);

	if (after == COST_NEVER)
		return false;
	assert(after >= before);
	l->need = shorten(s->p, l, l->need | need);
	x->cost = cost_add(x->cost, after - before);
	return true;
}

/* A candidate of the current run reads the value in this format. A local one is
 * brought in once for the run. */
static bool
read_in(struct stepper *s, struct forward_state *x, struct live_forward *l,
    uint32_t format)
{
	uint32_t bit = UINT32_C(1) << format;

	if (l->inside & bit)
		return true;
	if (s->p->local & bit) {
		l->inside |= bit;
		x->cost = cost_add(x->cost,
		    transfer_cost(s->p, s->p->value[l->value].class, format));
	}
	return demand(s, x, l, bit);
}

/* Nothing is within the current run any more. */
static void
end_run(struct forward_state *x)
{
	for (uint32_t i = 0; i < x->nlive; i++) {
		x->live[i].fresh = 0;
		x->live[i].inside = 0;
	}
	x->last = NO_LIMIT;
	x->run_nodes = 0;
}

/* Put the candidate into a run: the current one or a new one. */
static bool
enter(const struct problem *p, struct forward_state *x,
    const struct problem_candidate *c, bool extend)
{
	const struct problem_target *t = &p->target[c->target];

	if (!extend)
		end_run(x);
	if (!p->tracked[c->target])
		return true;
	x->last = c->target;
	if (t->max_run_nodes != NO_LIMIT)
		x->run_nodes += c->nnodes;
	for (uint32_t i = 0; t->fed_only && i < c->ninputs; i++)
		if (p->value[c->input[i].value].producer != NO_NODE
		    && !live_forward_find(x, c->input[i].value)->fresh)
			return false;
	if (extend)
		return true;
	x->cost = cost_add(x->cost, t->launch);
	if (t->max_runs == NO_LIMIT)
		return true;
	return ++x->runs[c->target] <= t->max_runs;
}

/* Take what the candidate uses up of its target's capacity. */
static bool
fill(const struct problem *p, struct forward_state *x,
    const struct problem_candidate *c)
{
	uint32_t owner = target_owner(p, c->target);
	uint64_t capacity = p->target[owner].capacity;

	if (capacity == UINT64_MAX)
		return true;
	if (c->resource > capacity - x->used[owner])
		return false;
	x->used[owner] += c->resource;
	return true;
}

static bool
read_inputs(struct stepper *s, struct forward_state *x,
    const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!read_in(s, x, live_forward_find(x, c->input[i].value),
		        c->input[i].format))
			return false;
	return true;
}

static bool
write_outputs(struct stepper *s, struct forward_state *x,
    const struct problem_candidate *c)
{
	const struct problem_target *t = &s->p->target[c->target];
	bool tells =
	    s->p->tracked[c->target] && (t->fed_only || s->p->has_marks);

	for (uint32_t i = 0; i < c->noutputs; i++) {
		uint32_t v = c->output[i].value;
		uint32_t made = UINT32_C(1) << c->output[i].format;
		struct live_forward *l = live_forward_add(x,
		    &(struct live_forward){
		        v, tells, made, 0, made & s->p->local});

		if (!demand(s, x, l, s->p->value[v].required))
			return false;
	}
	return true;
}

static bool
is_needed(
    const struct problem *p, const struct forward_state *x, uint32_t value)
{
	for (uint32_t i = p->user_start[value]; i < p->user_start[value + 1];
	     i++)
		if (!bitset_has(x->covered, p->user[i]))
			return true;
	return false;
}

static void
forget_dead(const struct problem *p, struct forward_state *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nlive; i++)
		if (is_needed(p, x, x->live[i].value))
			x->live[n++] = x->live[i];
	x->nlive = n;
}

bool
stepper_start(struct stepper *s, struct forward_state *x)
{
	for (uint32_t v = 0; v < s->p->nvalues; v++) {
		const struct problem_value *value = &s->p->value[v];
		struct live_forward *l;

		if (value->producer != NO_NODE)
			continue;
		l = live_forward_add(
		    x, &(struct live_forward){v, 0, value->initial, 0, 0});
		if (!demand(s, x, l, value->required))
			return false;
	}
	forget_dead(s->p, x);
	return true;
}

bool
stepper_take(struct stepper *s, struct forward_state *to,
    const struct forward_state *from, const struct problem_candidate *c,
    bool extend)
{
	forward_state_copy(to, from);
	if (!fill(s->p, to, c) || !enter(s->p, to, c, extend))
		return false;
	to->cost = cost_add(to->cost, c->cost);
	if (!read_inputs(s, to, c))
		return false;
	for (uint32_t i = 0; i < c->nnodes; i++)
		bitset_add(to->covered, c->node[i]);
	if (!write_outputs(s, to, c))
		return false;
	forget_dead(s->p, to);
	return to->cost != COST_NEVER;
}
