/* Tuning databases for tests: scratch files, subjects and samples by number. */
#ifndef TESTS_SUPPORT_DBFILE_H
#define TESTS_SUPPORT_DBFILE_H

#include "db/db.h"

/* A path in scratch_folder(), its files removed. */
const char *dbfile_path(const char *name, struct arena *a);

/* Remove a database and what lies beside it. */
void dbfile_remove(const char *path);

/* Open; a fault is printed and ends the program. */
struct costdb *dbfile_open(
    const char *path, enum db_mode mode, struct arena *a);

/* SQLite for one thread, without statistics and with memory of its own, before it
 * is first used: together two thirds of what a fuzz entry takes. */
void dbfile_alone(void);

/* A new database of this process that stays open over calls, and is empty at
 * each: opening one takes longer than what a fuzz entry does with it. */
struct costdb *dbfile_empty(void);

/* Has anything been committed to that since? */
bool dbfile_has_changed(void);

/* The number-th subject; its bytes live in `a`. */
struct db_subject dbfile_subject(uint32_t number, struct arena *a);

/* An ok attempt that takes about `ns`. */
struct sample dbfile_sample(uint64_t ns);

/* The first environment all tests use, made when it is not there. */
#define DBFILE_HARD "cpu.model=test\ntarget=fake\n"
db_id dbfile_env(struct costdb *db, const char *hard);

#endif
