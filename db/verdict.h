/* What the attempts at one subject in one environment come to: the one rule by
 * which a price is looked up and databases are compared. */
#ifndef DB_VERDICT_H
#define DB_VERDICT_H

#include "db/db.h"

/* TUNING: attempts that count; enough for a median that no single night
 * decides. */
#define VERDICT_ATTEMPTS 64u

struct attempt {
	db_id id, conditions;
	enum outcome outcome;
	uint64_t low, high, min, cpu;
	uint32_t n; /* samples */
	const char *at_utc;
};

struct verdict {
	uint32_t attempts, ngood;
	uint64_t good[VERDICT_ATTEMPTS]; /* lows of ok (else noisy) attempts */
	bool good_is_ok;
	db_id newest_bad, wrong; /* DB_NO_ID: none */
	enum outcome bad; /* of newest_bad */
	struct db_found found;
};

void verdict_init(struct verdict *v);

/* The next attempt, newest first. */
void verdict_see(struct verdict *v, const struct attempt *a);

/* Settle v->found. A wrong result is never forgiven; else figures win over
 * failures, for a crash or a timeout may have been the machine's. The attempt
 * whose words say why it failed, or DB_NO_ID. */
db_id verdict_conclude(struct verdict *v);

#endif
