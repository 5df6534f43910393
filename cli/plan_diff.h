/* The difference of two plans in words and in JSON. */
#ifndef CLI_PLAN_DIFF_H
#define CLI_PLAN_DIFF_H

#include "cli/answer.h"
#include "plan/shift.h"

/* "composites +12 us, conversions +560 us, launches +5 us" and, below, each
 * conversion and launch that is new or gone and each node that moves; in text at
 * most `limit` lines of a kind, indented by `margin`; in JSON members of the
 * object at hand: delta_ns, composites_ns, ..., moved. */
void shift_tell(
    struct answer *a, const struct plan_shift *s, int margin, uint32_t limit);

/* Is the difference larger than the noise? */
bool shift_is_clear(const struct plan_shift *s);

/* "outside the noise of 1.2 us", "inside ...", "nothing measured differs" */
const char *shift_noise_text(const struct plan_shift *s, struct arena *a);

#endif
