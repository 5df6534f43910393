#include "search/split_readers.h"

#include <string.h>

#include "search/mask.h"
#include "search/problem_index.h"

/* How a node is reached from the maker of a value. */
enum way { WAY_NONE, WAY_INSIDE, WAY_AROUND };

struct reader_finder {
	const struct problem *p;
	const bool *can; /* [nnodes] of the target at hand */
	uint8_t *way; /* [nnodes] */
	bool *around; /* [uses] is reached around, as in problem->user */
};

/* The nodes a target can run. */
static bool *
nodes_of(const struct problem *p, uint32_t target, struct arena *a)
{
	bool *can = arena_new(a, bool, p->nnodes);

	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];

		for (uint32_t i = 0; i < x->nnodes && x->target == target
		     && candidate_usable(x);
		     i++)
			can[x->node[i]] = true;
	}
	return can;
}

static uint8_t
way_over(const struct reader_finder *f, uint32_t maker, uint32_t node)
{
	uint8_t best = WAY_NONE;

	for (uint32_t i = 0; i < f->p->node[node].ninputs; i++) {
		uint32_t m = f->p->value[f->p->node[node].input[i]].producer;
		uint8_t way = WAY_NONE;

		if (m == NO_NODE || m < maker)
			continue;
		if (m == maker)
			way = WAY_INSIDE;
		else if (f->way[m] != WAY_NONE)
			way = f->can[m] ? f->way[m] : WAY_AROUND;
		if (way > best)
			best = way;
	}
	return best;
}

/* Which users of a value are reached around; nodes up to the last are looked at. */
static void
follow(struct reader_finder *f, uint32_t value)
{
	const struct problem *p = f->p;
	uint32_t maker = p->value[value].producer, last;
	uint32_t first = p->user_start[value], end = p->user_start[value + 1];

	if (maker == NO_NODE || first == end || !f->can[maker])
		return;
	last = p->user[end - 1];
	for (uint32_t n = maker + 1; n <= last; n++)
		f->way[n] = way_over(f, maker, n);
	for (uint32_t u = first; u < end; u++)
		f->around[u] = f->way[p->user[u]] == WAY_AROUND;
}

static bool
reads_around(const struct reader_finder *f, const struct problem_candidate *c,
    uint32_t value)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		uint32_t use = problem_find_use(f->p, value, c->node[i]);

		if (use != UINT32_MAX && f->around[use])
			return true;
	}
	return false;
}

static void
find_of_target(struct split_readers *out, const struct problem *p,
    uint32_t target, struct arena *a)
{
	struct reader_finder f = {.p = p,
	    .can = nodes_of(p, target, a),
	    .way = arena_new(a, uint8_t, p->nnodes),
	    .around = arena_new(a, bool, p->user_start[p->nvalues])};

	for (uint32_t v = 0; v < p->nvalues; v++)
		follow(&f, v);
	for (uint32_t id = 0; id < p->ncandidates; id++) {
		const struct problem_candidate *c = &p->candidate[id];

		for (uint32_t i = 0; i < c->ninputs && c->target == target; i++)
			out->port[out->start[id] + i] =
			    p->local >> c->input[i].format & 1
			    && reads_around(&f, c, c->input[i].value);
	}
}

void
split_readers_find(
    struct split_readers *out, const struct problem *p, struct arena *a)
{
	uint32_t *start, f;

	*out = (struct split_readers){.start = NULL};
	if (!p->local || p->nformats + mask_count(p->local) > FORMATS_MAX)
		return;
	start = arena_new(a, uint32_t, (size_t)p->ncandidates + 1);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		start[c + 1] = start[c] + p->candidate[c].ninputs;
	out->start = start;
	out->port = arena_new(a, bool, start[p->ncandidates]);
	for (uint32_t rest = p->local, n = p->nformats; mask_next(&rest, &f);)
		out->brought[f] = n++;
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->tracked[t])
			find_of_target(out, p, t, a);
}

bool
split_readers_has(const struct split_readers *x, const struct problem *p,
    uint32_t candidate, uint32_t value)
{
	const struct problem_candidate *c = &p->candidate[candidate];

	for (uint32_t i = 0; x->start && i < c->ninputs; i++)
		if (c->input[i].value == value
		    && x->port[x->start[candidate] + i])
			return true;
	return false;
}

/* Brought in from where it costs least; then it is there in the format itself. */
static void
widen_conversions(const struct split_readers *x, struct problem *relaxed,
    const struct problem *p, struct arena *a)
{
	uint32_t n = relaxed->nformats, old = p->nformats, f;
	size_t size = (size_t)n * n;

	relaxed->conversion = arena_new(a, cost_ns, p->nclasses * size);
	for (size_t i = 0; i < p->nclasses * size; i++)
		relaxed->conversion[i] = COST_NEVER;
	for (uint32_t class = 0; class < p->nclasses; class ++) {
		cost_ns *to = &relaxed->conversion[class * size];

		for (uint32_t i = 0; i < old * old; i++)
			to[i / old * n + i % old] =
			    conversion_cost(p, class, i / old, i % old);
		for (uint32_t rest = p->local; mask_next(&rest, &f);) {
			uint32_t from = transfer_formats(p, class, f), h;

			to[x->brought[f] * n + f] = 0;
			while (mask_next(&from, &h))
				to[h * n + x->brought[f]] =
				    transfer_cost(p, class, f);
		}
	}
}

static const struct problem_port *
widen_ports(const struct split_readers *x, const struct problem *p,
    uint32_t candidate, struct arena *a)
{
	const struct problem_candidate *c = &p->candidate[candidate];
	const bool *split = &x->port[x->start[candidate]];
	struct problem_port *port = NULL;

	for (uint32_t i = 0; i < c->ninputs; i++) {
		if (!split[i])
			continue;
		if (!port)
			port =
			    arena_copy(a, c->input, c->ninputs * sizeof *port);
		port[i].format = x->brought[c->input[i].format];
	}
	return port ? port : c->input;
}

/* Is anything read around? Else candidates stay as they are. */
static bool
has_any(const struct split_readers *x, const struct problem *p)
{
	return x->start
	    && memchr(x->port, true, x->start[p->ncandidates]) != NULL;
}

struct problem
split_readers_relax(
    const struct split_readers *x, const struct problem *p, struct arena *a)
{
	const bool any = has_any(x, p);
	struct problem relaxed;

	problem_derive(&relaxed, p, any ? EDIT_CANDIDATES : 0, a);
	relaxed.local = 0;
	if (!x->start)
		return relaxed;
	relaxed.nformats += mask_count(p->local);
	relaxed.format_name = NULL;
	widen_conversions(x, &relaxed, p, a);
	for (uint32_t c = 0; any && c < p->ncandidates; c++)
		relaxed.candidate[c].input = widen_ports(x, p, c, a);
	return relaxed;
}
