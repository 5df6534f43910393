/* Problems that know what scratch a region needs. A device's memory holds what
 * its regions keep there and the largest scratch of one of them, which is no sum,
 * so no capacity says it. A slice is the plans whose largest scratch lies between
 * two levels: what needs more is banned, and what may be kept is the memory less
 * the lower level. With both levels the same that is exact, as far as a region
 * needs no more than its composites do.
 *
 * One kind of region needs less: one that fills the memory. Then nothing else is
 * kept there, and these plans are a slice of their own ("alone"). */
#ifndef PLAN_SLICES_H
#define PLAN_SLICES_H

#include "plan/fit.h"

struct slice {
	uint32_t low, high; /* levels */
	bool alone;
	uint32_t visits; /* by the search */
	cost_ns bound; /* no plan of it costs less, at prices that had */
	uint64_t fell; /* fallen so often */
};

struct slices {
	const struct target_kind *kind; /* the device's */
	const struct mix *mix;
	const struct candidates *candidates;
	const struct problem_target *target; /* the problem's without slices */
	const bool *banned; /* [ncandidates] as well */
	struct arena *arena;
	uint64_t limit; /* of its memory */
	uint64_t *scratch; /* [ncandidates] of a region of its own; 0: not of
			    * this kind */
	uint64_t *level; /* [nlevels] ascending: the scratches there are */
	uint32_t nlevels;
	struct slice *open;
	uint32_t nopen, cap;
};

/* False: no device of the mix has memory that counts. */
bool slices_init(struct slices *s, const struct plan *about,
    const struct problem *p, struct arena *a);

void slices_put(struct slices *s, struct slice slice);

/* The one with the lowest bound; false: none is left. */
bool slices_take(struct slices *s, struct slice *out);

/* Make a problem the slice's; NULL: what it was without slices. */
bool slices_apply(const struct slices *s, const struct slice *slice,
    struct problem *p, struct err *err);

/* Does a cover keep so much that what its composites need to run is not left?
 * *use: how much. */
bool slices_overfull(const struct slices *s, const struct problem *p,
    const struct cover *c, struct device_use *use);

/* Put the parts of a slice neither of which has that cover, which is overfull. */
void slices_split(
    struct slices *s, const struct slice *slice, const struct device_use *use);

/* A problem of plans in which one region keeps something and one or more others
 * keep nothing, relaxed: those launch for nothing. What it costs and *launch is
 * their bound. */
bool slices_relax_alone(const struct slices *s, const struct problem *p,
    struct problem *out, cost_ns *launch, struct err *err);

#endif
