#include "cli/match.h"

#include <string.h>

struct side_matcher {
	const struct result_view *a, *b;
	uint32_t *of_a, *of_b;
};

static bool
same_type(const struct side_matcher *m, uint32_t x, uint32_t y)
{
	return strcmp(m->a->node[x].op_type, m->b->node[y].op_type) == 0;
}

static void
pair(struct side_matcher *m, uint32_t x, uint32_t y)
{
	m->of_a[x] = y;
	m->of_b[y] = x;
}

static void
match_refs(struct side_matcher *m)
{
	for (uint32_t x = 0; x < m->a->nnodes; x++) {
		const char *ref = m->a->node[x].ref;
		uint32_t y = map_find(&m->b->by_ref, ref, strlen(ref));

		if (y != MAP_NONE && m->of_b[y] == NO_MATCH)
			pair(m, x, y);
	}
}

/* Labels need not be unique: the first free one of the same operator counts. */
static void
match_labels(struct side_matcher *m, struct arena *scratch)
{
	struct map labels;

	map_init(&labels, scratch);
	for (uint32_t y = m->b->nnodes; y-- > 0;)
		if (m->of_b[y] == NO_MATCH)
			map_add(&labels, m->b->node[y].label,
			    strlen(m->b->node[y].label), y);
	for (uint32_t x = 0; x < m->a->nnodes; x++) {
		const char *label = m->a->node[x].label;
		uint32_t y;

		if (m->of_a[x] != NO_MATCH)
			continue;
		y = map_find(&labels, label, strlen(label));
		if (y != MAP_NONE && m->of_b[y] == NO_MATCH
		    && same_type(m, x, y))
			pair(m, x, y);
	}
}

/* Both lists are in topological order: the gaps between matched nodes are
 * walked side by side. A type that b's gap lacks is one a lost. */
static uint32_t
match_order(struct side_matcher *m)
{
	uint32_t from = 0, n = 0;

	for (uint32_t x = 0; x < m->a->nnodes; x++) {
		uint32_t y = from;

		if (m->of_a[x] != NO_MATCH) {
			if (m->of_a[x] >= from)
				from = m->of_a[x] + 1;
			continue;
		}
		while (y < m->b->nnodes && m->of_b[y] == NO_MATCH
		    && !same_type(m, x, y))
			y++;
		if (y == m->b->nnodes || m->of_b[y] != NO_MATCH)
			continue;
		pair(m, x, y);
		from = y + 1;
		n++;
	}
	return n;
}

static uint32_t
count_free(const uint32_t *match, uint32_t n)
{
	uint32_t free = 0;

	for (uint32_t i = 0; i < n; i++)
		free += match[i] == NO_MATCH;
	return free;
}

void
nodes_match(struct nodes_match *out, const struct result_view *a,
    const struct result_view *b, struct arena *arena)
{
	struct side_matcher m = {a, b, arena_new(arena, uint32_t, a->nnodes),
	    arena_new(arena, uint32_t, b->nnodes)};
	struct arena scratch;

	for (uint32_t x = 0; x < a->nnodes; x++)
		m.of_a[x] = NO_MATCH;
	for (uint32_t y = 0; y < b->nnodes; y++)
		m.of_b[y] = NO_MATCH;
	arena_init(&scratch);
	match_refs(&m);
	match_labels(&m, &scratch);
	arena_release(&scratch);
	*out = (struct nodes_match){
	    .of_a = m.of_a, .of_b = m.of_b, .renamed = match_order(&m)};
	out->nremoved = count_free(m.of_a, a->nnodes);
	out->nadded = count_free(m.of_b, b->nnodes);
}
