/* A rules file nobody vouches for is refused, or is a backend whose rules can be
 * told and matched. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/arena.h"
#include "targets/candidates.h"
#include "tests/support/build.h"
#include "tests/support/infile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct graph *
small_graph(struct arena *a)
{
	struct graph *g = graph_new(a, "g");
	value_id io[2];

	io[0] = build_input(g, "x", DT_FLOAT, DIMS(1, 2, 4, 4));
	io[1] = build_zeros(g, DT_FLOAT, DIMS(3, 2, 1, 1));
	io[0] = build_node(g, OP_CONV, 11, io, 2);
	build_int(g, "group", 1);
	build_node(g, OP_RELU, 13, io, 1);
	return g;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct arena a;
	struct mix mix;
	const char *text;

	arena_init(&a);
	text = arena_printf(&a, "rules:file=%s", infile(data, size));
	if (mix_open(&mix, &text, 1, &a, &err)) {
		if (!candidates_find(
		        &found, small_graph(&a), &mix, NULL, &a, &err))
			assert(err.kind != ERR_NONE);
	} else {
		assert(err.kind != ERR_NONE && !strchr(err.text, '\n'));
	}
	arena_release(&a);
	return 0;
}
