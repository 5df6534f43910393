#include "ir/base/map.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "ir/base/hash.h"

struct map_slot {
	const void *key; /* NULL: free */
	size_t n;
	uint64_t hash;
	uint32_t value;
};

static uint64_t
process_seed(void)
{
	static _Atomic uint64_t seed;
	uint64_t s = atomic_load(&seed), expected = 0;

	if (s)
		return s;
	if (getrandom(&s, sizeof s, GRND_NONBLOCK) != sizeof s || s == 0)
		s = 0x9e3779b97f4a7c15u;
	if (!atomic_compare_exchange_strong(&seed, &expected, s))
		s = expected;
	return s;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct map_slot *
probe(const struct map *m, const void *key, size_t n, uint64_t hash)
{
	uint32_t mask = m->nslots - 1, i = (uint32_t)hash & mask;

	for (;; i = (i + 1) & mask) {
		struct map_slot *s = &m->slot[i];

		if (!s->key)
			return s;
		if (s->hash == hash && s->n == n && memcmp(s->key, key, n) == 0)
			return s;
	}
}

static void
rehash(struct map *m, uint32_t nslots)
{
	struct map_slot *old = m->slot;
	uint32_t n = m->nslots;

	m->slot = arena_new(m->arena, struct map_slot, nslots);
	m->nslots = nslots;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].key)
			*probe(m, old[i].key, old[i].n, old[i].hash) = old[i];
	if (n)
		arena_drop(m->arena, old, n * sizeof *old);
}

/* The slot for a key, filled with MAP_NONE when it is new. */
static struct map_slot *
claim(struct map *m, const void *key, size_t n)
{
	uint64_t hash = hash64(key, n, process_seed());
	struct map_slot *s;

	if (2 * (m->nkeys + 1) > m->nslots)
		rehash(m, m->nslots ? 2 * m->nslots : 16);
	s = probe(m, key, n, hash);
	if (!s->key) {
		*s = (struct map_slot){key, n, hash, MAP_NONE};
		m->nkeys++;
	}
	return s;
}

void
map_init(struct map *m, struct arena *arena)
{
	*m = (struct map){.arena = arena};
}

void
map_drop(struct map *m)
{
	if (m->nslots)
		arena_drop(m->arena, m->slot, m->nslots * sizeof *m->slot);
	map_init(m, m->arena);
}

uint32_t
map_find(const struct map *m, const void *key, size_t n)
{
	const struct map_slot *s;

	if (m->nslots == 0)
		return MAP_NONE;
	s = probe(m, key, n, hash64(key, n, process_seed()));
	return s->key ? s->value : MAP_NONE;
}

uint32_t
map_add(struct map *m, const void *key, size_t n, uint32_t value)
{
	struct map_slot *s = claim(m, key, n);

	if (s->value == MAP_NONE)
		s->value = value;
	return s->value;
}

void
map_put(struct map *m, const void *key, size_t n, uint32_t value)
{
	claim(m, key, n)->value = value;
}
