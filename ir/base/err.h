/* The one error convention: a fallible function returns true when done and
 * takes a struct err last. It is filled once where the fault is seen, given
 * context on the way out, and printed once, in cli/. */
#ifndef IR_BASE_ERR_H
#define IR_BASE_ERR_H

#include <stdbool.h>

enum err_kind {
#define ERR(name, exit, words) ERR_##name,
#include "ir/base/err.def"
#undef ERR
	NERR
};

struct err {
	enum err_kind kind;
	const char *file; /* where it was raised, for --debug */
	int line;
	char text[512]; /* one line, lower case, no full stop */
};

#ifdef __GNUC__
#define ERR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define ERR_PRINTF(f, a)
#endif

/* Record a fault; always false, so callers can `return err_set(...)`.
 * Asserts that none is pending: the first fault is the one reported. */
#define err_set(err, kind, ...) \
	err_false(err_set_at(err, kind, __FILE__, __LINE__, __VA_ARGS__))
bool err_set_at(struct err *err, enum err_kind kind, const char *file, int line,
    const char *fmt, ...) ERR_PRINTF(5, 6);

/* Put "<context>: " before the pending message; always false. */
#define err_in(...) err_false(err_put_context(__VA_ARGS__))
bool err_put_context(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3);

/* False, and seen to be by the compiler, which then knows that what a failed
 * function leaves unset is not read. */
static inline bool
err_false(bool unused)
{
	(void)unused;
	return false;
}

/* Forget a pending fault that was handled. */
void err_clear(struct err *err);

/* Exit status of a kind. */
int err_exit(enum err_kind kind);

/* The words for a kind, for documentation and --debug. */
const char *err_words(enum err_kind kind);

#endif
