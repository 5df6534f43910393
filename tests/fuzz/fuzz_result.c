/* Documents of a result directory that nobody vouches for: checked, then drawn
 * (the text of the drawing only) if they pass. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cJSON.h>

#include "emit/page.h"
#include "ir/base/jsonin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse((const char *)data, n, "fuzz", &err);
	const struct cJSON *result, *map;

	if (!doc)
		return 0;
	result = cJSON_GetObjectItemCaseSensitive(doc, "result");
	map = cJSON_GetObjectItemCaseSensitive(doc, "map");
	if (result && page_check(result, map, &err)) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		page_dot(f, result);
		fclose(f);
		free(text);
	}
	jsonin_close(doc);
	return 0;
}
