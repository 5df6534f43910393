#include "tests/support/pool.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* TUNING: SQLite's parser asks for hundreds of less than that for a statement;
 * larger ones are seldom, and malloc's, whose ends are guarded. */
#define LARGEST 512
#define SMALLEST_BITS 5 /* 32 bytes */
#define NSIZES 5
#define SLAB_BYTES (1 << 20)

/* Before each piece: how large it is. */
union head {
	size_t bytes;
	max_align_t aligned;
};

struct piece {
	struct piece *next;
};

static struct piece *idle[NSIZES]; /* of 32 << i bytes */

static int
class_of(size_t bytes)
{
	int i = 0;

	while (((size_t)1 << (SMALLEST_BITS + i)) < bytes)
		i++;
	return i;
}

static void *
take(size_t bytes)
{
	static char *slab;
	static size_t left;
	const size_t n = bytes + sizeof(union head);
	void *at;

	if (left < n) {
		slab = malloc(SLAB_BYTES);
		left = slab ? SLAB_BYTES : 0;
	}
	if (left < n)
		return NULL;
	at = slab;
	slab += n;
	left -= n;
	return at;
}

static void *
pool_alloc(int n)
{
	const size_t bytes = n > LARGEST
	    ? (size_t)n
	    : (size_t)1 << (SMALLEST_BITS + class_of((size_t)n));
	union head *head;
	struct piece *p;

	if (n <= LARGEST && (p = idle[class_of(bytes)])) {
		idle[class_of(bytes)] = p->next;
		return p;
	}
	head = n > LARGEST ? malloc(sizeof *head + bytes) : take(bytes);
	if (!head)
		return NULL;
	head->bytes = bytes;
	return head + 1;
}

static int
pool_size(void *p)
{
	return p ? (int)((union head *)p - 1)->bytes : 0;
}

static void
pool_free(void *p)
{
	struct piece *piece = p;
	int i;

	if (!p)
		return;
	if (pool_size(p) > LARGEST) {
		free((union head *)p - 1);
		return;
	}
	i = class_of((size_t)pool_size(p));
	piece->next = idle[i];
	idle[i] = piece;
}

static void *
pool_resize(void *p, int n)
{
	const int was = pool_size(p);
	void *more;

	if (n <= was && was <= LARGEST)
		return p;
	more = pool_alloc(n);
	if (!more)
		return NULL;
	memcpy(more, p, (size_t)(was < n ? was : n));
	pool_free(p);
	return more;
}

static int
pool_round(int n)
{
	return (n + 7) & ~7;
}

static int
pool_begin(void *unused)
{
	(void)unused;
	return SQLITE_OK;
}

static void
pool_end(void *unused)
{
	(void)unused;
}

bool
pool_for_sqlite(void)
{
	static const sqlite3_mem_methods methods = {
	    .xMalloc = pool_alloc,
	    .xFree = pool_free,
	    .xRealloc = pool_resize,
	    .xSize = pool_size,
	    .xRoundup = pool_round,
	    .xInit = pool_begin,
	    .xShutdown = pool_end,
	};

	return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}
