/* Which steps turn NaN into a number in this library, and others that compute
 * the same and keep it. */
#ifndef TARGETS_DNNL_NAN_H
#define TARGETS_DNNL_NAN_H

#include "targets/bounded.h"
#include "targets/fused.h"

/* Do all steps keep it as they are? */
bool nan_steps_keep(const struct fused *f);

/* Put bounds so that NaN stays: may need more steps. The last ones are left to a
 * pass of our own, *end (NULL: none is made). false (and *f as it was, or not)
 * where some step cannot be put so. */
bool nan_kept(struct fused *f, struct bounding *end);

#endif
