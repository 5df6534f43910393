/* Models nobody vouches for: what is accepted keeps the graph's invariants,
 * survives inference, and can be written and read again with as many nodes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "targets/host/host.h"

#define LONGEST ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Overridable initialisers come back as plain constants; so only the nodes
 * are compared. */
static void
write_and_read(const struct model *m, struct arena *a)
{
	struct onnx_out out = {.graph = m->graph,
	    .ir_version = m->ir_version,
	    .nopsets = m->nopsets,
	    .opset = m->opset,
	    .nmeta = m->nmeta,
	    .meta = m->meta};
	struct err err = {.kind = ERR_NONE};
	char *text = NULL;
	struct model again;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f || !onnx_write(f, &out, &err) || fclose(f) != 0)
		abort();
	if (!onnx_read_bytes(&again, text, n, NULL, a, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	if (again.graph->nnodes != m->graph->nnodes)
		abort();
	free(text);
}

/* Function bodies import opsets of their own and bring operators the model
 * does not import, so such a graph is not written back. */
static bool
is_plain(const struct model *m)
{
	for (node_id id = 0; id < m->graph->nnodes; id++)
		if (m->graph->node[id].origin[0].role != ROLE_KEPT)
			return false;
	return m->graph->nnodes == m->graph->origin_table->n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct onnx_options collect = {.collect = true};
	struct infer_options fold = {.eval = host_eval};
	struct err err = {.kind = ERR_NONE};
	struct model m;
	struct arena a;

	if (size > LONGEST)
		return 0;
	arena_init(&a);
	if (!onnx_read_bytes(&m, data, size, &collect, &a, &err)
	    && err.kind == ERR_NONE)
		abort();
	err_clear(&err);
	if (onnx_read_bytes(&m, data, size, NULL, &a, &err)) {
		graph_verify(m.graph);
		if (is_plain(&m))
			write_and_read(&m, &a);
		if (normalize(m.graph, &fold, &err))
			graph_verify(m.graph);
	} else if (err.kind != ERR_INPUT && err.kind != ERR_UNSUPPORTED) {
		abort();
	}
	arena_release(&a);
	return 0;
}
