#include "search/equivalents.h"

#include <string.h>

/* TUNING: candidates of one highest node that another is compared with; beyond
 * them it counts as one of its kind, which costs time only. */
#define COMPARED_MAX 64

static bool
same_ports(
    const struct problem_port *x, const struct problem_port *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (x[i].value != y[i].value || x[i].format != y[i].format)
			return false;
	return true;
}

/* Runs of a target that is not tracked and that nothing is taken from are as
 * good as those of another. */
static bool
same_target(const struct problem *p, const struct problem_candidate *x,
    const struct problem_candidate *y)
{
	return x->target == y->target
	    || (x->resource == 0 && !p->tracked[x->target]
	        && !p->tracked[y->target]);
}

static bool
are_equivalent(const struct problem *p, const struct problem_candidate *x,
    const struct problem_candidate *y)
{
	return x->nnodes == y->nnodes && x->ninputs == y->ninputs
	    && x->noutputs == y->noutputs && x->resource == y->resource
	    && same_ports(x->output, y->output, x->noutputs)
	    && same_ports(x->input, y->input, x->ninputs)
	    && same_target(p, x, y)
	    && memcmp(x->node, y->node, x->nnodes * sizeof *x->node) == 0;
}

const uint32_t *
equivalents_find(const struct problem *p, struct arena *a)
{
	uint32_t *equivalent = arena_new(a, uint32_t, p->ncandidates);
	/* By highest node, a list of first ones, the last of them first. */
	uint32_t *last, *before;
	struct arena space;

	arena_init(&space);
	last = arena_new(&space, uint32_t, p->nnodes);
	before = arena_new(&space, uint32_t, p->ncandidates);
	memset(last, 0xff, p->nnodes * sizeof *last);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];
		uint32_t *list = &last[x->node[x->nnodes - 1]], at = *list;

		for (uint32_t n = 0; at != UINT32_MAX
		     && !are_equivalent(p, x, &p->candidate[at]);
		     at = before[at])
			if (++n == COMPARED_MAX) {
				at = UINT32_MAX;
				break;
			}
		equivalent[c] = at;
		if (at != UINT32_MAX)
			continue;
		equivalent[c] = c;
		before[c] = *list;
		*list = c;
	}
	arena_release(&space);
	return equivalent;
}

const uint32_t *
equivalents_cheapest(const struct problem *p, struct arena *a)
{
	uint32_t *best = arena_new(a, uint32_t, p->ncandidates);

	memset(best, 0xff, p->ncandidates * sizeof *best);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		uint32_t *of = &best[p->equivalent[c]];

		if (candidate_usable(&p->candidate[c])
		    && (*of == UINT32_MAX
		        || p->candidate[c].cost < p->candidate[*of].cost))
			*of = c;
	}
	return best;
}
