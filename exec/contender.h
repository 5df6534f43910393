/* A plan in a process of its own, which runs it in turns: nobody's libraries are
 * loaded there but its own. */
#ifndef EXEC_CONTENDER_H
#define EXEC_CONTENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/cost.h"
#include "ir/base/err.h"
#include "plan/plan.h"

struct contender {
	int socket; /* -1: it was not started */
	long process;
};

/* Compiled, on made-up inputs. It ends with its parent. ERR_MEASURE when no process
 * can be had or it ended; what else was wrong as it says. */
bool contender_start(struct contender *r, const struct plan *p,
    uint32_t threads, struct err *err);

/* Two at once. Of one thread, and of our own kernels and libraries', they are opened in
 * this process, with `a`, and what both compute in the same way is compiled once:
 * that is most of the time it takes where weights are packed. */
bool contenders_start(struct contender r[2], const struct plan *const plan[2],
    uint32_t threads, struct arena *a, struct err *err);

/* A turn is that of a loop of inferences, whose caches are warm and whose threads are
 * awake: short plans run once to have them so, and then some times. *took is the
 * median. *disturbed: the scheduler interrupted one. Behind it the threads are let
 * come to rest. */
bool contender_turn(
    struct contender *r, cost_ns *took, bool *disturbed, struct err *err);

void contender_end(struct contender *r);

#endif
