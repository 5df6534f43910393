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

/* A member of the input as a document of its own. */
static char *
take(struct page_text *t, const cJSON *all, const char *name)
{
	const cJSON *doc = cJSON_GetObjectItemCaseSensitive(all, name);
	char *text = doc ? cJSON_PrintUnformatted(doc) : NULL;

	t->text = text;
	t->n = text ? strlen(text) : 0;
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse((const char *)data, n, "fuzz", &err);
	struct page_docs d;
	char *part[4], *page = NULL;
	size_t size;
	FILE *f;

	if (!doc)
		return 0;
	part[0] = take(&d.result, doc, "result");
	part[1] = take(&d.map, doc, "map");
	part[2] = take(&d.provenance, doc, "provenance");
	part[3] = take(&d.alternatives, doc, "alternatives");
	f = open_memstream(&page, &size);
	if (part[0])
		(void)page_write(f, &d, &err);
	fclose(f);
	free(page);
	for (size_t i = 0; i < 4; i++)
		cJSON_free(part[i]);
	jsonin_close(doc);
	return 0;
}
