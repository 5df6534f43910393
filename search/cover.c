#include "search/cover.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What is known of each value while the conversions are laid out. */
struct demand {
	uint32_t have, need; /* masks */
	uint32_t
	    transfer; /* the last one of it in transfer[]; NO_ENTRY: none */
	uint32_t row; /* in first[]; NO_ENTRY: nothing is made of it yet */
};

#define NO_ENTRY UINT32_MAX

/* A value brought into a local format, for one run. */
struct transfer {
	uint32_t format, run;
	uint32_t before; /* the run's first step that reads it so */
	uint32_t next; /* of the same value */
};

struct builder {
	const struct problem *p;
	struct cover *cover;
	struct cover_step *step;
	struct demand *demand; /* [nvalues] */
	uint32_t *first; /* [nrows][nformats] step that needs a format */
	uint32_t nrows, row_cap;
	uint32_t *run_of; /* [nnodes] */
	struct transfer *transfer;
	uint32_t ntransfers, entry_cap;
	struct cover_conversion *out;
	uint32_t nout, out_cap;
	struct arena *arena; /* given back when the cover is complete */
};

/* Only of values that are converted: a row is made when it is asked for. */
static uint32_t *
first(struct builder *b, uint32_t value, uint32_t format)
{
	const uint32_t n = b->p->nformats;
	struct demand *d = &b->demand[value];

	if (d->row == NO_ENTRY) {
		d->row = b->nrows++;
		b->first = arena_grow(b->arena, b->first, &b->row_cap, b->nrows,
		    n * sizeof *b->first);
		for (uint32_t f = 0; f < n; f++)
			b->first[(size_t)d->row * n + f] = b->cover->nsteps;
	}
	return &b->first[(size_t)d->row * n + format];
}

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

/* Is it read in the run that made it in this format? */
static bool
is_inside(const struct builder *b, const struct problem_port *in, uint32_t run)
{
	uint32_t maker = b->p->value[in->value].producer;

	return maker != NO_NODE && b->run_of[maker] == run
	    && b->demand[in->value].have >> in->format & 1;
}

/* Steps come from the last to the first, so those of a run follow each other. */
static void
transfer_in(struct builder *b, const struct problem_port *in, uint32_t step)
{
	struct demand *d = &b->demand[in->value];
	uint32_t run = b->step[step].run;

	for (uint32_t e = d->transfer; b->transfer && e != NO_ENTRY;
	     e = b->transfer[e].next)
		if (b->transfer[e].format == in->format
		    && b->transfer[e].run == run) {
			b->transfer[e].before = step;
			return;
		}
	b->transfer = arena_grow(b->arena, b->transfer, &b->entry_cap,
	    b->ntransfers + 1, sizeof *b->transfer);
	b->transfer[b->ntransfers] =
	    (struct transfer){in->format, run, step, d->transfer};
	d->transfer = b->ntransfers++;
}

static void
demand_input(struct builder *b, const struct problem_port *in, uint32_t step)
{
	if (b->p->local >> in->format & 1) {
		if (is_inside(b, in, b->step[step].run))
			return;
		transfer_in(b, in, step);
	}
	b->demand[in->value].need |= UINT32_C(1) << in->format;
	if (b->p->local >> in->format & 1
	    || !(b->demand[in->value].have >> in->format & 1))
		*first(b, in->value, in->format) = step;
}

static void
gather_demands(struct builder *b)
{
	for (uint32_t v = 0; v < b->p->nvalues; v++)
		b->demand[v] = (struct demand){b->p->value[v].initial,
		    b->p->value[v].required, NO_ENTRY, NO_ENTRY};
	for (uint32_t i = 0; i < b->cover->nsteps; i++) {
		const struct problem_candidate *c =
		    &b->p->candidate[b->step[i].candidate];

		for (uint32_t k = 0; k < c->noutputs; k++)
			b->demand[c->output[k].value].have |= UINT32_C(1)
			    << c->output[k].format;
	}
	for (uint32_t i = b->cover->nsteps; i-- > 0;) {
		const struct problem_candidate *c =
		    &b->p->candidate[b->step[i].candidate];

		for (uint32_t k = 0; k < c->ninputs; k++)
			demand_input(b, &c->input[k], i);
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

static void
put(struct builder *b, const struct cover_conversion *c)
{
	b->out = arena_grow(
	    b->arena, b->out, &b->out_cap, b->nout + 1, sizeof *b->out);
	b->out[b->nout++] = *c;
}

static void
lay_tree(struct builder *b, struct converter_memo *memo, uint32_t v)
{
	struct conversion_step step[FORMATS_MAX];
	const struct demand *d = &b->demand[v];
	uint32_t n =
	    convert_steps(memo, b->p->value[v].class, d->have, d->need, step);

	/* A step is due when it or one that starts from it is. */
	for (uint32_t i = n; i-- > 0;) {
		uint32_t due = *first(b, v, step[i].to);

		if (due < *first(b, v, step[i].from))
			*first(b, v, step[i].from) = due;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct cover_conversion c = {
		    v, step[i].from, step[i].to, *first(b, v, step[i].to), i};
		uint32_t e = d->transfer;

		if (!(b->p->local >> c.to & 1))
			put(b, &c);
		for (; b->p->local >> c.to & 1 && e != NO_ENTRY;
		     e = b->transfer[e].next) {
			c.before = b->transfer[e].before;
			if (b->transfer[e].format == c.to)
				put(b, &c);
		}
	}
}

/* What the runs pay that bring the value in. */
static cost_ns
transfers_cost(const struct builder *b, uint32_t v)
{
	cost_ns sum = 0;

	for (uint32_t e = b->demand[v].transfer; e != NO_ENTRY;
	     e = b->transfer[e].next)
		sum = cost_add(sum,
		    transfer_cost(
		        b->p, b->p->value[v].class, b->transfer[e].format));
	return sum;
}

static void
lay_conversions(struct builder *b)
{
	struct converter_memo memo;

	convert_init(&memo, b->p, b->arena);
	for (uint32_t v = 0; v < b->p->nvalues; v++) {
		const struct demand *d = &b->demand[v];
		cost_ns c = cost_add(
		    convert_cost(&memo, b->p->value[v].class, d->have, d->need),
		    transfers_cost(b, v));

		b->cover->cost = cost_add(b->cover->cost, c);
		if (c == COST_NEVER || !(d->need & ~(d->have & ~b->p->local)))
			continue;
		lay_tree(b, &memo, v);
	}
	if (b->nout > 0)
		qsort(b->out, b->nout, sizeof *b->out, by_before);
	for (uint32_t i = 0; i < b->nout; i++)
		b->out[i].cost =
		    conversion_cost(b->p, b->p->value[b->out[i].value].class,
		        b->out[i].from, b->out[i].to);
}

void
cover_complete(struct cover *out, const struct problem *p,
    const uint32_t *candidate, const bool *fresh, uint32_t n, struct arena *a)
{
	struct arena space;
	struct builder b = {.p = p, .cover = out, .arena = &space};

	arena_init(&space);
	*out = (struct cover){.nsteps = n};
	b.step = arena_new(a, struct cover_step, n);
	b.demand = arena_new(&space, struct demand, p->nvalues);
	b.run_of = arena_new(&space, uint32_t, p->nnodes);
	memset(b.run_of, 0xff, p->nnodes * sizeof *b.run_of);
	lay_runs(&b, candidate, fresh, n);
	gather_demands(&b);
	lay_conversions(&b);
	out->step = b.step;
	out->conversion = arena_copy(a, b.out, b.nout * sizeof *b.out);
	out->nconversions = b.nout;
	arena_release(&space);
}
