/* The report as one page: a template with sentences, tables, the graph's data,
 * style and behaviour put in. Works from the documents alone, so it serves a
 * search that just ended and a directory of last year. */
#ifndef EMIT_REPORT_PAGE_H
#define EMIT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emit/report/view.h"
#include "ir/base/err.h"

const char *page_doc_name(enum page_doc which);

/* Parse one, in the order of enum page_doc; its text is needed no longer. */
bool page_docs_take(struct page_docs *d, enum page_doc which, const char *text,
    size_t n, struct err *err);
/* One as a tree that outlives `d`; of the map it has no lists, but what is on its nodes
 * is place[n]. */
void page_docs_give(
    struct page_docs *d, enum page_doc which, struct cJSON *doc);
void page_docs_give_places(
    struct page_docs *d, struct page_place *place, uint32_t n);
void page_docs_close(struct page_docs *d);

/* page_check() of them. */
bool page_docs_check(const struct page_docs *d, struct err *err);

/* ERR_INPUT when a document is malformed or does not fit the others. */
bool page_write(FILE *f, const struct page_docs *d, struct err *err);

/* Check what page_write() and its readers rely on: every index in range. */
bool page_check(
    const struct cJSON *result, const struct cJSON *map, struct err *err);

/* The same of an item of map.json's lists "onnx" and "nodes". */
bool page_check_onnx(
    const struct cJSON *item, int nonnx, int nnodes, struct err *err);
bool page_check_node(
    const struct cJSON *item, int ncomposites, struct err *err);

#endif
