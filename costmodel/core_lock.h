/* Locks of cores: while a process has one, nobody else of this host measures on
 * that core, whoever they are. Names in the abstract socket namespace, which all
 * processes of a host (a network namespace) share; and, in the folder that
 * $MARQ_LOCKS names, files, for users and containers that share that. Both die
 * with their holder. */
#ifndef COSTMODEL_CORE_LOCK_H
#define COSTMODEL_CORE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "costmodel/machine.h"
#include "ir/base/err.h"

/* The folder of the files: a variable, so that processes started here have it. */
#define CORE_LOCK_FOLDER "MARQ_LOCKS"

struct core_locks {
	const uint32_t *core; /* [n] ascending */
	uint32_t n;
	int file[CORES_MAX], name[CORES_MAX]; /* -1: none */
};

/* May files be made in this folder? ERR_IO if not. */
bool core_locks_check(const char *folder, struct err *err);

/* Open the files, while that is allowed; one that cannot be is left out. */
void core_locks_open(struct core_locks *l, const uint32_t *core, uint32_t n);

/* Wait until nobody else has one of them, then have them all. Meanwhile *waits
 * (NULL: nobody looks) is the core waited for and 1, else 0. */
void core_locks_take(struct core_locks *l, atomic_uint *waits);
void core_locks_drop(struct core_locks *l);

void core_locks_close(struct core_locks *l);

/* This process has no more than its last n cores from now on, where there are as
 * many: those where workers measure. Libraries look how many they may have when
 * they are loaded, and choose their code by it: so before they are. */
void cores_pin(uint32_t n);

/* The same, and it has them alone. */
struct cores_taken {
	uint32_t core[CORES_MAX];
	struct core_locks locks;
};
void cores_take(struct cores_taken *t, uint32_t n);
void cores_release(struct cores_taken *t);

#endif
