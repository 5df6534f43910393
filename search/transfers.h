/* What taking a candidate does to what a label says of live values. */
#ifndef SEARCH_ENTRIES_H
#define SEARCH_ENTRIES_H

#include "search/transition.h"

/* Fill the entries of the new label, whose candidate is at `to->pos`, and add to its
 * cost: trees of values whose users are all known now, and runs that values are
 * brought in for. False: it cannot be, or would close a circle. */
bool transfers_move(struct frontier *f, const struct transition *m,
    const struct label *from, struct label *to);

/* Does anything wait at `pos`, where the candidate would be, for what it makes? Else
 * it does as well in an earlier run, with its input. */
bool transfers_wait_at(
    const struct transition *m, const struct label *from, uint32_t pos);

#endif
