/* The next best plans (--top-k): what they cost more, where they differ, and
 * whether the difference is more than the noise of the prices it rests on. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/job.h"

struct json;

/* As text, each that was not proven to be the next best marked; nothing when no alternatives were asked for. */
void top_print(const struct job *j);

/* As the value of the key "alternatives". */
void top_write(const struct job *j, struct json *w);

#endif
