/* A job: one model searched over one mix. The only place that knows the order
 * of the steps; search, run, explain and batch all go through it. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/job_state.h"

/* Read, check, infer and normalise the model. */
bool job_import(struct job *j, const struct search_args *args, struct arena *a,
    struct err *err);

/* Bind the dimensions of inputs that are still open: to what they were in the
 * result that is searched again, or to a batch of one, which it says. ERR_USAGE
 * naming the others, ERR_INPUT for a graph without nodes (after job_import). */
bool job_bind(struct job *j, struct err *err);

/* Open the mix and enumerate candidates (after job_import). */
bool job_candidates(struct job *j, bool keep_refusals, struct err *err);

/* Whatever the database and simulation tell (after job_candidates). */
bool job_prices(struct job *j, struct err *err);

/* Price and search (after job_candidates); fills plan, checked for legality, and
 * run against the reference where `verify` says so. */
bool job_search(struct job *j, struct err *err);

/* The cheapest plan with this node on that target (after job_search), without
 * baselines; *found: is there one? */
bool job_plan_pinned(struct job *j, node_id node, uint32_t target,
    struct plan *out, bool *found, struct arena *a, struct err *err);

/* Search again at the ends of what simulators assume (after job_search); quick: as
 * far as nobody minds waiting, and leave the rest. */
bool job_sensitivity(struct job *j, bool quick, struct err *err);

/* What is left on the table (after job_search, with refusals kept). */
bool job_opportunities(struct job *j, struct err *err);

/* Write out what was measured and stop the workers, before something else is
 * timed; the prices and the plan stay. */
bool job_stop_pricing(struct job *j, struct err *err);

/* Stop the workers, close the database and the model. Safe at any stage. A
 * fault while closing is reported only if none is pending. */
bool job_close(struct job *j, struct err *err);

#endif
