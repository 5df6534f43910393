/* Element-wise kernels over broadcast operands, in double or int64, written
 * once: operators differ by a small function each. */
#ifndef TARGETS_HOST_MAP_H
#define TARGETS_HOST_MAP_H

#include "targets/host/call.h"

/* Elements at a time: what the stack holds comfortably. */
#define MAP_BLOCK 256

/* What an operator does to blocks of operands already loaded. `p` is its own
 * parameters. One of the two is used, by the lane of the operands. */
struct elementwise {
	void (*real)(
	    double *z, const double *const *x, size_t n, const void *p);
	void (*ints)(
	    int64_t *z, const int64_t *const *x, size_t n, const void *p);
	const void *p;
};

/* Output 0 of dtype `out` = f over `n` (<= 3) broadcast operands computed in
 * `lane`. */
bool map_run(struct call *c, const struct elementwise *f,
    const struct tensor *const *operand, uint32_t n, enum lane lane,
    enum dtype out, struct err *err);

#endif
