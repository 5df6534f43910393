/* A share of the work, I of N, divided by content: what a hash falls to belongs
 * to one shard, whoever asks, so no two do the same. */
#ifndef CLI_SHARD_H
#define CLI_SHARD_H

#include "cli/options.h"
#include "ir/base/hash.h"

struct shard {
	uint32_t i, n; /* n 0: everything */
	const char *whence; /* the variable it was read from, or NULL */
};

/* --shard I/N, into a struct shard. */
option_take shard_take;

/* Where none was given: what the scheduler says of the array this process is
 * a part of (Slurm, LSF, Kubernetes). ERR_USAGE where it says half of it. */
bool shard_settle(struct shard *s, struct err *err);

bool shard_owns(const struct shard *s, struct hash128 h);
bool shard_owns_text(const struct shard *s, const char *text);

#endif
