/* The report as one page: a template with sentences, tables, the graph's data,
 * style and behaviour put in. Works from the documents alone, so it serves a
 * search that just ended and a directory of last year. */
#ifndef EMIT_REPORT_PAGE_H
#define EMIT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/err.h"

struct cJSON;

enum page_doc {
	PAGE_RESULT,
	PAGE_MAP,
	PAGE_PROVENANCE,
	PAGE_ALTERNATIVES,
	NPAGE_DOCS
};

const char *page_doc_name(enum page_doc which);

/* NULL: there is none. */
struct page_docs {
	struct cJSON *doc[NPAGE_DOCS];
};

/* Parse one; its text is needed no longer. */
bool page_docs_take(struct page_docs *d, enum page_doc which, const char *text,
    size_t n, struct err *err);
void page_docs_close(struct page_docs *d);

/* ERR_INPUT when a document is malformed or does not fit the others. */
bool page_write(FILE *f, const struct page_docs *d, struct err *err);

/* Check what page_write() and its readers rely on: every index in range. */
bool page_check(
    const struct cJSON *result, const struct cJSON *map, struct err *err);

#endif
