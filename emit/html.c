/* report.html of a plan: the page over the documents written for it. */
#include <stdlib.h>

#include "emit/report/page.h"
#include "emit/writers.h"
#include "ir/base/memory.h"

typedef bool (*writer)(FILE *f, const struct emit_work *w, struct err *err);

static bool
write_text(struct page_text *t, char **text, writer write,
    const struct emit_work *w, struct err *err)
{
	FILE *f = memory_stream(text, &t->n);
	bool ok = write(f, w, err);

	memory_stream_close(f);
	t->text = *text;
	return ok;
}

bool
write_html(FILE *f, const struct emit_work *w, struct err *err)
{
	struct page_docs d = {.result = {NULL, 0}};
	char *text[4] = {NULL};
	bool ok = write_text(&d.result, &text[0], write_result, w, err)
	    && write_text(&d.map, &text[1], write_map, w, err)
	    && write_text(&d.provenance, &text[2], write_provenance, w, err)
	    && write_text(&d.alternatives, &text[3], write_alternatives, w, err)
	    && page_write(f, &d, err);

	for (size_t i = 0; i < 4; i++)
		free(text[i]);
	return ok;
}
