/* Running something on a file nobody vouches for, in a process of its own with
 * limits, and saying what became of it. */
#ifndef TESTS_SUPPORT_TRIAL_H
#define TESTS_SUPPORT_TRIAL_H

#include <stdbool.h>

#include "ir/base/err.h"

enum verdict { VERDICT_ACCEPT, VERDICT_REJECT, VERDICT_CRASH, VERDICT_SLOW };

struct trial {
	enum verdict verdict;
	double seconds;
	char text[600]; /* the message of a rejection, or how it died */
};

/* "accept", "reject", "CRASH", "SLOW". */
const char *trial_word(enum verdict v);

/* Call check(path, err) in a child with 1 GiB of address space (unless built
 * with a sanitizer, which needs more) and `seconds` of processor time.
 * Rejected: it returned false and said why. */
void trial_apart(struct trial *t, const char *path, double seconds,
    bool (*check)(const char *path, struct err *err));

/* The whole import: read, normalize with the host folding, verify. */
bool trial_import(const char *path, struct err *err);

#endif
