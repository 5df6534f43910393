/* The morning after: one night as a page, a text, tables and metrics. */
#ifndef CLI_NIGHT_SUMMARY_H
#define CLI_NIGHT_SUMMARY_H

#include "cli/night/findings.h"

struct summary {
	const struct history *history;
	const struct night *night;
	uint32_t at; /* of the night in the history */
	const char *manifest; /* its path */
	struct night_findings findings;
	bool *wins; /* [nunits] cheapest mix of its model and shape */
	uint32_t done, failed, left, kept; /* units; kept: done, and not anew */
	uint64_t measured, reused, took_ms;
	struct arena *a;
};

bool summary_make(struct summary *s, const struct history *h, uint32_t at,
    const char *manifest, struct arena *a, struct err *err);

/* Write all that outputs.def names into the batch's folder. */
bool summary_write(struct summary *s, struct err *err);

/* What writes a summary; `context` is a struct summary. */
typedef bool summary_writer(FILE *f, void *context, struct err *err);
#define OUTPUT(name, writer) summary_writer writer;
#include "cli/night/outputs.def"
#undef OUTPUT
/* The page of the night among the nights. */
summary_writer write_night_page;

#endif
