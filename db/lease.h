/* Leases: several processes on one database share the measuring, and measure
 * nothing twice. A lease ends with its attempt, when it is dropped, when its
 * process is gone, or with its time. */
#ifndef DB_LEASE_H
#define DB_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"

enum lease {
	LEASE_OURS, /* measure it */
	LEASE_HELD, /* another process is at it */
	LEASE_DONE, /* there is an attempt more by now: look it up */
};

/* What is asked for, and the answer. */
struct lease_ask {
	const struct db_subject *subject;
	db_id env;
	uint64_t limit_ns; /* timeouts under a shorter one do not count */
	uint32_t known; /* attempts that we know: it is done by one more */
	enum lease lease; /* out */
};

/* Ask for asks [n]; at most `max` become ours. */
bool costdb_lease(struct costdb *db, struct lease_ask *ask, uint32_t n,
    uint32_t max, struct err *err);

/* Who holds the lease of a subject, in words for people: "process 1234", or that
 * it cannot be seen from here; "" when nobody does. */
#define LEASE_HOLDER_CHARS 48
bool costdb_lease_holder(struct costdb *db, const struct lease_ask *ask,
    char holder[LEASE_HOLDER_CHARS], struct err *err);

/* Give back all leases of this process. */
bool costdb_lease_drop(struct costdb *db, struct err *err);

#endif
