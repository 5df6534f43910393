/* Warnings: what was accepted but should be known. Collected in order where
 * they are seen, printed once, in cli/ (or put into the result). */
#ifndef IR_BASE_NOTES_H
#define IR_BASE_NOTES_H

#include <stdarg.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct notes {
	struct arena *arena;
	const char **text; /* [n], one line each */
	uint32_t n, cap;
	/* of the first that is against the standard, its text and the rule
	 * that accepts it (ir/lenient.h); or NULL */
	const char *lenient, *rule;
};

void notes_init(struct notes *notes, struct arena *arena);

/* Add one line; `notes` may be NULL (nobody listens). */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void
notes_add(struct notes *notes, const char *fmt, ...);

/* The same of an argument list. */
void notes_vadd(struct notes *notes, const char *fmt, va_list ap);

#endif
