#include "search/transfer_sets.h"

#include <assert.h>
#include <string.h>

void
transfer_sets_init(struct transfer_sets *e, struct arena *a)
{
	*e = (struct transfer_sets){.arena = a, .n = 1};
	e->set = arena_grow(a, NULL, &e->cap, 1, sizeof *e->set);
	e->set[TRANSFERS_NONE] =
	    (struct transfer_set){0, arena_new(a, struct transfer_point, 1)};
	map_init(&e->index, a);
}

static bool
is_before(struct transfer_point a, struct transfer_point b)
{
	return a.pos != b.pos ? a.pos < b.pos : a.format < b.format;
}

/* Of the first point that is not before x. */
static uint32_t
place_of(const struct transfer_set *s, struct transfer_point x)
{
	uint32_t i = 0;

	while (i < s->n && is_before(s->point[i], x))
		i++;
	return i;
}

bool
transfer_set_has(
    const struct transfer_sets *e, uint32_t set, struct transfer_point x)
{
	const struct transfer_set *s = &e->set[set];
	uint32_t i = place_of(s, x);

	return i < s->n && !is_before(x, s->point[i]);
}

uint32_t
transfer_set_add(struct transfer_sets *e, uint32_t set, struct transfer_point x)
{
	uint32_t n = e->set[set].n, at = place_of(&e->set[set], x), found;
	size_t bytes = ((size_t)n + 1) * sizeof x;
	struct arena_mark mark = arena_mark(e->arena);
	struct transfer_point *point;

	if (transfer_set_has(e, set, x))
		return set;
	point = arena_new(e->arena, struct transfer_point, n + 1);
	memcpy(point, e->set[set].point, at * sizeof x);
	assert(at <= n && e->set[set].n == n);
	point[at] = x;
	memcpy(&point[at + 1], &e->set[set].point[at], (n - at) * sizeof x);
	found = map_find(&e->index, point, bytes);
	if (found != MAP_NONE) {
		arena_back(e->arena, mark);
		return found;
	}
	e->set =
	    arena_grow(e->arena, e->set, &e->cap, e->n + 1, sizeof *e->set);
	e->set[e->n] = (struct transfer_set){n + 1, point};
	map_add(&e->index, point, bytes, e->n);
	return e->n++;
}
