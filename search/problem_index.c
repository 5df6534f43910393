#include "search/problem_index.h"

#include <assert.h>
#include <string.h>

#include "search/equivalents.h"
#include "search/problem_check.h"
#include "ir/base/verify.h"

/* Fill `start` and return the items: item k belongs to group of(k). Groups keep
 * the order of items; of(k) == UINT32_MAX leaves k out. */
static const uint32_t *
group(uint32_t ngroups, uint32_t nitems, const uint32_t *of,
    const uint32_t **start, struct arena *space, struct arena *a)
{
	uint32_t *at = arena_new(a, uint32_t, (size_t)ngroups + 1);
	uint32_t *next = arena_new(space, uint32_t, (size_t)ngroups + 1);
	uint32_t *item;

	for (uint32_t k = 0; k < nitems; k++)
		if (of[k] != UINT32_MAX)
			at[of[k] + 1]++;
	for (uint32_t g = 0; g < ngroups; g++)
		at[g + 1] += at[g];
	memcpy(next, at, ((size_t)ngroups + 1) * sizeof *at);
	item = arena_new(a, uint32_t, at[ngroups]);
	for (uint32_t k = 0; k < nitems; k++)
		if (of[k] != UINT32_MAX)
			item[next[of[k]]++] = k;
	*start = at;
	return item;
}

/* Consumers of each value, ascending, a consumer once. */
static void
index_users(struct problem *p, struct arena *a)
{
	uint32_t *start = arena_new(a, uint32_t, (size_t)p->nvalues + 1);
	uint32_t *next, *last, *user = NULL;
	struct arena space;

	arena_init(&space);
	next = arena_new(&space, uint32_t, (size_t)p->nvalues + 1);
	last = arena_new(&space, uint32_t, p->nvalues);
	for (int pass = 0; pass < 2; pass++) {
		memset(last, 0xff, p->nvalues * sizeof *last);
		for (uint32_t n = 0; n < p->nnodes; n++)
			for (uint32_t i = 0; i < p->node[n].ninputs; i++) {
				uint32_t v = p->node[n].input[i];

				if (last[v] == n)
					continue;
				last[v] = n;
				if (pass)
					user[next[v]++] = n;
				else
					start[v + 1]++;
			}
		if (pass)
			break;
		for (uint32_t v = 0; v < p->nvalues; v++)
			start[v + 1] += start[v];
		memcpy(next, start, ((size_t)p->nvalues + 1) * sizeof *start);
		user = arena_new(a, uint32_t, start[p->nvalues]);
	}
	p->user_start = start;
	p->user = user;
	arena_release(&space);
}

/* Does the index list what can be chosen, no more and no less? */
static bool
is_indexed(const struct problem *p)
{
	uint32_t usable = 0;

	if (!p->low)
		return false;
	for (uint32_t c = 0; c < p->ncandidates; c++)
		usable += candidate_usable(&p->candidate[c]);
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++)
		if (!candidate_usable(&p->candidate[p->low[k]]))
			return false;
	return usable == p->low_start[p->nnodes];
}

void
problem_reindex(struct problem *p, struct arena *a)
{
	struct arena space;
	uint32_t *low, *high;

	if (is_indexed(p))
		return;
	arena_init(&space);
	low = arena_new(&space, uint32_t, p->ncandidates);
	high = arena_new(&space, uint32_t, p->ncandidates);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *cand = &p->candidate[c];
		bool usable = candidate_usable(cand);

		low[c] = usable ? cand->node[0] : UINT32_MAX;
		high[c] = usable ? cand->node[cand->nnodes - 1] : UINT32_MAX;
	}
	p->low =
	    group(p->nnodes, p->ncandidates, low, &p->low_start, &space, a);
	p->high =
	    group(p->nnodes, p->ncandidates, high, &p->high_start, &space, a);
	arena_release(&space);
}

/* Does the candidate read or make a value in a local format? */
static bool
uses_local(const struct problem *p, const struct problem_candidate *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->ninputs; i++)
		any |= p->local >> c->input[i].format & 1;
	for (uint32_t i = 0; i < c->noutputs; i++)
		any |= p->local >> c->output[i].format & 1;
	return any;
}

/* After candidates were checked. */
static void
index_targets(struct problem *p, struct arena *a)
{
	p->tracked = arena_new(a, bool, p->ntargets);
	p->ntracked = 0;
	for (uint32_t t = 0; t < p->ntargets; t++) {
		const struct problem_target *target = &p->target[t];

		p->tracked[t] = target->launch != COST_NEVER
		    && (target->launch > 0 || target->max_runs != NO_LIMIT
		        || target->max_run_nodes != NO_LIMIT
		        || target->fed_only);
	}
	for (uint32_t c = 0; p->local && c < p->ncandidates; c++)
		if (uses_local(p, &p->candidate[c]))
			p->tracked[p->candidate[c].target] = true;
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->ntracked += p->tracked[t];
}

/* (Q1) users of a value ascend and read it; (Q2) usable candidates are listed by their
 * lowest and by their highest node, each once; (Q3) producers come first. */
static void
problem_verify(const struct problem *p)
{
	uint32_t usable = 0;

	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t u = p->user_start[v]; u < p->user_start[v + 1];
		     u++) {
			assert(p->user[u] < p->nnodes);
			assert(u == p->user_start[v]
			    || p->user[u - 1] < p->user[u]); /* (Q1) */
			assert(p->value[v].producer == NO_NODE
			    || p->value[v].producer < p->user[u]); /* (Q3) */
		}
	for (uint32_t c = 0; c < p->ncandidates; c++)
		usable += candidate_usable(&p->candidate[c]);
	assert(p->low_start[p->nnodes] == usable); /* (Q2) */
	assert(p->high_start[p->nnodes] == usable); /* (Q2) */
	for (uint32_t n = 0; n < p->nnodes; n++) {
		for (uint32_t k = p->low_start[n]; k < p->low_start[n + 1]; k++)
			assert(p->candidate[p->low[k]].node[0] == n);
		for (uint32_t k = p->high_start[n]; k < p->high_start[n + 1];
		     k++) {
			const struct problem_candidate *c =
			    &p->candidate[p->high[k]];

			assert(c->node[c->nnodes - 1] == n); /* (Q2) */
		}
	}
	assert(p->ntracked <= p->ntargets);
}

bool
problem_index(struct problem *p, struct arena *a, struct err *err)
{
	if (!problem_check_parts(p, err))
		return false;
	p->has_marks = false;
	for (uint32_t v = 0; v < p->nvalues; v++)
		p->has_marks |= p->value[v].mark;
	index_users(p, a);
	if (!problem_check_candidates(p, err))
		return false;
	index_targets(p, a);
	p->equivalent = equivalents_find(p, a);
	p->low = NULL; /* candidates may have other nodes */
	problem_reindex(p, a);
	VERIFY(problem_verify(p));
	return true;
}

void
problem_derive(struct problem *out, const struct problem *base, unsigned parts,
    struct arena *a)
{
	const struct problem *p = base;

	*out = *p;
	if (parts & EDIT_CANDIDATES)
		out->candidate = arena_copy(
		    a, p->candidate, p->ncandidates * sizeof *p->candidate);
	if (parts & EDIT_TARGETS)
		out->target =
		    arena_copy(a, p->target, p->ntargets * sizeof *p->target);
	if (parts & EDIT_VALUES)
		out->value =
		    arena_copy(a, p->value, p->nvalues * sizeof *p->value);
	if (parts & EDIT_CONVERSIONS)
		out->conversion = arena_copy(a, p->conversion,
		    (size_t)p->nclasses * p->nformats * p->nformats
		        * sizeof *p->conversion);
}

void
problem_derive_more(struct problem *out, const struct problem *base,
    uint32_t candidates, uint32_t targets, struct arena *a)
{
	*out = *base;
	out->candidate = arena_new(a, struct problem_candidate,
	    (size_t)base->ncandidates + candidates);
	out->target = arena_new(
	    a, struct problem_target, (size_t)base->ntargets + targets);
	for (uint32_t c = 0; c < base->ncandidates; c++)
		out->candidate[c] = base->candidate[c];
	for (uint32_t t = 0; t < base->ntargets; t++)
		out->target[t] = base->target[t];
}

/* Can all candidates that can be chosen still be? */
static bool
restricts_nothing(const struct problem *p, const bool *allowed)
{
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (!allowed[c] && !p->candidate[c].banned)
			return false;
	return true;
}

void
problem_restrict(struct problem *out, const struct problem *p,
    const bool *allowed, struct arena *a)
{
	*out = *p;
	if (restricts_nothing(p, allowed))
		return;
	problem_derive(out, p, EDIT_CANDIDATES, a);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (!allowed[c])
			out->candidate[c].banned = true;
	problem_reindex(out, a);
}
