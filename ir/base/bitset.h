/* Fixed-size sets of small integers. Words are public: search walks them. */
#ifndef IR_BASE_BITSET_H
#define IR_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/arena.h"

struct bitset {
	uint64_t *word;
	uint32_t nwords;
};

static inline struct bitset
bitset_new(struct arena *a, uint32_t nbits)
{
	uint32_t n = nbits / 64 + 1;

	return (struct bitset){arena_new(a, uint64_t, n), n};
}

static inline bool
bitset_has(struct bitset s, uint32_t i)
{
	return s.word[i / 64] >> (i % 64) & 1;
}

static inline void
bitset_add(struct bitset s, uint32_t i)
{
	s.word[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void
bitset_remove(struct bitset s, uint32_t i)
{
	s.word[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline void
bitset_clear(struct bitset s)
{
	memset(s.word, 0, s.nwords * sizeof *s.word);
}

/* a |= b; same size. */
static inline void
bitset_or(struct bitset a, struct bitset b)
{
	for (uint32_t i = 0; i < a.nwords; i++)
		a.word[i] |= b.word[i];
}

/* Do a and b share a member? Same size. */
static inline bool
bitset_meets(struct bitset a, struct bitset b)
{
	for (uint32_t i = 0; i < a.nwords; i++)
		if (a.word[i] & b.word[i])
			return true;
	return false;
}

/* Is every member of a in b? Same size. */
static inline bool
bitset_within(struct bitset a, struct bitset b)
{
	for (uint32_t i = 0; i < a.nwords; i++)
		if (a.word[i] & ~b.word[i])
			return false;
	return true;
}

static inline bool
bitset_equal(struct bitset a, struct bitset b)
{
	return memcmp(a.word, b.word, a.nwords * sizeof *a.word) == 0;
}

#endif
