/* Which steps turn NaN into a number in this library, and others that compute
 * the same and keep it. */
#ifndef TARGETS_DNNL_NAN_H
#define TARGETS_DNNL_NAN_H

#include "targets/fused.h"
#include "targets/target.h"

/* Added to the number of a way whose bounds are put so that NaN stays. */
#define WAY_KEEPS_NAN 64u
/* The same, of one that runs behind a guard (targets/guarded.h). */
#define WAY_GUARDED 128u

/* Put bounds so that NaN stays: may need more steps. false (and *f as it was,
 * or not) where some step cannot be put so. */
bool nan_kept(struct fused *f);

/* Mark the n ways of a match that lose NaN; where the match's graph wants it
 * kept and steps can be put otherwise, turn them into ways that keep it. */
void nan_mark(const struct match_in *m, struct implementation *way, uint32_t n);

#endif
