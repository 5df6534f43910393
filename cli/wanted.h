/* What the units of a batch want measured: a list each (`marq search --want`),
 * OUT/wanted/<attempts the database has>/<unit>.json. Whoever needs one that is
 * not there makes it, so shards make each about once; a list is of a state of
 * the database, so one that is there is right. */
#ifndef CLI_WANTED_H
#define CLI_WANTED_H

#include "cli/cli.h"
#include "cli/manifest.h"

struct wanted_lists {
	struct cli *cli;
	const struct manifest *manifest;
	const char *folder; /* OUT/wanted */
	const char *answer; /* a file: what making a list said */
	const char
	    *db; /* of the last unit asked about, and the folder of its */
	const char *state;
};

void wanted_lists_init(
    struct wanted_lists *w, struct cli *c, const struct manifest *m);

/* The database of all units of a batch; ERR_USAGE where there is none, or not one. */
bool wanted_db(const struct manifest *m, const char **db, struct arena *a,
    struct err *err);

/* The path of a unit's list, made if it is not there or `again`; *exit is not 0
 * where it cannot be made: w->answer has the document that says why then. */
bool wanted_list(struct wanted_lists *w, const struct unit *u, bool again,
    const char **path, int *exit, struct err *err);

/* Nobody wants anything any more. */
void wanted_forget(const struct wanted_lists *w);

/* How many subjects a list has. */
bool wanted_count(const char *path, uint32_t *n, struct err *err);

#endif
