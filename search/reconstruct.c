#include "search/reconstruct.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The backward DP works from the end: what was taken last tends to run first. */
static int
by_position(const void *a, const void *b)
{
	const struct chosen_step *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos > y->pos ? -1 : 1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static uint32_t
place_of(const struct problem *p, const struct problem_port *port)
{
	return port->value * p->nformats + port->format;
}

struct arrangement {
	const struct problem *p;
	const struct chosen_step *chosen;
	uint32_t *owner; /* [nnodes] index into chosen */
	uint8_t *state; /* [n] 0: waiting, 1: visited, 2: in the order */
	uint32_t *stack; /* [n + edges] */
	uint32_t *out, nout;
	bool *fresh; /* [n] with it a run begins that is next to another */
	uint32_t last; /* position of the one before */
};

/* Where what floats ends up: in the run that makes its input as it reads it, or in
 * the first one of those that read it so. What the DP took last, which comes
 * first here, makes what the others read. */
static void
land(const struct problem *p, struct chosen_step *chosen, uint32_t n,
    struct arena *a)
{
	size_t nplaces = (size_t)p->nvalues * p->nformats;
	uint32_t *made_at = arena_new(a, uint32_t, nplaces);
	uint32_t *read_at = arena_new(a, uint32_t, nplaces);

	for (uint32_t i = 0; i < n; i++) {
		const struct problem_candidate *c =
		    &p->candidate[chosen[i].candidate];

		for (uint32_t k = 0; k < c->ninputs; k++) {
			uint32_t *at = &read_at[place_of(p, &c->input[k])];

			*at = *at < chosen[i].pos ? chosen[i].pos : *at;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct problem_candidate *c =
		    &p->candidate[chosen[i].candidate];
		uint32_t in =
		    chosen[i].unplaced ? place_of(p, &c->input[0]) : 0;

		if (chosen[i].unplaced)
			chosen[i].pos = made_at[in] ? made_at[in] : read_at[in];
		for (uint32_t k = 0; k < c->noutputs; k++)
			made_at[place_of(p, &c->output[k])] = chosen[i].pos;
	}
}

/* Where values are in a run only, what is in which run matters, also where the
 * next run is of the same target, because of a mark. */
static void
put(struct arrangement *o, const struct chosen_step *t)
{
	o->fresh[o->nout] = o->p->local && o->p->has_marks && o->nout > 0
	    && (t->pos & 1) && (o->last & 1) && t->pos != o->last;
	assert(t->candidate < o->p->ncandidates);
	o->last = t->pos;
	o->out[o->nout++] = t->candidate;
}

/* Emit one and, before it, those it reads from. Producers have positions at
 * least as high, so the order stays sorted by position. */
static void
emit(struct arrangement *o, uint32_t first)
{
	uint32_t n = 0;

	o->stack[n++] = first;
	while (n > 0) {
		uint32_t at = o->stack[n - 1];
		const struct problem_candidate *c =
		    &o->p->candidate[o->chosen[at].candidate];

		if (o->state[at] != 0) {
			if (o->state[at] == 1)
				put(o, &o->chosen[at]);
			o->state[at] = 2;
			n--;
			continue;
		}
		o->state[at] = 1;
		for (uint32_t i = 0; i < c->ninputs; i++) {
			uint32_t m = o->p->value[c->input[i].value].producer;

			if (m != NO_NODE && o->state[o->owner[m]] == 0)
				o->stack[n++] = o->owner[m];
		}
	}
}

void
reconstruct(struct cover *out, const struct problem *p,
    const struct extrapolation *from, const struct trace *last, struct arena *a)
{
	struct arrangement o = {.p = p};
	struct chosen_step *chosen;
	struct arena space, order;
	const struct trace *l = last;
	uint32_t n = 0, edges = 0;

	arena_init(&space);
	arena_init(&order);
	chosen = arena_new(&space, struct chosen_step, p->nnodes);
	while (l->candidate != UINT32_MAX)
		if (l->candidate >= p->ncandidates) {
			l = extrapolation_trace(
			    &from[l->candidate - p->ncandidates], p, l, chosen,
			    &n);
		} else {
			chosen[n] = (struct chosen_step){
			    l->candidate, l->pos, n, l->unplaced};
			n++;
			l = l->parent;
		}
	for (uint32_t i = 0; i < n; i++)
		edges += p->candidate[chosen[i].candidate].ninputs;
	if (p->local)
		land(p, chosen, n, &space);
	if (n > 0)
		qsort(chosen, n, sizeof *chosen, by_position);
	o.chosen = chosen;
	o.owner = arena_new(&space, uint32_t, p->nnodes);
	o.state = arena_new(&space, uint8_t, n);
	o.stack = arena_new(&space, uint32_t, (size_t)n + edges + 1);
	o.out = arena_new(&order, uint32_t, n);
	o.fresh = arena_new(&order, bool, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct problem_candidate *c =
		    &p->candidate[chosen[i].candidate];

		for (uint32_t k = 0; k < c->nnodes; k++)
			o.owner[c->node[k]] = i;
	}
	for (uint32_t i = 0; i < n; i++)
		if (o.state[i] == 0)
			emit(&o, i);
	assert(o.nout == n);
	arena_release(&space);
	cover_complete(out, p, o.out, o.fresh, n, a);
	arena_release(&order);
}
