/* How much of anything from outside is taken; limits.def is the list. */
#ifndef IR_BASE_LIMITS_H
#define IR_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/err.h"

enum limit_id {
#define LIMIT(id, most, unit, what) LIMIT_##id,
#include "ir/base/limits.def"
#undef LIMIT
	NLIMIT
};

/* The most that is allowed, in the list's unit. */
uint64_t limit_of(enum limit_id id);

/* ERR_INPUT: `name` is above the limit; always false. */
bool limit_exceeded(enum limit_id id, const char *name, struct err *err);

#endif
