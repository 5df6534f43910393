/* What a batch remembers of its nights: OUT/nights/NNNN.json is the record of
 * one, OUT/nights/results/ has what its searches wrote (store.h). */
#ifndef CLI_NIGHT_NIGHT_H
#define CLI_NIGHT_NIGHT_H

#include "cli/batch_state.h"
#include "costmodel/pricer_data.h"

/* One search of a night. */
struct night_unit {
	const char *name, *model, *mix, *shape; /* shape "": as it is */
	struct unit_status status;
	const char *db; /* tuning database it was told to use, or "" */
	bool ran; /* in this night; else an earlier one's is still right */
	/* of a search that succeeded: */
	const char *result; /* its name in the store, or "" */
	const char *plan; /* a hash of what runs where, prices apart */
	const char *kinds; /* "dnnl host" */
	const char *targets; /* as written, a line each */
	const char *notes, *unbuilt; /* the first of nunbuilt, or "" */
	uint32_t nunbuilt, unpriced;
	uint32_t drift_permille; /* of stored figures timed again; 0: none */
	uint32_t why[NWHY]; /* what was measured, and why */
};

/* "dnnl onednn" is "2.6.3", to all searches of the night. */
struct night_fact {
	const char *key, *value;
};

enum night_state { NIGHT_RUNNING, NIGHT_COMPLETE, NIGHT_KILLED };

struct night {
	uint32_t number; /* from 1 */
	enum night_state state;
	uint64_t began, ended; /* seconds since 1970, UTC */
	uint32_t calls; /* of `marq batch` */
	struct night_unit *unit; /* [nunits] in manifest order */
	uint32_t nunits;
	struct night_fact *fact; /* [nfacts] */
	uint32_t nfacts;
};

/* All nights that are kept, oldest first. */
struct history {
	const char *out; /* folder of the batch */
	struct night *night;
	uint32_t n;
};

/* No record is no history; a damaged one is left out. */
bool history_read(
    struct history *h, const char *out, struct arena *a, struct err *err);
bool night_write(
    const struct night *n, const char *out, struct arena *a, struct err *err);
const char *night_state_word(enum night_state s);

/* NNNN.json and the like. */
const char *night_path(
    const char *out, uint32_t number, const char *suffix, struct arena *a);

bool unit_succeeded(const struct night_unit *u);
/* The unit of that name, or NULL. */
const struct night_unit *night_unit_find(
    const struct night *n, const char *name);
/* The last success of a unit in nights before the i-th, or NULL; *night is
 * which. */
const struct night_unit *history_last_good(
    const struct history *h, uint32_t i, const char *name, uint32_t *night);

/* Seconds since 1970; $SOURCE_DATE_EPOCH, where it is set. */
uint64_t night_clock(void);
/* "2026-11-23", and with "T03:12:00Z" behind it. */
const char *night_date(uint64_t when, struct arena *a);
const char *night_time(uint64_t when, struct arena *a);

#endif
