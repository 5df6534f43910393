/* The report as one page: a template with sentences, tables, the graph's data,
 * style and behaviour put in. Works from the documents alone, so it serves a
 * search that just ended and a directory of last year. */
#ifndef EMIT_REPORT_PAGE_H
#define EMIT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/err.h"

struct cJSON;

struct page_text {
	const char *text;
	size_t n;
};

struct page_docs {
	struct page_text result;
	struct page_text map, provenance, alternatives; /* text NULL: none */
};

/* ERR_INPUT when a document is malformed or does not fit the others. */
bool page_write(FILE *f, const struct page_docs *d, struct err *err);

/* Check what page_write() and its readers rely on: every index in range. */
bool page_check(
    const struct cJSON *result, const struct cJSON *map, struct err *err);

#endif
