#include "cli/diff.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/members.h"
#include "emit/work.h"

/* ---- noise: of measured prices that are not the same on both sides ---- */

/* Estimates are wrong alike on both sides: their ranges count only where they
 * stand against measurements. */
static bool
has_measured(const struct diff *d)
{
	return strstr(d->a->sources, "measured")
	    || strstr(d->b->sources, "measured");
}

static bool
is_measured(const struct view_price *p)
{
	return strcmp(p->source, "measured") == 0;
}

/* One side: its prices by key, and which of its composites have a node whose price
 * the other side takes from another source. */
struct priced {
	const struct result_view *view;
	struct map index;
	struct view_price *price; /* composites first */
	bool *crosses;
	uint32_t n, ncrosses;
};

static struct priced
all_prices(const struct result_view *s, const struct result_view *other,
    const uint32_t *match, struct arena *a)
{
	struct priced p = {.view = s};

	map_init(&p.index, a);
	p.price = arena_new(
	    a, struct view_price, (size_t)s->ncomposites + s->nconversions);
	p.crosses = arena_new(a, bool, s->ncomposites);
	for (uint32_t i = 0; i < s->ncomposites; i++)
		p.price[p.n++] = s->composite[i].price;
	for (uint32_t i = 0; i < s->nconversions; i++)
		p.price[p.n++] = s->conversion[i];
	for (uint32_t i = 0; i < p.n; i++)
		map_add(&p.index, p.price[i].key, strlen(p.price[i].key), i);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		const uint32_t at = s->node[i].composite, k = match[i];
		const struct view_composite *y;

		if (k == NO_MATCH || p.crosses[at])
			continue;
		y = &other->composite[other->node[k].composite];
		p.crosses[at] =
		    strcmp(s->composite[at].price.source, y->price.source);
		p.ncrosses += p.crosses[at];
	}
	return p;
}

/* What a simulator assumes is assumed on both sides: its range counts only of
 * what is priced otherwise there, and of conversions where something is. */
static uint64_t
noise_of(const struct diff *d, const struct priced *x, uint32_t i,
    const struct priced *others)
{
	const struct view_price *p = &x->price[i];
	const uint32_t at = map_find(&others->index, p->key, strlen(p->key));
	const bool crosses =
	    i < x->view->ncomposites ? x->crosses[i] : x->ncrosses > 0;

	if ((p->is_estimate && !has_measured(d))
	    || (!is_measured(p) && !crosses))
		return 0;
	if (at != MAP_NONE && others->price[at].cost == p->cost)
		return 0; /* the same measurement: it cancels out */
	return p->noise;
}

static void
judge(struct diff *d, double threshold, struct arena *arena)
{
	const struct priced a = all_prices(d->a, d->b, d->match.of_a, arena);
	const struct priced b = all_prices(d->b, d->a, d->match.of_b, arena);
	uint64_t within, size;

	for (uint32_t i = 0; i < a.n; i++)
		d->noise += noise_of(d, &a, i, &b);
	for (uint32_t i = 0; i < b.n; i++)
		d->noise += noise_of(d, &b, i, &a);
	d->delta = (int64_t)d->b->cost - (int64_t)d->a->cost;
	within = (uint64_t)(threshold * (double)d->a->cost);
	if (within < d->noise)
		within = d->noise;
	size = (uint64_t)(d->delta < 0 ? -d->delta : d->delta);
	d->verdict = size <= within ? DIFF_SAME
	    : d->delta < 0          ? DIFF_FASTER
	                            : DIFF_SLOWER;
}

/* ---- what differs ---- */

static bool
same_way(const struct view_composite *x, const struct view_composite *y)
{
	return strcmp(x->rule, y->rule) == 0
	    && strcmp(x->implementation, y->implementation) == 0;
}

static void
find_moves(struct diff *d, struct arena *arena)
{
	struct move *list = arena_new(arena, struct move, d->a->nnodes);

	for (uint32_t i = 0; i < d->a->nnodes; i++) {
		const struct view_node *n = &d->a->node[i];
		uint32_t k = d->match.of_a[i];
		const struct view_composite *x, *y;

		if (k == NO_MATCH)
			continue;
		x = &d->a->composite[n->composite];
		y = &d->b->composite[d->b->node[k].composite];
		if (diff_target_in(d->b, d->a, x->target) == y->target) {
			d->nways += !same_way(x, y);
			continue;
		}
		list[d->nmoves] = (struct move){.before = i, .after = k};
		diff_explain(d, &list[d->nmoves++], arena);
	}
	d->move = list;
}

static int
larger_first(const void *x, const void *y)
{
	const struct repriced *a = x, *b = y;
	int64_t p = a->delta < 0 ? -a->delta : a->delta;
	int64_t q = b->delta < 0 ? -b->delta : b->delta;

	if (p != q)
		return p > q ? -1 : 1;
	return a->before < b->before ? -1 : a->before > b->before;
}

static void
find_repriced(struct diff *d, struct arena *arena)
{
	struct repriced *list =
	    arena_new(arena, struct repriced, d->a->ncomposites);
	struct map index;

	map_init(&index, arena);
	for (uint32_t i = 0; i < d->b->ncomposites; i++) {
		const char *key = d->b->composite[i].price.key;

		map_add(&index, key, strlen(key), i);
	}
	for (uint32_t i = 0; i < d->a->ncomposites; i++) {
		const struct view_price *p = &d->a->composite[i].price;
		uint32_t k = map_find(&index, p->key, strlen(p->key));
		int64_t delta;

		if (k == MAP_NONE)
			continue;
		delta =
		    (int64_t)d->b->composite[k].price.cost - (int64_t)p->cost;
		if (delta != 0)
			list[d->nrepriced++] = (struct repriced){i, k, delta};
	}
	if (d->nrepriced > 0)
		qsort(list, d->nrepriced, sizeof *list, larger_first);
	d->repriced = list;
}

/* Facts of targets both mixes have that are not what they were. */
static void
find_facts(struct diff *d, struct arena *arena)
{
	const cJSON *mix_a = member(d->a->result, "mix");
	const cJSON *mix_b = member(d->b->result, "mix"), *t, *fact;
	const char **list = NULL;
	uint32_t cap = 0, i = 0;

	cJSON_ArrayForEach(t, mix_a)
	{
		uint32_t k = diff_target_in(d->b, d->a, i++);
		const cJSON *other = k == UINT32_MAX
		    ? NULL
		    : member(cJSON_GetArrayItem(mix_b, (int)k), "environment");

		if (!other)
			continue;
		cJSON_ArrayForEach(fact, member(t, "environment"))
		{
			const char *now = text_or(other, fact->string, "?");
			const char *was = cJSON_GetStringValue(fact);

			if (!was || strcmp(was, now) == 0)
				continue;
			list = arena_grow(
			    arena, list, &cap, d->nfacts + 1, sizeof *list);
			list[d->nfacts++] =
			    arena_printf(arena, "%s %s: %s -> %s",
			        d->a->target[i - 1], fact->string, was, now);
		}
	}
	d->fact = list;
}

void
diff_make(struct diff *d, const struct result_view *a,
    const struct result_view *b, double threshold, struct arena *arena)
{
	*d = (struct diff){.a = a, .b = b};
	nodes_match(&d->match, a, b, arena);
	judge(d, threshold, arena);
	find_moves(d, arena);
	find_repriced(d, arena);
	find_facts(d, arena);
}

const char *
reason_word(enum reason_of_move r)
{
	static const char *const word[] = {
	    [MOVED_NO_TARGET] = "target",
	    [MOVED_PREDICATE] = "predicate",
	    [MOVED_NO_MATCH] = "pattern",
	    [MOVED_CONSTRAINT] = "constraint",
	    [MOVED_PRICE] = "price",
	    [MOVED_NOISE] = "noise",
	    [MOVED_UNKNOWN] = "unknown",
	};

	return word[r];
}

const char *
verdict_word(enum verdict_of_diff v)
{
	static const char *const word[] = {
	    [DIFF_SAME] = "same",
	    [DIFF_FASTER] = "faster",
	    [DIFF_SLOWER] = "slower",
	};

	return word[v];
}
