#include "search/cover.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What is known of each value while the conversions are laid out. */
struct demand {
	uint32_t have, need; /* masks */
};

struct builder {
	const struct problem *p;
	struct cover *cover;
	struct cover_step *step;
	struct demand *demand; /* [nvalues] */
	uint32_t (*first)[FORMATS_MAX]; /* [nvalues] step that needs a format */
	uint32_t *run_of; /* [nnodes] */
};

/* Does a value the candidate reads come over a mark out of this run? */
static bool
crosses_mark(
    const struct builder *b, const struct problem_candidate *c, uint32_t run)
{
	for (uint32_t i = 0; i < c->ninputs; i++) {
		const struct problem_value *v = &b->p->value[c->input[i].value];

		if (v->mark && v->producer != NO_NODE
		    && b->run_of[v->producer] == run)
			return true;
	}
	return false;
}

static void
lay_runs(
    struct builder *b, const uint32_t *candidate, const bool *fresh, uint32_t n)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct problem_candidate *c =
		    &b->p->candidate[candidate[i]];

		if (i > 0
		    && ((fresh && fresh[i])
		        || c->target != b->p->candidate[candidate[i - 1]].target
		        || crosses_mark(b, c, run)))
			run++;
		b->step[i] = (struct cover_step){candidate[i], run};
		for (uint32_t k = 0; k < c->nnodes; k++)
			b->run_of[c->node[k]] = run;
		b->cover->cost = cost_add(b->cover->cost, c->cost);
		if (i == 0 || run != b->step[i - 1].run)
			b->cover->cost = cost_add(
			    b->cover->cost, b->p->target[c->target].launch);
	}
	b->cover->nruns = n ? run + 1 : 0;
}

static void
gather_demands(struct builder *b)
{
	for (uint32_t v = 0; v < b->p->nvalues; v++) {
		b->demand[v].have = b->p->value[v].initial;
		b->demand[v].need = b->p->value[v].required;
		for (uint32_t f = 0; f < FORMATS_MAX; f++)
			b->first[v][f] = b->cover->nsteps;
	}
	for (uint32_t i = b->cover->nsteps; i-- > 0;) {
		const struct problem_candidate *c =
		    &b->p->candidate[b->step[i].candidate];

		for (uint32_t k = 0; k < c->ninputs; k++) {
			uint32_t v = c->input[k].value, f = c->input[k].format;

			b->demand[v].need |= UINT32_C(1) << f;
			b->first[v][f] = i;
		}
		for (uint32_t k = 0; k < c->noutputs; k++)
			b->demand[c->output[k].value].have |= UINT32_C(1)
			    << c->output[k].format;
	}
}

static int
by_before(const void *a, const void *b)
{
	const struct cover_conversion *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	/* `cost` holds the position in the value's tree while sorting */
	return x->cost < y->cost ? -1 : x->cost > y->cost;
}

static uint32_t
lay_tree(struct builder *b, struct converter_memo *memo, uint32_t v,
    struct cover_conversion *out)
{
	struct conversion_step step[FORMATS_MAX];
	const struct demand *d = &b->demand[v];
	uint32_t n =
	    convert_steps(memo, b->p->value[v].class, d->have, d->need, step);

	/* A step is due when it or one that starts from it is. */
	for (uint32_t i = n; i-- > 0;)
		if (b->first[v][step[i].to] < b->first[v][step[i].from])
			b->first[v][step[i].from] = b->first[v][step[i].to];
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct cover_conversion){
		    v, step[i].from, step[i].to, b->first[v][step[i].to], i};
	return n;
}

static void
lay_conversions(struct builder *b, struct arena *a)
{
	struct converter_memo memo;
	struct cover_conversion *out = NULL;
	uint32_t n = 0, cap = 0;

	convert_init(&memo, b->p, a);
	for (uint32_t v = 0; v < b->p->nvalues; v++) {
		const struct demand *d = &b->demand[v];
		cost_ns c =
		    convert_cost(&memo, b->p->value[v].class, d->have, d->need);

		b->cover->cost = cost_add(b->cover->cost, c);
		if (c == COST_NEVER || !(d->need & ~d->have))
			continue;
		out = arena_grow(a, out, &cap, n + FORMATS_MAX, sizeof *out);
		n += lay_tree(b, &memo, v, &out[n]);
	}
	if (n > 0)
		qsort(out, n, sizeof *out, by_before);
	for (uint32_t i = 0; i < n; i++)
		out[i].cost = conversion_cost(b->p,
		    b->p->value[out[i].value].class, out[i].from, out[i].to);
	b->cover->conversion = out;
	b->cover->nconversions = n;
}

void
cover_complete(struct cover *out, const struct problem *p,
    const uint32_t *candidate, const bool *fresh, uint32_t n, struct arena *a)
{
	struct builder b = {.p = p, .cover = out};

	*out = (struct cover){.nsteps = n};
	b.step = arena_new(a, struct cover_step, n);
	b.demand = arena_new(a, struct demand, p->nvalues);
	b.first = arena_array(a, p->nvalues, sizeof *b.first);
	b.run_of = arena_new(a, uint32_t, p->nnodes);
	memset(b.run_of, 0xff, p->nnodes * sizeof *b.run_of);
	lay_runs(&b, candidate, fresh, n);
	gather_demands(&b);
	lay_conversions(&b, a);
	out->step = b.step;
}
