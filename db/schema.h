/* The schema, its version, and making a file what this program expects. */
#ifndef DB_SCHEMA_H
#define DB_SCHEMA_H

#include <stdbool.h>

#include "db/sql.h"

#define SCHEMA_APPLICATION 0x4d415251 /* "MARQ" */
#define SCHEMA_VERSION 6

/* What a file is, by its header fields. */
enum schema_state {
	SCHEMA_EMPTY, /* nothing in it yet */
	SCHEMA_CURRENT,
	SCHEMA_OLDER, /* can be migrated */
	SCHEMA_NEWER, /* but says this program may read it */
};

/* ERR_DB for a file of another application, or one too new to read. */
bool schema_state(struct costdb *db, enum schema_state *state, struct err *err);

/* Make the tables, unless another process just did. */
bool schema_create(struct costdb *db, struct err *err);

/* Bring an older file forward, step by step in one transaction; a backup is
 * beside it first ("<path>.v<old>-<utc>"). */
bool schema_migrate(struct costdb *db, struct err *err);

#endif
