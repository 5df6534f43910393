/* The next best plans (--top-k): what they cost more, where they differ, and
 * whether the difference is more than the noise of the prices it rests on. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/answer.h"
#include "cli/job.h"

/* As the list "alternatives", each that was not proven to be the next best
 * marked. */
void top_tell(const struct job *j, struct answer *a);

#endif
