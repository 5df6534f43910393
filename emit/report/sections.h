/* The sections of the page, in its order; each reads the view alone. */
#ifndef EMIT_REPORT_SECTIONS_H
#define EMIT_REPORT_SECTIONS_H

#include <stdio.h>

#include "emit/report/assumptions.h"
#include "emit/report/causes.h"
#include "emit/report/view.h"

/* What more than one section reads. */
struct page_facts {
	const struct page_view *v;
	struct assumptions assumed;
	struct causes *causes; /* [ntargets]; of the host: none */
	uint32_t accelerator; /* target, or PAGE_NONE */
};

void put_verdict(FILE *f, const struct page_facts *p);
void put_trust(FILE *f, const struct page_facts *p);
void put_notes(FILE *f, const struct page_facts *p);
void put_where(FILE *f, const struct page_facts *p);
void put_timeline(FILE *f, const struct page_facts *p);
void put_costliest(FILE *f, const struct page_facts *p);
void put_left(FILE *f, const struct page_facts *p);
void put_decides(FILE *f, const struct page_facts *p);
void put_next(FILE *f, const struct page_facts *p);

void put_graph(FILE *f, const struct page_facts *p);
void put_modules(FILE *f, const struct page_facts *p);
void put_lines(FILE *f, const struct page_facts *p);
void put_operators(FILE *f, const struct page_facts *p);
void put_regions(FILE *f, const struct page_facts *p);
void put_refused(FILE *f, const struct page_facts *p);
void put_assumptions(FILE *f, const struct page_facts *p);
void put_compared(FILE *f, const struct page_facts *p);
void put_environment(FILE *f, const struct page_facts *p);

/* What the script of the page draws and searches: one JSON document. */
void put_graph_data(FILE *f, const struct page_facts *p);

#endif
