#include "db/idmap.h"

void
idmap_init(struct idmap *m, struct arena *a)
{
	*m = (struct idmap){.arena = a};
	map_init(&m->map, a);
}

bool
idmap_find(const struct idmap *m, db_id from, db_id *to)
{
	uint32_t i = map_find(&m->map, &from, sizeof from);

	if (i != MAP_NONE)
		*to = m->to[i];
	return i != MAP_NONE;
}

void
idmap_add(struct idmap *m, db_id from, db_id to)
{
	m->to = arena_grow(m->arena, m->to, &m->cap, m->n + 1, sizeof *m->to);
	m->to[m->n] = to;
	map_add(&m->map, arena_copy(m->arena, &from, sizeof from), sizeof from,
	    m->n);
	m->n++;
}
