/* Locked partitions gathered from nodes that name them one by one. */
#ifndef PLAN_LOCKS_H
#define PLAN_LOCKS_H

#include "ir/base/map.h"
#include "plan/constraints.h"

struct lock {
	const char *name;
	const char *key, *value; /* of the mark that gave the target */
	uint64_t targets;
	node_id *node; /* as they came, perhaps more than once */
	uint32_t nnodes, cap;
};

struct locks {
	struct arena *arena;
	struct map by_name;
	struct lock *lock;
	uint32_t n, cap;
};

void locks_init(struct locks *l, struct arena *a);

/* Put nodes into the partition how->name, which begins as `how` is; ERR_INPUT
 * when it is there already, on another target. */
bool locks_join(struct locks *l, const struct lock *how, const node_id *node,
    uint32_t n, struct err *err);

/* Add all of them to the constraints: see partition_add(). */
bool locks_close(const struct locks *l, struct constraints *s,
    const struct graph *g, const struct mix *m, struct err *err);

#endif
