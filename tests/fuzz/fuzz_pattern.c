/* Pattern texts nobody vouches for: what parses must print to a text that
 * parses to the same, and must match a small graph without trouble. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "targets/pattern.h"

#define LONGEST 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
add(struct graph *g, enum op op, value_id x, value_id y)
{
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT};
	value_id in[] = {x, y}, out = graph_add_value(g, "v", &t);
	struct node n = {.op = op,
	    .op_type = op_get(op)->type,
	    .domain = "",
	    .name = "",
	    .ninputs = y == VALUE_NONE ? 1 : 2,
	    .noutputs = 1};

	n.input = (value_id *)arena_copy(g->arena, in, sizeof in);
	n.output = (value_id *)arena_copy(g->arena, &out, sizeof out);
	graph_add_node(g, &n);
}

static struct graph *
small_graph(struct arena *a)
{
	struct graph *g = graph_new(a, "g");
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT};
	static const float one = 1;
	struct tensor *c = arena_new(a, struct tensor, 1);

	*c = tensor_fill(DT_FLOAT, 0, NULL, &one);
	graph_add_value(g, "x", &t);
	graph_add_constant(g, "c", c);
	for (value_id v = 1; v < 40; v++)
		add(g, v % 3 ? OP_ADD : OP_RELU, v,
		    v % 3 ? v - v % 2 : VALUE_NONE);
	return g;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a, scratch;
	struct err err = {.kind = ERR_NONE};
	const struct pattern *p, *again;
	struct match match[64];
	const struct matches matches = {match, 64, &a, &scratch, NULL};
	const char *text;
	struct graph *g;

	if (size > LONGEST)
		return 0;
	arena_init(&a);
	arena_init(&scratch);
	p = pattern_parse(arena_strn(&a, (const char *)data, size), &a, &err);
	if (p) {
		text = pattern_print(p, &a);
		again = pattern_parse(text, &a, &err);
		if (!again || strcmp(text, pattern_print(again, &a)) != 0)
			abort();
		g = small_graph(&a);
		for (node_id id = 0; id < g->nnodes; id++)
			pattern_match(p, g, id, &matches);
	} else {
		assert(err.kind == ERR_INPUT);
	}
	arena_release(&scratch);
	arena_release(&a);
	return 0;
}
