/* Was a run disturbed? The scheduler may interrupt it, and cores may be slower for
 * a while: throttled, or shared with a neighbour that the system does not show. */
#ifndef COSTMODEL_WATCH_H
#define COSTMODEL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Is the caller's core slower than it was at its best? *best_ns: the fastest fixed computation
 * so far; 0: there was none. Takes some 8 us. */
bool core_is_slow(uint64_t *best_ns);

/* Of runs on the team's cores (targets/team.h). */
struct watch {
	uint64_t best_ns; /* 0 at first */
	long preemptions; /* of the caller's, before the run */
	bool slow;
};

void watch_begin(struct watch *w);

/* true: it was disturbed. */
bool watch_end(struct watch *w);

#endif
