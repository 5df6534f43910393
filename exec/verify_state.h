/* What the process that verifies a plan knows. */
#ifndef EXEC_VERIFY_STATE_H
#define EXEC_VERIFY_STATE_H

#include "exec/verify_run.h"
#include "ir/tensor.h"

/* TUNING: rounding that falls elsewhere can do a few times what the one tried
 * does. */
#define VERIFY_TIMES 4

/* What the process at work leaves behind, however it ends. */
struct verify_progress {
	bool done;
	struct verified_as verdict;
};

struct verify_state {
	const struct plan *plan;
	const struct verify_options *options;
	struct verify_progress *at;
	struct arena *arena;
	struct tensor *value; /* [nvalues] as the reference has them */
	bool *known;
	double *error; /* [nvalues] of the composite that makes it */
	bool shaken; /* verify_reference() puts those errors in */
};

const struct candidate *verify_candidate(
    const struct verify_state *w, uint32_t composite);

/* Largest difference as a part of the range; see verify_run.c. */
double verify_difference(
    const struct tensor *got, const struct tensor *want, bool half);

/* Fill value[] of the graph's inputs; then those of all nodes. */
bool verify_inputs(struct verify_state *w, struct err *err);
bool verify_reference(struct verify_state *w, struct err *err);

/* Put down the verdict; always false. */
bool verify_say(struct verify_state *w, enum verified_kind kind,
    uint32_t composite, double error, const char *detail);

/* Run the whole plan; each composite was found right by itself. */
bool verify_whole(struct verify_state *w);

#endif
