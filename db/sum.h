/* A checksum of each attempt: over its figures and what they are about, so that
 * a bit that fell over in a file makes no price (db/sum_text.h has the SQL). */
#ifndef DB_SUM_H
#define DB_SUM_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct costdb;
struct err;
struct hash128;
struct idmap;
struct measurement_row;

/* Make attempt_sum(), bytes_hash() and hash_key() known to a connection; an SQLite result
 * code. */
int sum_register(sqlite3 *h);

/* What attempt_sum() makes of a row, by the hash of its subject's bytes and the
 * hard facts of its environment. `scratch` is an initialised buffer. */
uint64_t sum_of_row(const struct measurement_row *row,
    const struct hash128 *subject, const char *hard, struct buf *scratch);

/* Count the damaged attempts of a file that has checksums into db->damaged.
 * ERR_DB where its pages or indexes are damaged. */
bool sum_check(struct costdb *db, struct err *err);

/* The ids of damaged attempts, each mapped to itself; none in a file without
 * checksums. */
bool sum_list_damaged(struct costdb *db, struct idmap *out, struct err *err);

#endif
