/* Was a run disturbed? The scheduler may interrupt it, and cores may be slower for
 * a while: throttled, or shared with a neighbour that the system does not show. */
#ifndef COSTMODEL_WATCH_H
#define COSTMODEL_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The fastest fixed computation on the caller's core so far, ns; 0: there was none. */
_Atomic uint64_t *core_best_ns(void);

/* Is the caller's core slower than it was at its best? Takes some 8 us. */
bool core_is_slow(void);

/* Processes that are forked from now on, and this one, tell each other the best of each core: who
 * begins beside a neighbour would not know better. Without memory for that they do not. */
void cores_share_best(void);

/* Of runs on the cores of the team (targets/team.h). */
struct watch {
	long preemptions; /* of the caller's, before the run */
	bool slow;
};

void watch_begin(struct watch *w);

/* true: it was disturbed. */
bool watch_end(struct watch *w);

#endif
