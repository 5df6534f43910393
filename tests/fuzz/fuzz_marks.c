/* Marks nobody vouches for, as lines "WHO KEY VALUE": a node's number, or 'm' for
 * the model. What is accepted is constraints that hold together. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/marks.h"

#define LONGEST 8192
#define NNODES 6
#define NONNX (NNODES + 2)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A diamond with a tail; ONNX node 4 is a call that became nodes 4 and 5, 6 was
 * folded and 7 stands in a body. */
static struct graph *
small_graph(struct arena *a)
{
	static const value_id from[NNODES][2] = {
	    {0, 0}, {1, 1}, {1, 1}, {2, 3}, {4, 4}, {5, 5}};
	struct graph *g = graph_new(a, "g");
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT};

	graph_add_value(g, "x", &t);
	for (node_id i = 0; i < NNODES; i++) {
		value_id out = graph_add_value(g, "v", &t);
		struct origin o = {.onnx = i < 4 ? i : 4};
		struct node n = {.op = OP_ADD,
		    .op_type = "Add",
		    .domain = "",
		    .name = "n",
		    .ninputs = 2,
		    .noutputs = 1,
		    .norigins = 1};

		n.input = (value_id *)arena_copy(a, from[i], sizeof from[i]);
		n.output = (value_id *)arena_copy(a, &out, sizeof out);
		n.origin = arena_copy(a, &o, sizeof o);
		graph_add_node(g, &n);
	}
	return g;
}

static void
add_meta(struct onnx_meta **list, uint32_t *n, char *line, struct arena *a)
{
	struct onnx_meta *more = arena_new(a, struct onnx_meta, *n + 1);
	char *value = strchr(line, ' ');

	if (value)
		*value++ = '\0';
	if (*n)
		memcpy(more, *list, *n * sizeof *more);
	more[*n] = (struct onnx_meta){line, value ? value : ""};
	*list = more;
	++*n;
}

static void
add_lines(
    struct model *m, struct onnx_nodes *table, char *text, struct arena *a)
{
	struct onnx_meta *of_model = NULL, *of_node[NONNX] = {NULL};

	for (char *line = text, *end; *line; line = end) {
		uint32_t who = (unsigned char)*line - (unsigned char)'0';

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (strlen(line) < 2)
			continue;
		if (who < NONNX)
			add_meta(&of_node[who], &table->node[who].nmeta,
			    line + 2, a);
		else
			add_meta(&of_model, &m->nmeta, line + 2, a);
	}
	m->meta = of_model;
	for (uint32_t i = 0; i < NONNX; i++)
		table->node[i].meta = of_node[i];
}

static void
check(const struct constraints *s, const struct mix *m)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct constraint *c = &s->item[i];

		if (c->targets >> m->n || !c->text)
			abort();
		for (uint32_t k = 0; k < c->nnodes; k++)
			if (c->node[k] >= NNODES
			    || (k > 0 && c->node[k] <= c->node[k - 1]))
				abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct err err = {.kind = ERR_NONE};
	struct constraints s = {.n = 0};
	struct notes notes;
	struct target target[] = {
	    {.kind = target_kind_find("mrvl"), .text = "mrvl:num_tiles=4"},
	    {.kind = target_kind_find("host"), .text = "host"}};
	struct mix mix = {.target = target, .n = 2};
	struct model m = {.path = "m.onnx"};

	if (size > LONGEST)
		return 0;
	arena_init(&a);
	notes_init(&notes, &a);
	m.graph = small_graph(&a);
	m.graph->origin_table->node = arena_new(&a, struct onnx_node, NONNX);
	m.graph->origin_table->n = m.graph->origin_table->cap = NONNX;
	for (uint32_t i = 0; i < NONNX; i++)
		m.graph->origin_table->node[i] =
		    (struct onnx_node){.path = i == 7 ? "If/then_branch" : "",
		        .index = i,
		        .name = "n",
		        .op_type = i == 4 ? "r" : "Add",
		        .domain = i == 4 ? REGION_DOMAIN : "",
		        .fate = i == 6 ? FATE_FOLDED : FATE_COVERED};
	add_lines(&m, m.graph->origin_table,
	    (char *)(uintptr_t)arena_strn(&a, (const char *)data, size), &a);
	if (marks_read(&s, &m, &mix, &notes, &a, &err))
		check(&s, &mix);
	else
		assert(err.kind == ERR_INPUT || err.kind == ERR_UNSUPPORTED);
	arena_release(&a);
	return 0;
}
