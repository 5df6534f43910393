/* "Did you mean": the known name that is most like what was written. */
#ifndef IR_BASE_NEAREST_H
#define IR_BASE_NEAREST_H

#include <stddef.h>

#include "ir/base/arena.h"

/* The best so far; begin with {.word = what was written}. */
struct nearest {
	const char *word;
	const char *name; /* the nearest, borrowed; NULL: none is near */
	size_t distance;
};

/* Look at one more name. */
void nearest_try(struct nearest *n, const char *name);

/* "; did you mean 'x'?", or "" when nothing is near. */
const char *nearest_text(const struct nearest *n, struct arena *a);

#endif
