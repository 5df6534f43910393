/* Which ways of a match lose NaN. */
#ifndef TARGETS_DNNL_NAN_MARK_H
#define TARGETS_DNNL_NAN_MARK_H

#include "targets/target.h"

/* Mark the n ways of a match that lose NaN; where the match's graph wants it
 * kept and steps can be put otherwise, turn them into ways that keep it. */
void nan_mark(const struct match_in *m, struct implementation *way, uint32_t n);

/* Can the steps of a match be put so that NaN stays? */
bool nan_can_stay(const struct graph *g, const struct match *m);

#endif
