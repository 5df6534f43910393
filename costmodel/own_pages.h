/* The memory that was made meanwhile: what a kernel keeps, wherever its library has
 * put it (packed weights, tables), found without asking the library. */
#ifndef COSTMODEL_OWN_PAGES_H
#define COSTMODEL_OWN_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/* A stretch of memory. */
struct touched {
	const void *at;
	size_t bytes;
};

#define OTHERS_MAX 8

struct own_pages {
	const struct arena *other[OTHERS_MAX]; /* [nothers] */
	uint32_t nothers;
	struct arena arena;
	struct pages_then *then; /* NULL: it could not be seen what there was */
	struct touched *piece; /* [n] */
	uint32_t n, cap;
	bool found; /* piece[] is all there is */
};

void own_pages_init(struct own_pages *p);
void own_pages_release(struct own_pages *p);

/* What lies there never is what a kernel keeps: it is not looked at, which would take
 * long where it is much. At most OTHERS_MAX of them. */
void own_pages_without(struct own_pages *p, const struct arena *a);

/* From now on. What was given back before is given back to the system, so
 * that it shows when it is used again. */
void own_pages_begin(struct own_pages *p);

/* This counts, too: it was there before. */
void own_pages_add(struct own_pages *p, const void *at, size_t bytes);

/* Until now: `found` and the pieces are set, unless they are. */
void own_pages_end(struct own_pages *p);

/* Is all of it still mapped? */
bool own_pages_mapped(const struct touched *piece);

#endif
