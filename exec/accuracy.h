/* What computing in 8 bits loses against the float reference, over samples: of
 * candidates by themselves, of a plan's regions, and of the plan end to end. */
#ifndef EXEC_ACCURACY_H
#define EXEC_ACCURACY_H

#include "exec/samples.h"
#include "ir/infer.h"
#include "plan/accuracy.h"
#include "plan/plan.h"

/* TUNING: samples that candidates and plans are measured with, of those given:
 * ratios of sums over thousands of elements hardly move with more. */
#define ACCURACY_SAMPLES 4u

struct accuracy_request {
	const struct graph *graph;
	const struct mix *mix;
	const struct samples *samples;
	node_eval reference;
	uint32_t threads; /* 0 = 1 */
};

/* loss[n] of each candidate given what the reference gives it; n = 0 stays with
 * those of targets that do not compute in 8 bits. */
bool accuracy_of_candidates(struct loss *loss, const struct candidates *c,
    const struct accuracy_request *r, struct err *err);

/* Fills region, output and nsamples. */
bool accuracy_of_plan(struct plan_accuracy *out, const struct plan *p,
    const struct accuracy_request *r, struct arena *a, struct err *err);

/* Does a plan compute in 8 bits anywhere? */
bool plan_quantises(const struct plan *p);

/* The region that loses most; UINT32_MAX: none computes in 8 bits. */
uint32_t accuracy_worst_region(
    const struct plan_accuracy *a, const struct plan *p);

/* A limit that a plan breaks. */
struct broken_limit {
	uint32_t region; /* UINT32_MAX: at an output */
	const char *words;
};

/* The first of them; false: there is none. */
bool accuracy_broken(struct broken_limit *out, const struct plan_accuracy *a,
    const struct plan *p, struct arena *arena);

#endif
