#include "search/backward_dp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "search/bound.h"
#include "search/capacity/multiplier.h"
#include "search/transfers.h"
#include "search/frontier.h"
#include "search/interval.h"
#include "search/extrapolate.h"
#include "search/transition.h"
#include "ir/base/verify.h"
#include "search/equivalents.h"
#include "search/reconstruct.h"

/* TUNING: labels kept per node once a limit is hit, and when there is no time
 * even for them; labels tried between two looks at the clock. */
#define BEAM_LATE 64
#define BEAM_LAST 4
#define LOOK_EVERY 256u
#define VALUES_PER_LABEL 64u
#define MEMORY_RESERVE 5u

struct backward_dp {
	struct frontier frontier;
	struct groups groups;
	struct bound bound;
	struct extrapolations extrapolations;
	const struct backward_limits *limits;
	const uint32_t *cheapest; /* of equivalents; NULL: all are wanted */
	struct label *work; /* the label being made */
	uint32_t work_room; /* for entries */
	uint32_t beam; /* 0: none */
	bool over; /* out of time, and a cover is known */
	uint32_t untimed; /* work since the last look at the clock, in labels */
	uint32_t done; /* levels from this node on are given back */
	struct cover rescue; /* when there was no time for another */
	struct arena *rescue_arena;
	bool tried_rescue, rescued;
	cost_ns dropped; /* least bound of what a beam dropped */
	struct label **pool; /* labels of one node, for the beam */
	uint32_t pool_cap;
};

bool
backward_handles(const struct problem *p)
{
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->target[t].max_run_nodes != NO_LIMIT
		    || p->target[t].fed_only)
			return false;
	return p->ntracked <= 1;
}

static bool
take_resources(struct backward_dp *s, const struct transition *m,
    const struct label *from, uint64_t *used)
{
	const struct frontier *f = &s->frontier;
	uint32_t owner = target_owner(f->p, m->candidate->target);

	for (uint32_t i = 0; i < f->ncapped; i++) {
		uint64_t capacity = f->p->target[f->capped[i]].capacity;

		used[i] = from->used ? from->used[i] : 0;
		if (f->capped[i] != owner)
			continue;
		if (m->candidate->resource > capacity - used[i])
			return false;
		used[i] += m->candidate->resource;
	}
	return true;
}

static void
keep(struct backward_dp *s, struct group *g, const struct label *from,
    const struct label *l)
{
	struct backward_keeper *k = s->limits->keeper;

	k->add(k->context, g, from, l);
}

/* Make the label that has the candidate at `pos`, or from there on. */
static bool
put(struct backward_dp *s, const struct transition *m, const struct label *from,
    uint32_t pos, bool unplaced)
{
	struct label *to = s->work;
	const struct frontier *f = &s->frontier;
	uint64_t used[TARGETS_MAX];

	to->parent = from->trace;
	to->candidate = m->id;
	to->pos = pos;
	to->unplaced = unplaced;
	to->runs = from->runs;
	to->cost = cost_add(from->cost, m->candidate->cost);
	to->used = used;
	if (f->tracked != NO_LIMIT) {
		const struct problem_target *t = &f->p->target[f->tracked];

		for (; to->runs < (pos + 1) / 2; to->runs++)
			to->cost = cost_add(to->cost, t->launch);
		if (to->runs > t->max_runs)
			return false;
	}
	if (!take_resources(s, m, from, used)
	    || !transfers_move(&s->frontier, m, from, to))
		return false;
	if (s->limits->keeper) {
		keep(s, m->to, from, to);
		s->frontier.nlabels++;
		return true;
	}
	to->bound = bound_label(&s->bound, m->to, to);
	frontier_add(&s->frontier, m->to, to);
	return to->bound < f->upper;
}

static uint32_t
least_pos(const struct transition *m, const struct label *from)
{
	uint32_t pos = 0;

	for (uint32_t i = 0; i < m->nproduced; i++)
		if (from->entry[m->produced[i]].pos > pos)
			pos = from->entry[m->produced[i]].pos;
	return pos;
}

static uint32_t
most_pos(const struct transition *m, const struct label *from)
{
	uint32_t pos = UINT32_MAX;

	for (uint32_t i = 0; i < m->nearly_read; i++)
		if (from->entry[m->early_item[i]].pos < pos)
			pos = from->entry[m->early_item[i]].pos;
	return pos;
}

/* All places for the candidate that no other is at least as good as: the lowest
 * one, unless values leave it early; then a higher place may be needed for
 * their users, even above runs that are not there yet. What reads local formats
 * may share them with others there, or floats. */
static void
apply(
    struct backward_dp *s, const struct transition *m, const struct label *from)
{
	const struct frontier *f = &s->frontier;
	bool tracked = m->candidate->target == f->tracked;
	uint32_t most = most_pos(m, from), pos = least_pos(m, from), left;

	if (f->tracked == NO_LIMIT) {
		put(s, m, from, 0, false);
		return;
	}
	pos += (pos & 1) != tracked;
	if (m->may_be_unplaced) {
		put(s, m, from, pos, true);
		if (transfers_wait_at(m, from, pos))
			put(s, m, from, pos, false);
		return;
	}
	left = m->nleft;
	for (; pos <= most; pos += 2) {
		bool more = (pos + 1) / 2 > from->runs;

		if (!put(s, m, from, pos, false) && more)
			return;
		if (!(m->early_bits || m->reads_local) || (more && left-- == 0))
			return;
	}
}

/* Room for a label with so many live values. */
static void
make_work(struct backward_dp *s, uint32_t nitems)
{
	if (s->work && nitems <= s->work_room)
		return;
	s->work_room = 2 * nitems;
	s->work = arena_alloc(s->frontier.arena,
	    sizeof(struct label) + s->work_room * sizeof(struct live_backward));
}

static cost_ns
least_bound(const struct group *g)
{
	cost_ns least = COST_NEVER;

	for (uint32_t i = 0; i < g->nlabels; i++)
		if (g->label[i]->bound < least)
			least = g->label[i]->bound;
	return least;
}

/* Is a label's bound one of prices, which a candidate adds its excess to? Where
 * shares say more, the excess is none on top of them. */
static bool
is_by_prices(const struct group *g, const struct label *l)
{
	return l->bound > cost_add(l->cost, g->rest);
}

static bool
all_by_prices(const struct group *g)
{
	for (uint32_t i = 0; i < g->nlabels; i++)
		if (!is_by_prices(g, g->label[i]))
			return false;
	return true;
}

static int
by_bound(const void *a, const void *b)
{
	const struct label *x = *(struct label *const *)a;
	const struct label *y = *(struct label *const *)b;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return x->age < y->age ? -1 : x->age > y->age;
}

/* Keep the best labels over all groups of a node. */
static void
trim(struct backward_dp *s, struct group *first)
{
	const struct label *last;
	uint32_t n = 0;

	for (struct group *g = first; g; g = g->next) {
		if (g->nlabels == 0)
			continue;
		s->pool = arena_grow(s->frontier.arena, s->pool, &s->pool_cap,
		    n + g->nlabels, sizeof(struct label *));
		memcpy(
		    &s->pool[n], g->label, g->nlabels * sizeof(struct label *));
		n += g->nlabels;
	}
	if (n <= s->beam)
		return;
	qsort(s->pool, n, sizeof(struct label *), by_bound);
	last = s->pool[s->beam - 1];
	if (s->pool[s->beam]->bound < s->dropped)
		s->dropped = s->pool[s->beam]->bound;
	for (struct group *g = first; g; g = g->next) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < g->nlabels; i++)
			if (by_bound(&g->label[i], &last) <= 0)
				g->label[kept++] = g->label[i];
			else
				frontier_drop(&s->frontier, g, g->label[i]);
		g->nlabels = kept;
	}
}

/* Bytes of all that is kept, and a reserve for what is made until the next look. */
static size_t
bytes_of(const struct backward_dp *s)
{
	size_t bytes = s->frontier.arena->bytes + groups_bytes(&s->groups)
	    + (s->limits->keeper ? s->limits->keeper->arena->bytes : 0);

	return bytes + bytes / MEMORY_RESERVE;
}

/* Labels as large as those of this group may be as many as an eighth of the memory
 * holds: those of a few levels, and what was dropped of each. */
static uint32_t
late_beam(const struct backward_dp *s, const struct group *g)
{
	size_t most = s->limits->budget.bytes / 8
	    / (label_bytes(g) + bound_group_bytes(g));

	return most > BEAM_LATE ? BEAM_LATE
	    : most < BEAM_LAST  ? BEAM_LAST
	                        : (uint32_t)most;
}

/* Out of time without a cover: is there one that can be had at once? */
static bool
is_rescued(struct backward_dp *s)
{
	if (!s->tried_rescue && !s->limits->keeper)
		s->rescued =
		    interval_cover(&s->rescue, s->frontier.p, s->rescue_arena);
	s->tried_rescue = true;
	return s->rescued;
}

/* Narrow the run to the best labels from this group on, or end it when the
 * time is up and a cover is known. */
static void
mind_budget(struct backward_dp *s, struct group *g)
{
	const struct budget *b = &s->limits->budget;

	assert(!s->rescued || s->tried_rescue);
	s->untimed = 0;
	if (budget_is_over(b)) {
		s->over = s->limits->upper != COST_NEVER || is_rescued(s);
		if (s->beam == 0 || s->beam > BEAM_LAST)
			s->beam = BEAM_LAST;
	} else if (s->beam == 0 && budget_is_short(b, bytes_of(s))) {
		s->beam = g ? late_beam(s, g) : BEAM_LATE;
	}
	if (s->beam > 0)
		trim(s, g);
}

/* Once memory has run out, levels below must not fill it either. */
static void
mind_level(struct backward_dp *s, const struct group *to)
{
	if (s->beam > 0 && bytes_of(s) > s->limits->budget.bytes
	    && s->limits->budget.bytes)
		trim(s, groups_at(&s->groups, to->top));
}

/* Work for a label with so many live values, in labels with a few. */
static uint32_t
effort(const struct group *g)
{
	return 1 + g->nitems / VALUES_PER_LABEL;
}

static void
expand(struct backward_dp *s, struct group *g)
{
	const struct problem *p = s->frontier.p;
	const struct dual *dual = s->limits->dual;
	cost_ns least = least_bound(g), upper = s->frontier.upper;
	bool priced = dual && all_by_prices(g);

	if (g->nlabels == 0)
		return;
	if (!s->limits->keeper)
		VERIFY(group_verify(&s->frontier, g));
	for (uint32_t k = p->high_start[g->top]; k < p->high_start[g->top + 1];
	     k++) {
		uint32_t c = p->high[k];
		cost_ns excess = dual ? dual->excess[c] : 0;
		const struct transition *m;

		if ((s->cheapest && s->cheapest[p->equivalent[c]] != c)
		    || (priced && cost_add(least, excess) >= upper))
			continue;
		m = transition_make(&s->groups, g, c);
		s->untimed += g->nitems / VALUES_PER_LABEL;
		if (!m)
			continue;
		make_work(s, m->to->nitems);
		assert(m->to->nitems <= s->work_room);
		if (!m->to->bounded) {
			m->to->bounded = true;
			bound_group(&s->bound, m->to);
		}
		for (uint32_t i = 0; i < g->nlabels && !s->over; i++) {
			const struct label *l = g->label[i];

			if (!is_by_prices(g, l)
			    || cost_add(l->bound, excess) < upper)
				apply(s, m, l);
			s->untimed += effort(g);
			if (s->untimed >= LOOK_EVERY) {
				mind_budget(s, g);
				mind_level(s, m->to);
			}
		}
	}
}

/* What was not expanded costs at least this. */
static void
drop_rest(struct backward_dp *s, uint32_t top)
{
	for (uint32_t t = top + 1; t-- > 0;)
		for (struct group *g = groups_at(&s->groups, t); g; g = g->next)
			if (least_bound(g) < s->dropped)
				s->dropped = least_bound(g);
}

/* More than `rate` (0: no limit) for each of so many nodes, and a few to begin with? */
static bool
is_beyond(uint64_t n, uint32_t rate, uint32_t ndone)
{
	return rate && n > (uint64_t)rate * (ndone + 64);
}

/* Is the graph too wide for a run like this? */
static bool
gives_up(const struct backward_dp *s, uint32_t ndone)
{
	const struct backward_limits *l = s->limits;

	if (l->keeper
	    && (s->beam
	        || (l->budget.bytes
	            && l->keeper->arena->bytes > l->budget.bytes / 4)))
		return true;
	return is_beyond(s->frontier.nlabels, l->max_rate, ndone)
	    || is_beyond(s->frontier.ncompared, l->max_compared, ndone);
}

static bool
start(struct backward_dp *s)
{
	const struct problem *p = s->frontier.p;
	struct group *g = groups_first(&s->groups);
	struct label *l = s->work;
	static uint64_t none[TARGETS_MAX];

	memset(l, 0, sizeof *l);
	l->candidate = UINT32_MAX;
	l->used = none;
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (p->value[v].producer == NO_NODE
		    && p->user_start[v] == p->user_start[v + 1])
			l->cost = cost_add(l->cost,
			    convert_cost(s->frontier.memo, p->value[v].class,
			        p->value[v].initial, p->value[v].required));
	bound_group(&s->bound, g);
	l->bound = bound_label(&s->bound, g, l);
	if (l->cost != COST_NEVER && s->limits->keeper) {
		keep(s, g, NULL, l);
		return true;
	}
	return l->cost != COST_NEVER && frontier_add(&s->frontier, g, l);
}

/* Over repeated blocks, once the run is long enough to gain by that. */
static uint32_t
extrapolate(struct backward_dp *s, uint32_t top)
{
	if (!s->extrapolations.looked
	    && s->frontier.nlabels >= s->limits->extrapolate_after)
		extrapolations_look(&s->extrapolations, top);
	return extrapolations_try(&s->extrapolations, top);
}

/* The levels from `top` up have been expanded: give them back, but for those the
 * next look for a period compares. */
static void
forget_above(struct backward_dp *s, uint32_t top)
{
	uint32_t hold = extrapolations_hold(&s->extrapolations);

	while (s->done > top && (hold == NO_NODE || s->done - 1 > hold))
		groups_forget(&s->groups, --s->done);
}

/* False: the graph turned out to be too wide. */
static bool
expand_level(struct backward_dp *s, struct group *g, uint32_t ndone)
{
	for (; g && !s->over; g = g->next) {
		if (gives_up(s, ndone))
			return false;
		expand(s, g);
	}
	return true;
}

static void
run(struct search_result *out, struct backward_dp *s, struct arena *a)
{
	const struct problem *p = s->frontier.p;
	struct group *last;

	s->done = p->nnodes;
	for (uint32_t top = p->nnodes; top-- > 0;) {
		struct group *g;

		if (s->extrapolations.allowed && s->beam == 0)
			top = extrapolate(s, top);
		s->frontier.holds =
		    extrapolations_hold(&s->extrapolations) != NO_NODE;
		g = groups_at(&s->groups, top);
		mind_budget(s, g);
		if (!expand_level(s, g, p->nnodes - 1 - top)) {
			s->dropped = 0;
			return;
		}
		if (s->over) {
			drop_rest(s, top);
			out->found = s->rescued;
			out->cover = s->rescue;
			return;
		}
		forget_above(s, top);
	}
	if (s->limits->keeper) {
		s->limits->keeper->complete =
		    s->beam == 0 && !s->groups.overflowed;
		return;
	}
	last = groups_at(&s->groups, NO_NODE);
	if (last && last->nlabels > 0) {
		reconstruct(&out->cover, p, s->extrapolations.list,
		    last->label[0]->trace, a);
		assert(out->cover.cost <= last->label[0]->cost);
		out->found = true;
	}
}

static void
find_special_targets(struct frontier *f, const struct problem *p)
{
	uint32_t *capped = arena_new(f->arena, uint32_t, p->ntargets);

	f->tracked = NO_LIMIT;
	for (uint32_t t = 0; t < p->ntargets; t++) {
		if (p->tracked[t])
			f->tracked = t;
		if (p->target[t].capacity != UINT64_MAX)
			capped[f->ncapped++] = t;
	}
	f->capped = capped;
}

void
backward_dp(struct search_result *out, const struct problem *p,
    const struct backward_limits *limits, struct arena *a)
{
	static const struct split_readers none;
	const struct split_readers *split =
	    limits->split ? limits->split : &none;
	struct arena space;
	struct backward_dp s = {
	    .limits = limits, .rescue_arena = a, .dropped = COST_NEVER};

	*out = (struct search_result){.searcher = "backward", .why = ""};
	assert(backward_handles(p));
	arena_init(&space);
	s.frontier = (struct frontier){.p = p,
	    .arena = &space,
	    .memo = limits->memo,
	    .upper = limits->upper};
	s.beam = limits->beam;
	find_special_targets(&s.frontier, p);
	transfer_sets_init(&s.frontier.transferred, &space);
	groups_init(&s.groups, p, split, &space);
	bound_init(&s.bound, p, &s.frontier.transferred, limits->dual, &space);
	s.bound.split = split;
	s.bound.multiplier = limits->multiplier;
	for (uint32_t i = 0; limits->multiplier && i < s.frontier.ncapped; i++)
		if (s.frontier.capped[i] == limits->multiplier->target)
			s.bound.multiplier_slot = i;
	extrapolations_init(
	    &s.extrapolations, &s.frontier, &s.groups, &s.bound);
	/* Prices and upper bounds are not the same in every block. */
	s.extrapolations.allowed &=
	    !limits->dual && !limits->keeper && limits->upper == COST_NEVER;
	if (!limits->keeper)
		s.cheapest = equivalents_cheapest(p, &space);
	make_work(&s, 0);
	if (start(&s))
		run(out, &s, a);
	out->labels = s.frontier.nlabels;
	out->lower_bound = out->found ? out->cover.cost : limits->upper;
	out->proven = s.dropped >= out->lower_bound && !s.groups.overflowed;
	if (s.dropped < out->lower_bound)
		out->lower_bound = s.dropped;
	if (s.groups.overflowed)
		out->lower_bound = 0;
	groups_release(&s.groups);
	arena_release(&space);
}
