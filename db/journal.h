/* How a file keeps what is being written apart: in a log, beside which others read
 * on; while much is merged in a journal, for then a page is written once only. */
#ifndef DB_JOURNAL_H
#define DB_JOURNAL_H

#include "db/sql.h"

/* TUNING: SQLite's busy handler is not fair; with 16 writers waits of several
 * seconds were seen, so a minute means something is wrong. */
#define BUSY_TIMEOUT_MS 60000

/* Use a log; waits until the file is alone for an instant. */
bool journal_use_log(struct costdb *db, struct err *err);

/* Use a journal if the file is alone, else go on with the log. What is committed is
 * as safe, and whoever is killed leaves what the next to open it rolls back. Who
 * opens it meanwhile waits for the end of a transaction. */
void journal_begin_bulk(struct costdb *db);

/* A log again, now or when the file is next opened for writing. */
void journal_end_bulk(struct costdb *db);

/* Does a log hold what the file does not? */
bool journal_has_log(const char *path);

/* Is there a journal, of one who is writing or was killed? */
bool journal_is_hot(const char *path);

/* Undo what somebody had begun who was killed: nobody who only reads can. */
void journal_roll_back(const char *path);

#endif
