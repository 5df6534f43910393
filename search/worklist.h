/* Ids that wait for something to be done. Adding is one store, and they are
 * visited in ascending order, as what they stand for lies in memory. */
#ifndef SEARCH_WORKLIST_H
#define SEARCH_WORKLIST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/arena.h"

struct worklist {
	bool *has; /* [n] */
	uint32_t n;
};

static inline struct worklist
worklist_new(struct arena *a, uint32_t nids)
{
	return (struct worklist){arena_new(a, bool, nids), nids};
}

static inline void
worklist_add(struct worklist w, uint32_t id)
{
	w.has[id] = true;
}

static inline void
worklist_remove(struct worklist w, uint32_t id)
{
	w.has[id] = false;
}

/* The first of them from `id` on; w.n: there is none. */
static inline uint32_t
worklist_from(struct worklist w, uint32_t id)
{
	static const bool none[8] = {false};

	while (id + 8 <= w.n && memcmp(&w.has[id], none, 8) == 0)
		id += 8;
	while (id < w.n && !w.has[id])
		id++;
	return id;
}

#endif
