/* A board: the machine prices are for when it is not this one. Its environments
 * are facts that were taken there, never ours. */
#ifndef COSTMODEL_BOARD_H
#define COSTMODEL_BOARD_H

#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/json.h"
#include "ir/base/notes.h"

struct cJSON;

struct board {
	const char *name; /* origin_name() of its machine (db/origin.h) */
	const char *words; /* its processor */
	const char *soft; /* canonical soft facts when it was asked, or "" */
	const char **hard; /* [n] canonical hard facts, each of another target;
			    * those of conversions have target=convert */
	uint32_t n, cap;
};

/* Take another environment's facts; ERR_INPUT where they are of another machine
 * than those before. */
bool board_add(
    struct board *b, const char *hard, struct arena *a, struct err *err);

/* The facts of a target ("convert": of conversions), or NULL: it has none. */
const char *board_facts(
    const struct board *b, const char *target, struct arena *a);

/* This machine, with all targets that measure here. */
bool board_of_here(
    struct board *out, uint32_t threads, struct arena *a, struct err *err);

/* As JSON (marq.env/1). */
void board_write(const struct board *b, FILE *f);
void board_put(const struct board *b, struct json *j);

/* What `text` names: a file of board_write()'s, or else an environment of the
 * database by the beginning of its name. Of several builds of a target that the
 * database knows of there, the one with the newest figures; a note says so. */
bool board_find(struct board *out, const char *text, const char *db,
    struct notes *notes, struct arena *a, struct err *err);

/* From a document of board_write()'s. */
bool board_take(struct board *out, const struct cJSON *doc, struct arena *a,
    struct err *err);

/* Are two boards alike in all that prices of these targets depend on? Else
 * ERR_TARGET naming what differs. */
bool board_same(const struct board *x, const struct board *y, struct arena *a,
    struct err *err);

#endif
