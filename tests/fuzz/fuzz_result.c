/* Documents of a result directory that nobody vouches for: checked, then put
 * into a page if they pass. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "emit/report/page.h"
#include "ir/base/jsonin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A member of the input as a document of its own; absent is none. */
static bool
take(struct page_docs *d, enum page_doc which, const cJSON *all,
    const char *key, struct err *err)
{
	const cJSON *doc = cJSON_GetObjectItemCaseSensitive(all, key);
	char *text = doc ? cJSON_PrintUnformatted(doc) : NULL;
	bool ok = !text || page_docs_take(d, which, text, strlen(text), err);

	cJSON_free(text);
	return ok;
}

static void
write_page(struct page_docs *d, struct err *err)
{
	char *page = NULL;
	size_t size;
	FILE *f = open_memstream(&page, &size);

	(void)page_write(f, d, err);
	fclose(f);
	free(page);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse((const char *)data, n, "fuzz", &err);
	struct page_docs d = {.doc = {NULL}};

	if (doc && take(&d, PAGE_RESULT, doc, "result", &err)
	    && take(&d, PAGE_MAP, doc, "map", &err)
	    && take(&d, PAGE_PROVENANCE, doc, "provenance", &err)
	    && take(&d, PAGE_ALTERNATIVES, doc, "alternatives", &err)
	    && d.doc[PAGE_RESULT])
		write_page(&d, &err);
	page_docs_close(&d);
	jsonin_close(doc);
	return 0;
}
