/* Two tuning databases: which prices differ, and which only one of them has. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

/* What a database says of one subject in one environment. */
struct statistic {
	const char *key; /* hash of the subject, hard facts */
	const char *summary, *target, *outcome;
	uint64_t ns; /* median of the attempts' low quartiles; 0: it failed */
	uint64_t low, high; /* over all attempts */
	uint32_t attempts;
};

struct statistic_pair {
	const struct statistic *a, *b; /* NULL: not there */
	int64_t delta; /* b - a, ns; 0 where one has no price */
};

struct statistics_diff {
	const char *path_a, *path_b;
	uint32_t nboth, nsame, nslower, nfaster, nfailed, nonly_a, nonly_b;
	uint32_t nlost; /* of nfailed: a price before, a failure now */
	uint32_t npairs; /* all but the same: slower, faster, failed, only a,
			  * only b, each by the size of the change, then key */
	const struct statistic_pair *pair;
	const char *const *fact; /* [nfacts] of environments only one has */
	uint32_t nfacts;
};

/* Is it an SQLite file? */
bool statistics_are_in(const char *path);

/* A price is the same when it changed by less than half the ranges of both, or
 * by less than `threshold` of it. ERR_DB. */
bool statistics_compare(struct statistics_diff *d, const char *path_a,
    const char *path_b, double threshold, struct arena *a, struct err *err);

/* One document, schema "marq.compare-db/1"; text is a screenful without -v. */
struct cli;
void statistics_tell(const struct cli *c, const struct statistics_diff *d);

#endif
