/* Hash map from byte strings to uint32. Keys are borrowed, not copied: they
 * must outlive the map (intern them in the same arena). Seeded per process, so
 * a hostile file cannot choose collisions; nothing may depend on slot order,
 * and there is no way to walk the slots. */
#ifndef IR_BASE_MAP_H
#define IR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

#define MAP_NONE UINT32_MAX

struct map_slot;

struct map {
	struct arena *arena;
	struct map_slot *slot;
	uint32_t nslots, nkeys;
};

void map_init(struct map *m, struct arena *arena);

/* Nobody asks it any more: its memory goes back as arena_drop() says. */
void map_drop(struct map *m);

/* The value stored under a key, or MAP_NONE. */
uint32_t map_find(const struct map *m, const void *key, size_t n);

/* Store `value` under a key unless the key is there; the value now stored. */
uint32_t map_add(struct map *m, const void *key, size_t n, uint32_t value);

/* Store, replacing what was there. */
void map_put(struct map *m, const void *key, size_t n, uint32_t value);

#endif
