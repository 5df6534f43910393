#include "db/keyset.h"

#include <sys/random.h>

#define FEWEST_BITS 10

/* Not 0. */
static uint32_t
part_of(const struct keyset *k, int64_t key)
{
	const uint32_t part = (uint32_t)((uint64_t)key * k->seed >> 32);

	return part == 0 ? 1 : part;
}

static uint32_t *
place_of(const struct keyset *k, uint32_t part)
{
	const uint32_t mask = (uint32_t)(((uint64_t)1 << k->bits) - 1);
	uint32_t i = part & mask;

	while (k->slot[i] != 0 && k->slot[i] != part)
		i = (i + 1) & mask;
	return &k->slot[i];
}

static void
grow(struct keyset *k)
{
	struct keyset more = {.bits = k->slot ? k->bits + 1 : FEWEST_BITS,
	    .n = k->n,
	    .seed = k->seed};

	if (!k->slot
	    && getrandom(&more.seed, sizeof more.seed, 0) != sizeof more.seed)
		more.seed = 0x9e3779b97f4a7c15u;
	more.seed |= 1;
	arena_init(&more.a);
	more.slot = arena_new(&more.a, uint32_t, (size_t)1 << more.bits);
	for (uint64_t i = 0; k->slot && i < (uint64_t)1 << k->bits; i++)
		if (k->slot[i] != 0)
			*place_of(&more, k->slot[i]) = k->slot[i];
	keyset_clear(k);
	*k = more;
}

bool
keyset_add(struct keyset *k, int64_t key)
{
	uint32_t *slot, part;

	if (!k->slot || 2 * ((uint64_t)k->n + 1) > (uint64_t)1 << k->bits)
		grow(k);
	part = part_of(k, key);
	slot = place_of(k, part);
	if (*slot == part)
		return true;
	*slot = part;
	k->n++;
	return false;
}

void
keyset_fetch(const struct keyset *k, int64_t key)
{
#ifdef __GNUC__
	if (k->slot)
		__builtin_prefetch(
		    &k->slot[part_of(k, key) & (((uint64_t)1 << k->bits) - 1)]);
#endif
}

void
keyset_clear(struct keyset *k)
{
	if (k->slot)
		arena_release(&k->a);
	*k = (struct keyset){.slot = NULL};
}
