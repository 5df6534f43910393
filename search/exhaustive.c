/* The oracle: every sequence of candidates that covers the graph, with every
 * way to split it into runs. Obvious on purpose, and exponential. */
#include <string.h>

#include "search/solve.h"

struct brute {
	const struct problem *p;
	uint32_t *chosen, *best; /* [nnodes] candidates in order */
	bool *fresh, *best_fresh; /* [nnodes] starts a run */
	uint32_t *step_of; /* [nnodes] UINT32_MAX: not covered */
	uint32_t n, nbest;
	cost_ns cost;
	uint64_t tried;
};

/* Cheapest way from the formats in `have` to all of `need`: Dijkstra without a
 * queue over sets of formats, which only grow. Local formats are sources only. */
static cost_ns
formats_cost(
    const struct problem *p, uint32_t class, uint32_t have, uint32_t need)
{
	cost_ns best = COST_NEVER;

	if ((need & ~have) == 0)
		return 0;
	for (uint32_t to = 0; to < p->nformats; to++) {
		cost_ns step = COST_NEVER, rest;

		if (have >> to & 1 || p->local >> to & 1)
			continue;
		for (uint32_t from = 0; from < p->nformats; from++)
			if (have >> from & 1
			    && conversion_cost(p, class, from, to) < step)
				step = conversion_cost(p, class, from, to);
		if (step == COST_NEVER)
			continue;
		rest = formats_cost(p, class, have | UINT32_C(1) << to, need);
		if (cost_add(step, rest) < best)
			best = cost_add(step, rest);
	}
	return best;
}

/* Runs that read the value in a local format, but for one that made it so. */
static uint32_t
count_entries(const struct brute *b, uint32_t value, uint32_t format)
{
	uint32_t n = 0, run = 0, last = 0, made_in = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct problem_candidate *c =
		    &b->p->candidate[b->chosen[i]];

		run += b->fresh[i];
		for (uint32_t k = 0; k < c->ninputs; k++)
			if (c->input[k].value == value
			    && c->input[k].format == format && run != made_in
			    && run != last) {
				last = run;
				n++;
			}
		for (uint32_t k = 0; k < c->noutputs; k++)
			if (c->output[k].value == value
			    && c->output[k].format == format)
				made_in = run;
	}
	return n;
}

/* The value from `have` to all of `need`, where the local formats from `format`
 * on are brought in from any one that is cheapest. */
static cost_ns
value_cost(const struct brute *b, uint32_t value, uint32_t have, uint32_t need,
    uint32_t format)
{
	const struct problem *p = b->p;
	uint32_t class = p->value[value].class, n = 0;
	cost_ns best = COST_NEVER, enter = COST_NEVER;

	while (format < p->nformats
	    && (!(p->local >> format & 1)
	        || (n = count_entries(b, value, format)) == 0))
		format++;
	if (format == p->nformats)
		return formats_cost(p, class, have, need);
	for (uint32_t f = 0; f < p->nformats; f++)
		if (!(p->local >> f & 1)
		    && conversion_cost(p, class, f, format) < enter)
			enter = conversion_cost(p, class, f, format);
	for (uint32_t f = 0; f < p->nformats && enter != COST_NEVER; f++) {
		cost_ns rest;

		if (p->local >> f & 1
		    || conversion_cost(p, class, f, format) != enter)
			continue;
		rest = value_cost(
		    b, value, have, need | UINT32_C(1) << f, format + 1);
		if (rest < best)
			best = rest;
	}
	return best == COST_NEVER ? best : cost_add(best, n * enter);
}

static cost_ns
sequence_cost(const struct brute *b)
{
	const struct problem *p = b->p;
	cost_ns cost = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct problem_candidate *c = &p->candidate[b->chosen[i]];

		cost = cost_add(cost, c->cost);
		if (b->fresh[i])
			cost = cost_add(cost, p->target[c->target].launch);
	}
	for (uint32_t v = 0; v < p->nvalues; v++) {
		uint32_t have = p->value[v].initial;
		uint32_t need = p->value[v].required;

		for (uint32_t i = 0; i < b->n; i++) {
			const struct problem_candidate *c =
			    &p->candidate[b->chosen[i]];

			for (uint32_t k = 0; k < c->ninputs; k++)
				if (c->input[k].value == v)
					need |=
					    (UINT32_C(1) << c->input[k].format)
					    & ~p->local;
			for (uint32_t k = 0; k < c->noutputs; k++)
				if (c->output[k].value == v)
					have |= UINT32_C(1)
					    << c->output[k].format;
		}
		cost = cost_add(cost, value_cost(b, v, have, need, 0));
	}
	return cost;
}

/* Are the limits kept by the steps so far? */
static bool
within_limits(const struct brute *b)
{
	const struct problem *p = b->p;

	for (uint32_t t = 0; t < p->ntargets; t++) {
		uint64_t used = 0;
		uint32_t runs = 0;

		for (uint32_t i = 0; i < b->n; i++) {
			const struct problem_candidate *c =
			    &p->candidate[b->chosen[i]];

			if (target_owner(p, c->target) == t)
				used += c->resource;
			if (c->target == t)
				runs += b->fresh[i];
		}
		if (used > p->target[t].capacity
		    || runs > p->target[t].max_runs)
			return false;
	}
	return true;
}

/* Does the last step fit into its run: size, marks, what it reads? */
static bool
fits_run(const struct brute *b)
{
	const struct problem *p = b->p;
	uint32_t last = b->n - 1, first = last, nodes = 0;
	const struct problem_candidate *c = &p->candidate[b->chosen[last]];

	while (!b->fresh[first])
		first--;
	for (uint32_t i = first; i <= last; i++) {
		if (p->candidate[b->chosen[i]].target != c->target)
			return false;
		nodes += p->candidate[b->chosen[i]].nnodes;
	}
	if (nodes > p->target[c->target].max_run_nodes)
		return false;
	for (uint32_t k = 0; k < c->ninputs; k++) {
		const struct problem_value *v = &p->value[c->input[k].value];

		if (v->producer == NO_NODE)
			continue;
		if (v->mark && b->step_of[v->producer] >= first)
			return false;
		if (p->target[c->target].fed_only
		    && b->step_of[v->producer] < first)
			return false;
	}
	return true;
}

static bool
can_follow(const struct brute *b, const struct problem_candidate *c)
{
	for (uint32_t k = 0; k < c->nnodes; k++)
		if (b->step_of[c->node[k]] != UINT32_MAX)
			return false;
	for (uint32_t k = 0; k < c->ninputs; k++) {
		uint32_t maker = b->p->value[c->input[k].value].producer;

		if (maker != NO_NODE && b->step_of[maker] == UINT32_MAX)
			return false;
	}
	return candidate_usable(c);
}

static void
place(const struct brute *b, const struct problem_candidate *c, uint32_t step)
{
	for (uint32_t k = 0; k < c->nnodes; k++)
		b->step_of[c->node[k]] = step;
}

static void
note(struct brute *b)
{
	cost_ns cost = sequence_cost(b);

	b->tried++;
	if (cost >= b->cost)
		return;
	b->cost = cost;
	b->nbest = b->n;
	memcpy(b->best, b->chosen, b->n * sizeof *b->best);
	memcpy(b->best_fresh, b->fresh, b->n * sizeof *b->best_fresh);
}

/* Recursion is as deep as the graph has nodes; tests keep it tiny. */
static void
extend(struct brute *b, uint32_t covered)
{
	if (covered == b->p->nnodes) {
		note(b);
		return;
	}
	for (uint32_t id = 0; id < b->p->ncandidates; id++) {
		const struct problem_candidate *c = &b->p->candidate[id];

		if (!can_follow(b, c))
			continue;
		for (int fresh = b->n == 0; fresh < 2; fresh++) {
			b->chosen[b->n] = id;
			b->fresh[b->n] = fresh;
			place(b, c, b->n++);
			if (within_limits(b) && fits_run(b))
				extend(b, covered + c->nnodes);
			b->n--;
			place(b, c, UINT32_MAX);
		}
	}
}

bool
search_exhaustive(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct brute b = {.p = p, .cost = COST_NEVER};

	(void)o;
	*out = (struct search_result){
	    .searcher = "brute", .proven = true, .why = ""};
	if (p->nnodes > 12)
		return err_set(err, ERR_UNSUPPORTED,
		    "brute force is for 12 nodes at most, not %u", p->nnodes);
	b.chosen = arena_new(a, uint32_t, p->nnodes);
	b.best = arena_new(a, uint32_t, p->nnodes);
	b.fresh = arena_new(a, bool, p->nnodes);
	b.best_fresh = arena_new(a, bool, p->nnodes);
	b.step_of = arena_new(a, uint32_t, p->nnodes);
	memset(b.step_of, 0xff, p->nnodes * sizeof *b.step_of);
	extend(&b, 0);
	out->lower_bound = b.cost;
	out->found = b.cost != COST_NEVER;
	if (out->found)
		cover_complete(
		    &out->cover, p, b.best, b.best_fresh, b.nbest, a);
	return true;
}
