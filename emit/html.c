/* report.html of a plan: the page over the documents written for it. */
#include <stdlib.h>

#include "emit/report/page.h"
#include "emit/writers.h"
#include "ir/base/memory.h"

typedef bool (*writer)(FILE *f, const struct emit_work *w, struct err *err);

/* Each is parsed before the next is written: of a large result they are the most that
 * is in memory. */
static bool
take(struct page_docs *d, enum page_doc which, writer write,
    const struct emit_work *w, struct err *err)
{
	char *text = NULL;
	size_t n;
	FILE *f = memory_stream(&text, &n);
	bool ok = write(f, w, err);

	memory_stream_close(f);
	ok = ok && page_docs_take(d, which, text, n, err);
	free(text);
	return ok;
}

bool
write_html(FILE *f, const struct emit_work *w, struct err *err)
{
	static const writer all[NPAGE_DOCS] = {[PAGE_RESULT] = write_result,
	    [PAGE_MAP] = write_map,
	    [PAGE_PROVENANCE] = write_provenance,
	    [PAGE_ALTERNATIVES] = write_alternatives};
	struct page_docs d = {.doc = {NULL}};
	bool ok = true;

	for (int i = 0; ok && i < NPAGE_DOCS; i++)
		ok = take(&d, (enum page_doc)i, all[i], w, err);
	ok = ok && page_write(f, &d, err);
	page_docs_close(&d);
	return ok;
}
