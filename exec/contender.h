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

/* What a turn is. Those that find who is faster are short, so that drift hits both alike:
 * plans that take less than some milliseconds run once to have their caches warm and their
 * threads awake, and then some times. A loop is that of a program with nothing
 * else to do, whose caches have learnt what to keep; it goes on where nobody else ran
 * behind the last one. */
enum contender_runs { CONTENDER_TURN, CONTENDER_LOOP, CONTENDER_GO_ON };

/* How often a turn runs a plan that takes so long. */
uint32_t contender_turn_runs(cost_ns took, uint32_t threads);

/* *took is the median of the runs that were not disturbed (costmodel/watch.h); *disturbed: none
 * was so, and it is that of all. Behind it the threads are let come to rest. */
bool contender_run(struct contender *r, enum contender_runs runs, cost_ns *took,
    bool *disturbed, struct err *err);

void contender_end(struct contender *r);

#endif
