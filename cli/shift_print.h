/* The difference of two plans in words and in JSON. */
#ifndef CLI_SHIFT_PRINT_H
#define CLI_SHIFT_PRINT_H

#include "plan/shift.h"

struct json;

/* "composites +12 us, conversions +560 us, launches +5 us" and, below, each
 * conversion and launch that is new or gone and each node that moves; at most
 * `limit` lines of a kind, indented by `margin`. */
void shift_print(const struct plan_shift *s, int margin, uint32_t limit);

/* Members of the object at hand: delta_ns, composites_ns, ..., moved. */
void shift_write(struct json *w, const struct plan_shift *s);

/* Is the difference larger than the noise? */
bool shift_is_clear(const struct plan_shift *s);

/* "outside the noise of 1.2 us", "inside ...", "nothing measured differs" */
const char *shift_noise_text(const struct plan_shift *s, struct arena *a);

#endif
