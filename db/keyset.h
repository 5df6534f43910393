/* Keys of subjects in memory, half of each: one that is not among them
 * need not be looked for in a file. */
#ifndef DB_KEYSET_H
#define DB_KEYSET_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct keyset { /* all zero: empty */
	uint32_t *slot; /* [1 << bits] of keys; 0: free, as half of them are */
	uint32_t bits;
	uint32_t n;
	uint64_t seed; /* nobody who writes files knows where keys lie */
	struct arena a;
};

/* Was it there? Some keys (one in thousands) are taken for others that are. */
bool keyset_add(struct keyset *k, int64_t key);

/* Look there soon. */
void keyset_fetch(const struct keyset *k, int64_t key);

/* Make it empty. */
void keyset_clear(struct keyset *k);

#endif
