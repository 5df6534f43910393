/* Lower bounds nobody can beat: work divided by what the machine could do at
 * best. A bound has to be admissible (never above the true price), so every
 * rate is the highest imaginable and every count the lowest; measurements are
 * checked against it, and one that is faster lowers the bounds that remain. */
#ifndef COSTMODEL_ROOFLINE_H
#define COSTMODEL_ROOFLINE_H

#include <stdint.h>

#include "targets/target.h"

struct work {
	uint64_t flops; /* multiplications and additions of the best algorithm
			 * known (of the definition, where the kind says what
			 * its code cannot exceed), in equivalents of one
			 * 32-bit operation of the widest vector unit */
	uint64_t bytes; /* that must be read or written at least once */
};

struct roofline {
	double flops_per_ns, bytes_per_ns;
};

/* What `threads` threads of this machine could do at best. */
struct roofline roofline_of_machine(uint32_t threads);

/* What `threads` threads of no machine that we know of could exceed. */
struct roofline roofline_of_any(uint32_t threads);

/* The least a candidate must do, whatever the implementation. */
struct work work_of_candidate(
    const struct graph *g, const struct mix *m, const struct candidate *c);

struct work work_of_conversion(
    const struct type *type, struct format from, struct format to);

/* What a node alone takes of any region that it is in: normalisations, moves and
 * values inside vanish when regions are fused. It adds up over nodes. */
uint64_t flops_in_region(const struct graph *g, node_id node);

/* About what a run of the whole takes, ns: to see what else caches are used for
 * meanwhile, no more. */
double roofline_expect_ns(const struct graph *g, uint32_t threads);

/* Nanoseconds, rounded down, at least 1; `scale` lowers it (0 < scale <= 1). */
cost_ns roofline_bound(const struct roofline *r, struct work w, double scale);

#endif
