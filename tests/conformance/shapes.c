/* Shape arithmetic folds completely: with dimensions as the reference has them,
 * no node is left that depends on constants and known shapes only. Arguments are
 * folders of folders, each with model.onnx and perhaps test_data_set_0. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "tests/support/leftover.h"

struct subject {
	const char *folder;
	struct arena *a;
	struct model model;
};

/* The shapes of the reference's inputs; none where there is no reference. */
static void
bind(struct subject *s, struct onnx_options *o)
{
	const struct graph *g = s->model.graph;
	struct bind_shape *shape =
	    arena_new(s->a, struct bind_shape, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct value *v = graph_value(g, g->input[i]);
		const char *path = arena_printf(
		    s->a, "%s/test_data_set_0/input_%u.pb", s->folder, i);
		struct err ignored = {.kind = ERR_NONE};
		struct tensor in;

		if (access(path, R_OK) != 0 || v->type.kind != TYPE_TENSOR
		    || !onnx_read_value(&in, &v->type, path, s->a, &ignored))
			continue;
		shape[o->nshapes++] = (struct bind_shape){
		    .value = v->name, .rank = in.rank, .dim = in.dim};
	}
	o->shape = shape;
}

static bool
read_bound(struct subject *s, struct err *err)
{
	const char *path = arena_printf(s->a, "%s/model.onnx", s->folder);
	const struct infer_options infer = {.eval = host_eval};
	struct onnx_options o = {0};

	if (!onnx_read(&s->model, path, &o, s->a, err))
		return false;
	bind(s, &o);
	model_close(&s->model);
	return onnx_read(&s->model, path, &o, s->a, err)
	    && normalize(s->model.graph, &infer, err);
}

static bool
check(const char *root, const char *name)
{
	struct arena a;
	struct err err = {.kind = ERR_NONE};
	struct subject s = {.a = &a};
	node_id left = NODE_NONE;
	bool ok;

	arena_init(&a);
	s.folder = arena_printf(&a, "%s/%s", root, name);
	ok = read_bound(&s, &err);
	if (ok)
		left = leftover_node(s.model.graph, &a);
	printf("%-32s ", name);
	if (!ok) /* that it is read is for conformance_models to see */
		printf("not read: %s\n", err.text);
	else if (left != NODE_NONE)
		printf("LEFT '%s' (#%u, %s) of %u nodes\n",
		    node_label(s.model.graph, left, &a), left,
		    graph_node(s.model.graph, left)->op_type,
		    s.model.graph->nnodes);
	else
		printf("%u nodes\n", s.model.graph->nnodes);
	if (ok)
		model_close(&s.model);
	arena_release(&a);
	return left == NODE_NONE;
}

int
main(int argc, char **argv)
{
	uint32_t nmodels = 0, nleft = 0;

	for (int i = 1; i < argc; i++) {
		struct dirent **entry;
		int n = scandir(argv[i], &entry, NULL, alphasort);

		for (int k = 0; k < n; k++) {
			if (entry[k]->d_name[0] != '.') {
				nmodels++;
				nleft += !check(argv[i], entry[k]->d_name);
			}
			free(entry[k]);
		}
		if (n >= 0)
			free(entry);
	}
	printf("%u models, %u with something left to fold\n", nmodels, nleft);
	return nmodels == 0 || nleft > 0;
}
