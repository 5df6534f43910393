/* What a measured figure depends on beside the candidate: the hard facts of a
 * target on this machine, and the soft ones worth knowing later. */
#ifndef COSTMODEL_ENVIRONMENT_H
#define COSTMODEL_ENVIRONMENT_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "targets/target.h"

/* What measured figures depend on of this machine, whatever the target: lines of
 * facts. Threads: per measured kernel. */
const char *environment_machine(uint32_t threads, struct arena *a);

/* Canonical hard facts (db/facts.h) of a target on such a machine; of conversions
 * when `t` is NULL. */
const char *environment_hard(
    const struct target *t, const char *machine, struct arena *a);

/* The facts that figures of another kind ("glance", "versus") than measured
 * prices are kept under, from those of measurements. */
const char *environment_other(
    const char *hard, const char *cost, struct arena *a);

/* Canonical soft facts of this machine right now, and how many processes
 * measure at once: recorded, never a key. */
const char *environment_soft(uint32_t workers, struct arena *a);

#endif
