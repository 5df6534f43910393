/* Two results that nobody vouches for, one below "before" and one below "after":
 * refused, or what differs between them can be said. SOURCES: cli/result_view.c
 * cli/diff.c cli/diff_why.c cli/match.c cli/members.c */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cJSON.h>

#include "cli/diff.h"
#include "ir/base/jsonin.h"
#include "tests/support/infile.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
read_view(
    struct result_view *s, const cJSON *doc, const char *name, struct arena *a)
{
	const cJSON *part = cJSON_GetObjectItemCaseSensitive(doc, name);
	char *text = part ? cJSON_PrintUnformatted(part) : NULL;
	struct err err = {.kind = ERR_NONE};
	bool ok = false;

	*s = (struct result_view){.path = NULL};
	if (text) {
		infolder_put(name, (const uint8_t *)text, strlen(text));
		ok = result_view_read(s, scratch_path(name, a), a, &err);
		assert(ok || err.text[0] != '\0');
	}
	cJSON_free(text);
	return ok;
}

static void
explain(
    const struct result_view *x, const struct result_view *y, struct arena *a)
{
	struct diff d;

	diff_make(&d, x, y, DIFF_THRESHOLD, a);
	for (uint32_t i = 0; i < d.nmoves; i++) {
		struct move m = d.move[i];

		diff_explain(&d, &m, a);
		assert(reason_word(m.reason));
	}
	assert(verdict_word(d.verdict));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc =
	    jsonin_parse((const char *)data, size, "fuzz", &err);
	struct result_view x, y;
	struct arena a;
	bool both;

	if (!doc)
		return 0;
	arena_init(&a);
	both = read_view(&x, doc, "before", &a);
	both &= read_view(&y, doc, "after", &a);
	if (both)
		explain(&x, &y, &a);
	result_view_close(&x);
	result_view_close(&y);
	arena_release(&a);
	jsonin_close(doc);
	return 0;
}
