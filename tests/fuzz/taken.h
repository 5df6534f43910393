/* What is accepted as a model keeps the graph's invariants, survives inference
 * and folding, and can be written and read again with as many nodes; what is
 * small is also matched by the targets. */
#ifndef TESTS_FUZZ_TAKEN_H
#define TESTS_FUZZ_TAKEN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "targets/candidates.h"
#include "targets/host/host.h"

#define LONGEST ((size_t)1 << 16)
#define MATCHED 24 /* nodes */

/* Overridable initialisers come back as plain constants; so only the nodes
 * are compared. */
static inline void
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
static inline bool
is_plain(const struct model *m)
{
	for (node_id id = 0; id < m->graph->nnodes; id++)
		if (m->graph->node[id].origin[0].role != ROLE_KEPT)
			return false;
	return m->graph->nnodes == m->graph->origin_table->n;
}

/* Whatever the targets see in it, it is something or one error. */
static inline void
match(const struct graph *g, struct arena *a)
{
	static const char *const text[] = {"mrvl", "host"};
	const struct candidate_options o = {.keep_refusals = true};
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct mix mix;

	if (!mix_open(&mix, text, 2, a, &err))
		abort();
	if (!candidates_find(&found, g, &mix, &o, a, &err)
	    && err.kind == ERR_NONE)
		abort();
}

static inline int
take_model(const uint8_t *data, size_t size)
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
		if (normalize(m.graph, &fold, &err)) {
			graph_verify(m.graph);
			if (m.graph->nnodes <= MATCHED)
				match(m.graph, &a);
		}
	} else if (err.kind != ERR_INPUT && err.kind != ERR_UNSUPPORTED) {
		abort();
	}
	arena_release(&a);
	return 0;
}

#endif
