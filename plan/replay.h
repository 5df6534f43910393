/* Replaying a plan from a file: its composites are found again among today's
 * candidates, so what has become illegal is refused by name, and the rest is
 * priced anew. */
#ifndef PLAN_REPLAY_H
#define PLAN_REPLAY_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "plan/request.h"

/* only[i] (of candidates->n): is candidate i in the plan of the file? Of the
 * request graph, mix and candidates are looked at. The file
 * is a "marq.plan/1" document or a result that holds one. ERR_INPUT for a
 * malformed file; ERR_VERDICT naming the composite that is no candidate now. */
bool plan_replay(const bool **only, const char *path,
    const struct plan_request *r, struct arena *a, struct err *err);

#endif
