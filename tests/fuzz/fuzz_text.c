/* The text form from nobody we know: what parses must print to a text that
 * parses to the same, and inference must take it without trouble. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/normalize.h"
#include "ir/text.h"

#define LONGEST 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *
printed(const struct graph *g, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	graph_print(f, g);
	fclose(f);
	return text;
}

/* Content given by hash is zeros after parsing, so the first print may differ;
 * from then on nothing may. */
static void
check_round_trip(const struct graph *g, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct graph *again;
	size_t n, n2;
	char *text = printed(g, &n), *second;

	if (!graph_parse(&again, text, n, "again", a, &err))
		abort();
	second = printed(again, &n2);
	if (n != n2 || memcmp(text, second, n) != 0)
		abort();
	free(text);
	free(second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct err err = {.kind = ERR_NONE};
	struct infer_options o = {.keep_going = size % 2};
	struct graph *g;

	if (size > LONGEST)
		return 0;
	arena_init(&a);
	if (graph_parse(&g, (const char *)data, size, "text", &a, &err)) {
		graph_verify(g);
		check_round_trip(g, &a);
		if (!normalize(g, &o, &err))
			assert(err.kind == ERR_INPUT);
	} else {
		assert(err.kind == ERR_INPUT);
	}
	arena_release(&a);
	return 0;
}
