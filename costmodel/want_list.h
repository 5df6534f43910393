/* Making a list of what is wanted (want.h). */
#ifndef COSTMODEL_WANT_LIST_H
#define COSTMODEL_WANT_LIST_H

#include "costmodel/pricer_data.h"
#include "costmodel/want.h"

/* What it is called, how it is to be measured, and what of it may be offered. */
struct want_how {
	const char *model; /* its name */
	uint32_t threads;
	uint64_t timeout_ns; /* 0: default */
	bool keep_nan, exact, exact_halves; /* see struct candidate_options */
};

/* The model and its measured targets, nothing wanted yet. ERR_UNSUPPORTED where
 * a target computes in 8 bits: what calibrated it cannot be told. */
bool want_of_model(struct want *out, const struct graph *g, const struct mix *m,
    const struct want_how *how, struct arena *a, struct err *err);

/* What a search asked for in vain (UNPRICED_SUPPOSED) and can be measured: first
 * what `chosen` candidates [ncandidates] need, then what may be the cheapest way for
 * its nodes, by the bounds; at most `most` (0: all). What was never looked at is to
 * be, before it is priced: whether it is wanted then is not known. */
void want_asked(struct want *w, const struct pricer *p, const bool *chosen,
    uint32_t most, struct arena *a);

/* A subject as a list has it. */
struct subject;
struct wanted_subject want_subject(
    const struct want *w, const struct pricer *p, const struct subject *s);

#endif
