/* The caches before a run, as the rest of a model leaves them. */
#ifndef COSTMODEL_CACHES_H
#define COSTMODEL_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/line_flush.h"
#include "ir/base/arena.h"

struct shot;

/* What a model that keeps so many bytes of weights finds of them when it comes round. */
struct lasting {
	size_t nwords; /* them, and what it streams besides */
	double flushed; /* the part of them that comes from memory: 0 to 1 */
	double
	    byte_ns; /* what reading one takes; 0: it was not looked at yet */
};

/* Memory that stands for the rest of the model: streamed over before a run. */
struct sweep {
	uint64_t *words; /* [nwords], as many as were asked for so far */
	size_t nwords;
	struct arena *arena;
	struct lasting plain,
	    transformed; /* weights kept as they are, and not */
	double run_ns; /* about what a run of the model takes */
	struct line_flusher flush; /* NONE: all is swept out */
	uint64_t best_ns; /* fastest time over it: the bandwidth probe */
	uint64_t best_near_ns; /* the same where kernels' own lines are flushed,
	                   * since caches_begin() */
	uint64_t shot_cpu_ns; /* what the last shot had of the processors */
	bool disturbed; /* all shots of the last block were */
};

/* A sweep over what `weights` bytes of a model leave in the caches that takes about so
 * long for a run (0: as long as reading them). */
struct sweep sweep_new(size_t weights, double run_ns, struct arena *a);

/* Before the shots of another kernel: what their streaming finds in the caches is what
 * that kernel leaves there, so its best time is theirs. */
void caches_begin(struct sweep *w);

/* Bring the caches into the state they have inside a plan. true: streaming took
 * well above the best time, so somebody else has the memory. */
bool caches_set(const struct shot *s, struct sweep *w);

/* What the one who reads the results of a shot waits for, because they are further
 * away than what was read before: some kernels write past the caches. */
uint64_t caches_missed_ns(const struct shot *s);

/* What reading a byte takes that a model reads once a run, ns. */
double caches_byte_ns(struct sweep *w);

#endif
