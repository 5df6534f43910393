/* Baselines: what simpler tools would choose, priced by the same rules. */
#include <stdlib.h>
#include <string.h>

#include "search/solve.h"
#include "search/problem_index.h"

bool
search_single(struct search_result *out, const struct problem *p,
    const uint32_t target[2], const struct search_options *o, struct arena *a,
    struct err *err)
{
	struct arena scratch;
	struct problem sub;
	bool *allowed, ok;

	arena_init(&scratch);
	allowed = arena_new(&scratch, bool, p->ncandidates);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		allowed[c] =
		    target_owner(p, p->candidate[c].target) == target[0]
		    || target_owner(p, p->candidate[c].target) == target[1];
	problem_restrict(&sub, p, allowed, &scratch);
	ok = search_exact(out, &sub, o, a, err);
	out->searcher = "single";
	arena_release(&scratch);
	return ok;
}

/* The claims of an eager partitioner, as the graph of what is claimed. */
struct claims {
	const struct problem *p;
	uint32_t *owner; /* [nnodes] candidate, or UINT32_MAX */
	uint64_t *used; /* [ntargets] by owner */
};

static bool
is_free(const struct claims *s, const struct problem_candidate *c)
{
	uint32_t owner = target_owner(s->p, c->target);

	for (uint32_t i = 0; i < c->nnodes; i++)
		if (s->owner[c->node[i]] != UINT32_MAX)
			return false;
	return candidate_usable(c)
	    && c->resource <= s->p->target[owner].capacity - s->used[owner];
}

/* The lowest node of the claim a node belongs to stands for the claim. */
static uint32_t
head(const struct claims *s, uint32_t node)
{
	uint32_t owner = s->owner[node];

	return owner == UINT32_MAX ? node : s->p->candidate[owner].node[0];
}

/* Add `by` to the count of edges that come into each claim `node` feeds; those
 * whose count becomes 0 go to ready[*n...]. */
static void
count_edges(const struct claims *s, uint32_t node, uint32_t *waiting,
    uint32_t by, uint32_t *ready, uint32_t *n)
{
	const struct problem *p = s->p;

	for (uint32_t k = 0; k < p->node[node].noutputs; k++) {
		uint32_t v = p->node[node].output[k];

		for (uint32_t i = p->user_start[v]; i < p->user_start[v + 1];
		     i++) {
			uint32_t h = head(s, p->user[i]);

			if (h == head(s, node))
				continue;
			waiting[h] += by;
			if (waiting[h] == 0)
				ready[(*n)++] = h;
		}
	}
}

/* Is the graph of claims and unclaimed nodes acyclic? Kahn. */
static bool
is_acyclic(const struct claims *s, struct arena *scratch)
{
	const struct problem *p = s->p;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *waiting = arena_new(scratch, uint32_t, p->nnodes);
	uint32_t *ready = arena_new(scratch, uint32_t, p->nnodes);
	uint32_t n = 0, heads = 0;

	for (uint32_t node = 0; node < p->nnodes; node++)
		count_edges(s, node, waiting, 1, ready, &n);
	for (uint32_t node = 0; node < p->nnodes; node++) {
		heads += head(s, node) == node;
		if (head(s, node) == node && waiting[node] == 0)
			ready[n++] = node;
	}
	for (uint32_t done = 0; done < n; done++) {
		uint32_t owner = s->owner[ready[done]];

		if (owner == UINT32_MAX)
			count_edges(
			    s, ready[done], waiting, UINT32_MAX, ready, &n);
		for (uint32_t i = 0;
		     owner != UINT32_MAX && i < p->candidate[owner].nnodes; i++)
			count_edges(s, p->candidate[owner].node[i], waiting,
			    UINT32_MAX, ready, &n);
	}
	arena_back(scratch, mark);
	return n == heads;
}

/* Is there a value that leaves before the last node? Claims all of whose
 * outputs come from their last node cannot close a cycle among themselves. */
static bool
leaves_early(const struct problem *p, const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (p->value[c->output[i].value].producer
		    != c->node[c->nnodes - 1])
			return true;
	return false;
}

/* The cheapest usable candidate of the same target and the same nodes. */
static uint32_t
cheapest_equivalent(const struct claims *s, uint32_t c)
{
	const struct problem *p = s->p;
	const struct problem_candidate *like = &p->candidate[c];
	uint32_t best = c, low = like->node[0];

	for (uint32_t k = p->low_start[low]; k < p->low_start[low + 1]; k++) {
		const struct problem_candidate *other =
		    &p->candidate[p->low[k]];

		if (other->target == like->target
		    && other->nnodes == like->nnodes
		    && memcmp(other->node, like->node,
		           like->nnodes * sizeof *like->node)
		        == 0
		    && other->cost < p->candidate[best].cost
		    && is_free(s, other))
			best = p->low[k];
	}
	return best;
}

static void
set_owner(struct claims *s, const struct problem_candidate *c, uint32_t owner)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		s->owner[c->node[i]] = owner;
}

/* Claim in the order given. */
static void
claim(struct claims *s, const uint32_t *order, bool *allowed, struct arena *a)
{
	const struct problem *p = s->p;

	for (uint32_t i = 0; i < p->ncandidates; i++) {
		const struct problem_candidate *c;
		uint32_t best;

		if (!is_free(s, &p->candidate[order[i]]))
			continue;
		best = cheapest_equivalent(s, order[i]);
		c = &p->candidate[best];
		set_owner(s, c, best);
		if (leaves_early(p, c) && !is_acyclic(s, a)) {
			set_owner(s, c, UINT32_MAX);
			continue;
		}
		s->used[target_owner(p, c->target)] += c->resource;
		allowed[best] = true;
	}
}

/* The best that can be made of what is claimed in an order. */
static bool
claim_and_solve(struct search_result *out, const struct problem *p,
    const uint32_t *order, const struct search_options *o, struct arena *a,
    struct err *err)
{
	struct claims s = {.p = p};
	struct arena space;
	struct problem sub;
	bool *allowed, ok;

	arena_init(&space);
	allowed = arena_new(&space, bool, p->ncandidates);
	s.owner = arena_new(&space, uint32_t, p->nnodes);
	memset(s.owner, 0xff, p->nnodes * sizeof *s.owner);
	s.used = arena_new(&space, uint64_t, p->ntargets);
	claim(&s, order, allowed, &space);
	problem_restrict(&sub, p, allowed, &space);
	ok = search_exact(out, &sub, o, a, err);
	arena_release(&space);
	return ok;
}

/* A candidate's place in the order of an eager partitioner. */
struct claim_rank {
	const struct problem_candidate *candidate;
	uint32_t id;
};

static int
by_claim(const void *a, const void *b)
{
	const struct claim_rank *x = a, *y = b;
	const struct problem_candidate *c = x->candidate, *d = y->candidate;
	uint32_t c_root = c->node[c->nnodes - 1];
	uint32_t d_root = d->node[d->nnodes - 1];

	if (c->target != d->target)
		return c->target < d->target ? -1 : 1;
	if (c_root != d_root)
		return c_root > d_root ? -1 : 1;
	if (c->nnodes != d->nnodes)
		return c->nnodes > d->nnodes ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

bool
search_eager(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct claim_rank *rank;
	struct arena space, ranks;
	uint32_t *order;
	bool ok;

	arena_init(&space);
	arena_init(&ranks);
	rank = arena_new(&ranks, struct claim_rank, p->ncandidates);
	order = arena_new(&space, uint32_t, p->ncandidates);
	for (uint32_t i = 0; i < p->ncandidates; i++)
		rank[i] = (struct claim_rank){&p->candidate[i], i};
	if (p->ncandidates)
		qsort(rank, p->ncandidates, sizeof *rank, by_claim);
	for (uint32_t i = 0; i < p->ncandidates; i++)
		order[i] = rank[i].id;
	arena_release(&ranks);
	ok = claim_and_solve(out, p, order, o, a, err);
	out->searcher = "eager";
	arena_release(&space);
	return ok;
}

bool
search_greedy(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct arena space;
	uint32_t *order, *first, n = 0;
	bool ok;

	arena_init(&space);
	order = arena_new(&space, uint32_t, p->ncandidates);
	first = arena_new(&space, uint32_t, (size_t)p->nnodes + 2);
	/* Counting sort by size, largest first, then by id. */
	for (uint32_t i = 0; i < p->ncandidates; i++)
		first[p->nnodes - p->candidate[i].nnodes + 1]++;
	for (uint32_t k = 0; k <= p->nnodes; k++)
		first[k + 1] += first[k];
	for (uint32_t i = 0; i < p->ncandidates; i++, n++)
		order[first[p->nnodes - p->candidate[i].nnodes]++] = i;
	ok = claim_and_solve(out, p, order, o, a, err);
	out->searcher = "greedy";
	arena_release(&space);
	return ok;
}

static const struct {
	const char *name;
	bool proves; /* about all covers, not only its own */
	bool (*run)(struct search_result *out, const struct problem *p,
	    const struct search_options *o, struct arena *a, struct err *err);
} searcher[] = {
    {"exact", true, search_exact},
    {"beam", true, search_beam},
    {"greedy", false, search_greedy},
    {"eager", false, search_eager},
    {"brute", true, search_exhaustive},
};

/* The best of a few candidates says nothing about all of them. */
static void
forget_proof(struct search_result *r)
{
	r->proven = false;
	r->lower_bound = 0;
	r->why = "a baseline proves nothing";
}

bool
search_named(struct search_result *out, const struct problem *p,
    const char *name, const struct search_options *o, struct arena *a,
    struct err *err)
{
	for (size_t i = 0; i < sizeof searcher / sizeof searcher[0]; i++) {
		if (strcmp(searcher[i].name, name) != 0)
			continue;
		if (!searcher[i].run(out, p, o, a, err))
			return false;
		if (!searcher[i].proves)
			forget_proof(out);
		return true;
	}
	if (strncmp(name, "single:", 7) != 0)
		return err_set(err, ERR_USAGE,
		    "no searcher '%s' (exact, beam, greedy, eager, "
		    "single:TARGET, brute)",
		    name);
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (strcmp(p->target[t].name, name + 7) == 0) {
			uint32_t alone[2] = {t, t};

			if (!search_single(out, p, alone, o, a, err))
				return false;
			forget_proof(out);
			return true;
		}
	return err_set(err, ERR_USAGE, "no target '%s'", name + 7);
}
