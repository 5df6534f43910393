/* A checksum of each attempt: over its figures and what they are about, so that
 * a bit that fell over in a file makes no price (db/sum_text.h has the SQL). */
#ifndef DB_SUM_H
#define DB_SUM_H

#include <sqlite3.h>
#include <stdbool.h>

struct costdb;
struct err;
struct idmap;

/* Make attempt_sum() and bytes_hash() known to a connection; an SQLite result
 * code. */
int sum_register(sqlite3 *h);

/* Count the damaged attempts of a file that has checksums into db->damaged.
 * ERR_DB where its pages or indexes are damaged. */
bool sum_check(struct costdb *db, struct err *err);

/* The ids of damaged attempts, each mapped to itself; none in a file without
 * checksums. */
bool sum_list_damaged(struct costdb *db, struct idmap *out, struct err *err);

#endif
