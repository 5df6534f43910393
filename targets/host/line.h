/* Kernels that work on whole lines along one axis (or along several merged
 * ones), each line loaded into a buffer of doubles. */
#ifndef TARGETS_HOST_LINE_H
#define TARGETS_HOST_LINE_H

#include "targets/host/call.h"

/* A tensor seen as [outer][n][inner]; lines run over n. */
struct lines {
	size_t outer, n, inner;
};
struct lines lines_along(const struct tensor *t, uint32_t axis);

/* Output 0 = input 0 with f applied to each line in place. */
bool line_map(struct call *c, struct lines l,
    void (*f)(double *x, size_t n, const void *p), const void *p,
    struct err *err);

#endif
