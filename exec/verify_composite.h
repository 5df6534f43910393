/* One composite of a plan that is verified. */
#ifndef EXEC_VERIFY_COMPOSITE_H
#define EXEC_VERIFY_COMPOSITE_H

#include "exec/verify_state.h"

/* Build composite i and run it on what the reference says goes into it; false
 * with the verdict put down when it is not what it should be. */
bool verify_composite(struct verify_state *w, uint32_t i);

#endif
