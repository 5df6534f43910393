/* Items shared out among the team: each lane has neighbours of its own first, and helps
 * the others when it is through. What a lane keeps (a buffer) no two threads use at
 * once. */
#ifndef TARGETS_LANES_H
#define TARGETS_LANES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_MOST 64 /* more threads have nothing to do */

struct lane {
	_Alignas(64) atomic_size_t next;
	size_t end;
};

struct lanes {
	uint32_t n;
	size_t grain; /* items taken at once */
	struct lane lane[LANES_MOST];
};

/* How many lanes so many items have, with at most so many wanted. */
uint32_t lanes_for(size_t items, uint32_t most);

/* Into how many parts work that has `most` at most is cut for so many threads: several for
 * each, so that others take what one that is held up leaves; for one: 1. */
size_t lanes_cut(size_t most, uint32_t threads);

/* Call work(data, l, i) for each lane l, in threads of the team; one lane: in the
 * caller's. It takes its items with lanes_next(l, i, ...). */
void lanes_run(struct lanes *l, size_t items, uint32_t most,
    void (*work)(void *data, uint32_t lane), void *data);

/* Call work(data, l, i) for each of the items, in lane l; the lane's items and what it took
 * from others, one after the other. */
void lanes_each(size_t items, uint32_t most,
    void (*work)(void *data, uint32_t lane, size_t i), void *data);

/* The same for items that come in groups of so many neighbours. `again`: the lane's item
 * before was of the same group, so what it made of the group is still there. */
void lanes_groups(size_t items, size_t group, uint32_t most,
    void (*work)(void *data, uint32_t lane, size_t i, bool again), void *data);

/* Call work(data, first, count) for parts of n things, `part` of them each but for the
 * last. */
void lanes_parts(size_t n, size_t part,
    void (*work)(void *data, size_t first, size_t count), void *data);

/* The same for parts of n elements of 4 bytes or less, whole cache
 * lines but the last: for some a thread, for fewer where n is small. */
void lanes_split(
    size_t n, void (*work)(void *data, size_t first, size_t count), void *data);

/* How many items that lane takes next, neighbours from the first on; 0: none is left. */
size_t lanes_next(struct lanes *l, uint32_t lane, size_t *first);

#endif
