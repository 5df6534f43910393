/* Timing one thing the way it will run inside a plan: the caches hold what the
 * rest of the model leaves there, the operands have just been made. */
#ifndef COSTMODEL_SAMPLE_H
#define COSTMODEL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/caches.h"
#include "costmodel/shot.h"

#define SHOTS_MAX 15

struct block {
	uint32_t kept; /* samples */
	uint32_t dropped; /* preempted, or memory or clock were slow */
	uint64_t median_ns, min_ns;
	uint64_t cpu_ns; /* of all threads, a run; of sample_block() */
	bool slow; /* one run takes so long that few are enough */
};

/* One block: two warm-up runs, then single shots until enough were undisturbed.
 * Always gives a median, if need be of disturbed ones (kept = 0). */
struct block sample_block(const struct shot *s, struct sweep *w);

/* Shots of two in turn: median_ns and min_ns are how long b takes per a, in
 * millionths. */
struct block sample_pair(
    const struct shot *a, const struct shot *b, struct sweep *w);

/* A few runs back to back and two single shots. Only min_ns and kept (0: all of
 * those back to back were preempted) mean anything: the least shot, or the least
 * run back to back plus the time to stream what it touches, if that is less. Of
 * what takes long, one run or the lesser of two. */
struct block sample_probe(const struct shot *s, struct sweep *w);

#endif
