/* The whole of a plan that is verified. */
#ifndef EXEC_VERIFY_WHOLE_H
#define EXEC_VERIFY_WHOLE_H

#include "exec/verify_state.h"

/* Run the plan, each composite of which was found right by itself, and put the
 * verdict down. */
void verify_whole(struct verify_state *w);

#endif
