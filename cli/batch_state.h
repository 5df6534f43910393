/* What a batch remembers of each unit: one small file a unit, written whole
 * when the unit ends. Killed at any instant, a batch continues from these. */
#ifndef CLI_BATCH_STATE_H
#define CLI_BATCH_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/batch_reads.h"
#include "cli/manifest.h"

struct unit_status {
	char fingerprint[33]; /* of everything it reads (batch_reads.h) */
	bool ended; /* this fingerprint has run to an end, and what it wrote
		     * is there and whole */
	int exit;
	uint32_t attempts;
	const char *error; /* what it said, or "" */
	/* of a successful search */
	uint64_t cost_ns, lower_bound_ns;
	bool proven, estimated; /* some price is an estimate */
	uint32_t among_regions; /* what is proven is so among these; 0: all */
	uint32_t regions, measured, reused;
	uint64_t baseline_ns; /* cheapest baseline; 0: none has a cover */
	const char *baseline; /* its name */
	bool baseline_bound; /* it costs at least that */
	const char *confirmation; /* plan/confirmation.h: its word, or "" */
	double confirmed; /* of the best single target, as run; 0: was not */
	uint64_t took_ms; /* all attempts */
};

/* The unit's fingerprint now. ERR_IO when the model cannot be read. */
bool unit_fingerprint(struct batch_reads *reads, const struct unit *u,
    char text[33], struct err *err);

/* Fill `s` from `<out>/<unit>.status.json`; not ended when there is none, it is
 * damaged, or it is of another fingerprint. */
void unit_status_read(struct unit_status *s, const struct manifest *m,
    const struct unit *u, struct arena *a);

/* Fill `s` from what `marq search --format json` printed; ERR_USAGE where it
 * is not that of a search, another where it cannot be read. */
bool unit_status_parse(
    struct unit_status *s, const char *path, struct arena *a, struct err *err);

bool unit_status_write(const struct unit_status *s, const struct manifest *m,
    const struct unit *u, struct err *err);

/* The figures as members of an object, and from one: all but the fingerprint
 * and whether it ended. */
struct json;
struct cJSON;
void unit_status_put(struct json *j, const struct unit_status *s);
void unit_status_get(
    struct unit_status *s, const struct cJSON *o, struct arena *a);

#endif
