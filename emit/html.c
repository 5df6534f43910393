/* report.html of a plan: the page over the documents written for it. */
#include <stdlib.h>

#include "emit/report/page.h"
#include "emit/writers.h"
#include "ir/base/file.h"
#include "ir/base/memory.h"

typedef bool (*writer)(FILE *f, const struct emit_work *w, struct err *err);

/* The document is in the folder already. */
static bool
take_written(
    struct page_docs *d, enum page_doc which, const char *path, struct err *err)
{
	struct mapped_file m;
	bool ok;

	if (!file_map(&m, path, err))
		return false;
	ok = page_docs_take(d, which, (const char *)m.data, m.bytes, err);
	file_unmap(&m);
	return ok;
}

static bool
take_anew(struct page_docs *d, enum page_doc which, writer write,
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

/* Each is parsed before the next is written: of a large result they are the most that
 * is in memory. */
static bool
take(struct page_docs *d, enum page_doc which, writer write,
    const struct emit_work *w, struct err *err)
{
	const char *path = w->out ? arena_printf(w->arena, "%s/%s",
	                       w->out->temporary, page_doc_name(which))
	                          : NULL;

	return path && !file_is_absent(path)
	    ? take_written(d, which, path, err)
	    : take_anew(d, which, write, w, err);
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
