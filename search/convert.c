#include "search/convert.h"

#include <assert.h>
#include <string.h>

#include "search/mask.h"

/* Dreyfus-Wagner over formats. tree[S][x] = cheapest tree rooted at format x
 * that reaches the demanded formats S; S counts the demanded ones only. */
struct steiner {
	uint32_t nformats, nneeded;
	uint32_t local; /* never on the way to others */
	uint32_t needed[DEMANDS_MAX];
	cost_ns *way; /* [from][to], closed over detours */
	cost_ns *tree; /* [1 << nneeded][nformats] */
};

static cost_ns *
way(const struct steiner *s, uint32_t from, uint32_t to)
{
	return &s->way[(size_t)from * s->nformats + to];
}

static cost_ns *
tree(const struct steiner *s, uint32_t set, uint32_t root)
{
	return &s->tree[(size_t)set * s->nformats + root];
}

/* Ways to a local format end where it can be entered from. */
static void
close_local(cost_ns *way, const struct problem *p, uint32_t class, uint32_t to)
{
	uint32_t n = p->nformats, enter = transfer_formats(p, class, to);

	for (uint32_t from = 0; from < n; from++)
		for (uint32_t f = 0; f < n; f++)
			if (enter >> f & 1
			    && way[from * n + f] < way[from * n + to])
				way[from * n + to] = way[from * n + f];
}

/* Floyd-Warshall: the cheapest ways between formats, [from][to]. */
static cost_ns *
close_ways(const struct problem *p, uint32_t class, struct arena *a)
{
	uint32_t n = p->nformats;
	cost_ns *way = arena_new(a, cost_ns, (size_t)n * n);

	for (uint32_t f = 0; f < n; f++)
		for (uint32_t t = 0; t < n; t++)
			way[f * n + t] = p->local >> t & 1
			    ? COST_NEVER
			    : conversion_cost(p, class, f, t);
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t f = 0; f < n; f++) {
			cost_ns to_k = way[f * n + k];

			for (uint32_t t = 0;
			     f != k && to_k != COST_NEVER && t < n; t++) {
				cost_ns c = cost_add(to_k, way[k * n + t]);

				if (c < way[f * n + t])
					way[f * n + t] = c;
			}
		}
	for (uint32_t t = 0; t < n; t++)
		if (p->local >> t & 1)
			close_local(way, p, class, t);
	return way;
}

static void
grow(struct steiner *s, uint32_t set)
{
	uint32_t n = s->nformats;

	for (uint32_t x = 0; x < n; x++)
		for (uint32_t half = (set - 1) & set; half;
		     half = (half - 1) & set) {
			cost_ns c = cost_add(
			    *tree(s, half, x), *tree(s, set & ~half, x));

			if (c < *tree(s, set, x))
				*tree(s, set, x) = c;
		}
	/* Ways are closed, so one relaxation is enough, in place or not. */
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = 0; y < n; y++) {
			cost_ns c = s->local >> y & 1
			    ? COST_NEVER
			    : cost_add(*way(s, x, y), *tree(s, set, y));

			if (c < *tree(s, set, x))
				*tree(s, set, x) = c;
		}
}

static void
plant(struct steiner *s, uint32_t need, struct arena *a)
{
	uint32_t sets;

	assert(mask_count(need) <= DEMANDS_MAX);
	for (uint32_t f; mask_next(&need, &f);)
		s->needed[s->nneeded++] = f;
	assert(s->nneeded <= DEMANDS_MAX);
	sets = UINT32_C(1) << s->nneeded;
	s->tree = arena_new(a, cost_ns, (size_t)sets * s->nformats);
	for (uint32_t set = 1; set < sets; set++)
		for (uint32_t x = 0; x < s->nformats; x++)
			*tree(s, set, x) = COST_NEVER;
	for (uint32_t i = 0; i < s->nneeded; i++)
		for (uint32_t x = 0; x < s->nformats; x++)
			*tree(s, UINT32_C(1) << i, x) =
			    *way(s, x, s->needed[i]);
	for (uint32_t set = 1; set < sets; set++)
		grow(s, set);
}

/* Best split of the whole demand over several roots: best[S]. */
static cost_ns
over_roots(const struct steiner *s, uint32_t have, uint32_t set)
{
	cost_ns best[1 << DEMANDS_MAX];

	best[0] = 0;
	for (uint32_t t = 1; t <= set; t++) {
		best[t] = COST_NEVER;
		for (uint32_t part = t; part; part = (part - 1) & t)
			for (uint32_t x = 0; x < s->nformats; x++) {
				cost_ns c;

				if (!(have >> x & 1))
					continue;
				c = cost_add(
				    *tree(s, part, x), best[t & ~part]);
				if (c < best[t])
					best[t] = c;
			}
	}
	return best[set];
}

static cost_ns
solve(struct converter_memo *m, uint32_t class, uint32_t have, uint32_t need)
{
	struct arena_mark mark = arena_mark(m->arena);
	struct steiner s = {.nformats = m->p->nformats,
	    .local = m->p->local,
	    .way = m->closed[class]};
	cost_ns c;

	plant(&s, need, m->arena);
	c = over_roots(&s, have, (UINT32_C(1) << s.nneeded) - 1);
	arena_back(m->arena, mark);
	return c;
}

/* The cheapest way from any of the formats in `have` to the one in `need`. */
static cost_ns
one_way(const cost_ns *way, uint32_t nformats, uint32_t have, uint32_t need)
{
	cost_ns best = COST_NEVER;
	uint32_t to = mask_lowest(need);

	for (uint32_t from; mask_next(&have, &from);)
		if (way[from * nformats + to] < best)
			best = way[from * nformats + to];
	return best;
}

void
convert_init(struct converter_memo *m, const struct problem *p, struct arena *a)
{
	*m = (struct converter_memo){.p = p, .arena = a};
	map_init(&m->index, a);
	m->closed = arena_new(a, cost_ns *, p->nclasses);
}

cost_ns
convert_cost(
    struct converter_memo *m, uint32_t class, uint32_t have, uint32_t need)
{
	uint32_t key[3] = {class, have, need & ~(have & ~m->p->local)}, at;

	if (key[2] == 0)
		return 0;
	if (class == NO_CLASS)
		return COST_NEVER;
	assert(class < m->p->nclasses);
	if (!m->closed[class])
		m->closed[class] = close_ways(m->p, class, m->arena);
	if ((key[2] & (key[2] - 1)) == 0)
		return one_way(m->closed[class], m->p->nformats, have, key[2]);
	at = map_find(&m->index, key, sizeof key);
	if (at != MAP_NONE)
		return m->cost[at];
	m->cost = arena_grow(
	    m->arena, m->cost, &m->cap, m->ncosts + 1, sizeof *m->cost);
	m->cost[m->ncosts] = solve(m, class, have, key[2]);
	map_add(&m->index, arena_copy(m->arena, key, sizeof key), sizeof key,
	    m->ncosts);
	return m->cost[m->ncosts++];
}

/* The first step in (from, to) order that the cheapest tree can start with: its
 * cost plus that of the rest, with one format more in hand, is the tree's. */
static bool
next_step(struct converter_memo *m, uint32_t class, uint32_t have,
    uint32_t need, uint32_t within, struct conversion_step *step)
{
	cost_ns total = convert_cost(m, class, have, need);
	uint32_t n = m->p->nformats;

	within &= ~m->p->local;
	for (uint32_t e = 0; e < n * n; e++) {
		uint32_t from = e / n, to = e % n;
		cost_ns c = conversion_cost(m->p, class, from, to);

		if (!(have >> from & 1) || !((within & ~have) >> to & 1)
		    || c > total)
			continue;
		if (cost_add(c,
		        convert_cost(m, class, have | UINT32_C(1) << to, need))
		    != total)
			continue;
		*step = (struct conversion_step){from, to};
		return true;
	}
	return false;
}

/* What is asked for and not there yet, a local format not until the value can be
 * brought in. */
static uint32_t
missing(const struct problem *p, uint32_t class, uint32_t have, uint32_t need)
{
	uint32_t left = need & ~(have & ~p->local);

	for (uint32_t rest = left & p->local, f; mask_next(&rest, &f);)
		if (transfer_formats(p, class, f) & have)
			left &= ~(UINT32_C(1) << f);
	return left;
}

uint32_t
convert_steps(struct converter_memo *m, uint32_t class, uint32_t have,
    uint32_t need, struct conversion_step *step)
{
	uint32_t n = 0, kept = 0, used = need & ~m->p->local, all = have;
	struct conversion_step enter[FORMATS_MAX];
	uint32_t nentered = 0;

	assert(convert_cost(m, class, have, need) != COST_NEVER);
	while (missing(m->p, class, all, need)) {
		/* One that is asked for first: else a step that costs nothing
		 * and leads nowhere could be taken. */
		bool found = next_step(m, class, all, need, need, &step[n])
		    || next_step(m, class, all, need, UINT32_MAX, &step[n]);

		assert(found);
		(void)found;
		all |= UINT32_C(1) << step[n++].to;
	}
	for (uint32_t rest = need & m->p->local, f; mask_next(&rest, &f);) {
		uint32_t from = all & transfer_formats(m->p, class, f);

		from = mask_lowest(from & used ? from & used : from);
		enter[nentered++] = (struct conversion_step){from, f};
		used |= UINT32_C(1) << from;
	}
	for (uint32_t i = n; i-- > 0;)
		if (used >> step[i].to & 1)
			used |= UINT32_C(1) << step[i].from;
	for (uint32_t i = 0; i < n; i++)
		if (used >> step[i].to & 1)
			step[kept++] = step[i];
	for (uint32_t i = 0; i < nentered; i++)
		step[kept++] = enter[i];
	return kept;
}
