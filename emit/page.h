/* The report as one page: a template with the JSON artefacts, a drawing of the
 * regions, the style and the behaviour put in. Works from the documents alone,
 * so it serves a search that just ended and a directory of last year. */
#ifndef EMIT_PAGE_H
#define EMIT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/err.h"

struct cJSON;

struct page_text {
	const char *text;
	size_t n;
};

struct page_docs {
	struct page_text result, map, provenance;
	struct page_text alternatives; /* text NULL: there is none */
};

/* ERR_INPUT when a document is malformed or does not fit the others. */
bool page_write(FILE *f, const struct page_docs *d, struct err *err);

/* The regions of a result in graphviz' language. */
void page_dot(FILE *f, const struct cJSON *result);

/* Check what page_write() and its readers rely on: every index in range. */
bool page_check(
    const struct cJSON *result, const struct cJSON *map, struct err *err);

#endif
