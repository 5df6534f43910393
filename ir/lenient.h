/* What is accepted although the standard forbids it: one list. */
#ifndef IR_LENIENT_H
#define IR_LENIENT_H

#include <stdbool.h>

#include "ir/base/err.h"
#include "ir/base/notes.h"

enum lenient {
#define LENIENT(id, word, what) LENIENT_##id,
#include "ir/lenient.def"
#undef LENIENT
	NLENIENT
};

/* The rule in one word, and what it accepts. */
const char *lenient_word(enum lenient rule);
const char *lenient_what(enum lenient rule);

/* Warn of something that was accepted; `notes` may be NULL. */
#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
void
lenient_note(struct notes *notes, enum lenient rule, const char *fmt, ...);

/* ERR_INPUT for the first thing in `notes` that was accepted by a rule. */
bool lenient_refuse(const struct notes *notes, struct err *err);

#endif
