/* What kernels of LSTM, GRU and RNN have in common. */
#ifndef TARGETS_RECURRENT_H
#define TARGETS_RECURRENT_H

#include "targets/need.h"

/* The operator's own activations, no clipping, no lengths, no peepholes, a constant
 * bias if any, and sequences first. */
bool need_plain_recurrent(
    const struct match_in *m, struct why *why, const struct node *n);

#endif
