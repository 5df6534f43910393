/* Real models: each imports and normalises; those with a reference and nothing
 * but default-domain operators run on the host and match it. The argument is a
 * folder of folders, each with model.onnx and perhaps test_data_set_0. Prints
 * a table, then the sum. A second argument runs the models whose name contains
 * it only. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "exec/allowed.h"
#include "exec/perturbed.h"

enum verdict { PASSED, REFUSED, FAILED };

/* One model under test. */
struct trial {
	const char *folder;
	struct arena *a;
	struct model model;
	const struct tensor *in; /* [ninputs] when there is a reference */
	bool has_reference;
	uint32_t nodes, normal, open; /* open: not wholly static */
	double error; /* worst, as a part of what is allowed */
	char why[700];
};

static enum verdict
verdict(struct trial *t, enum verdict v, const char *what, const char *detail)
{
	snprintf(t->why, sizeof t->why, "%s%s", what, detail);
	return v;
}

static const char *
data_path(const struct trial *t, const char *kind, uint32_t i)
{
	return arena_printf(
	    t->a, "%s/test_data_set_0/%s_%u.pb", t->folder, kind, i);
}

/* An operator of another domain (or a stray of the default one), or NULL. */
static const char *
custom_operator(const struct graph *g, struct arena *a)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		if (n->op == OP_CUSTOM)
			return arena_printf(a, "%s%s%s", n->domain,
			    n->domain[0] ? "." : "", n->op_type);
		for (uint32_t i = 0; i < n->nattrs; i++) {
			const char *found = n->attr[i].kind == ATTR_GRAPH
			    ? custom_operator(n->attr[i].graphs[0], a)
			    : NULL;

			if (found)
				return found;
		}
	}
	return NULL;
}

static bool
is_real(enum dtype t)
{
	return t == DT_FLOAT || t == DT_DOUBLE || t == DT_FLOAT16
	    || t == DT_BFLOAT16;
}

static bool
same_shape(const struct tensor *x, const struct tensor *y)
{
	if (x->kind == TENSOR_SEQUENCE || x->dtype != y->dtype
	    || x->rank != y->rank)
		return false;
	for (uint32_t i = 0; i < x->rank; i++)
		if (x->dim[i] != y->dim[i])
			return false;
	return true;
}

/* The worst difference, as a part of what is allowed; infinite where NaN or
 * infinities differ. */
static double
excess(const struct tensor *x, const struct tensor *want, double limit)
{
	double worst = 0;

	for (size_t i = 0; i < want->count; i++) {
		double p = tensor_real(x, i), q = tensor_real(want, i);

		if (isnan(p) != isnan(q) || (isinf(q) && p != q))
			return (double)INFINITY;
		if (isfinite(q))
			worst = fmax(worst, fabs(p - q) / limit);
	}
	return worst;
}

/* What rounding does to output i by way of the model, as a part of its range. */
static double
movable(const struct trial *t, uint32_t i)
{
	const struct graph *g = t->model.graph;
	double *of = arena_new(t->a, double, g->noutputs);
	const struct perturbation how = {.all = PERTURBED_LEAST};
	struct err err = {.kind = ERR_NONE};

	return outputs_movable(of, g, t->in, host_eval, &how, &err) ? of[i] : 0;
}

static bool
matches(struct trial *t, uint32_t i, const struct tensor *x,
    const struct tensor *want)
{
	const struct allowance a = allowance_of(t->model.graph);
	double range = 0, worst, limit;

	if (!same_shape(x, want))
		return false;
	if (!is_real(want->dtype))
		return tensor_equal(x, want);
	for (size_t k = 0; k < want->count; k++)
		if (isfinite(tensor_real(want, k)))
			range = fmax(range, fabs(tensor_real(want, k)));
	limit = output_allowed(&a, t->model.graph->output[i], range);
	worst = excess(x, want, limit);
	if (worst > 1 && isfinite(worst))
		worst = excess(x, want, limit + movable(t, i) * range);
	t->error = fmax(t->error, worst);
	return worst <= 1;
}

/* Dimensions inference is sure of must be the reference's. */
static bool
inferred_right(const struct type *type, const struct tensor *want)
{
	if (type->kind != TYPE_TENSOR || type->rank == RANK_UNKNOWN)
		return type->kind == TYPE_UNKNOWN || type->kind == TYPE_TENSOR;
	if (type->rank != want->rank || type->dtype != want->dtype)
		return false;
	for (uint32_t i = 0; i < type->rank; i++)
		if (type->dim[i] >= 0 && type->dim[i] != want->dim[i])
			return false;
	return true;
}

static enum verdict
compare(struct trial *t, const struct tensor *out)
{
	const struct graph *g = t->model.graph;
	struct err err = {.kind = ERR_NONE};

	for (uint32_t i = 0; i < g->noutputs; i++) {
		const struct value *v = graph_value(g, g->output[i]);
		struct tensor want;

		if (access(data_path(t, "output", i), R_OK) != 0)
			continue;
		if (!onnx_read_value(
		        &want, &v->type, data_path(t, "output", i), t->a, &err))
			return verdict(t, FAILED, "reference: ", err.text);
		if (!inferred_right(&v->type, &want))
			return verdict(t, FAILED, "inferred shape is wrong: ",
			    type_text(&v->type, g->symbol, t->a));
		if (!matches(t, i, &out[i], &want))
			return verdict(t, FAILED, "wrong output ",
			    arena_printf(t->a, "%s, %.3g times what is allowed",
			        v->name, t->error));
	}
	return PASSED;
}

/* Input tensors of the reference, and the shapes they give the inputs. */
static bool
read_inputs(struct trial *t, struct onnx_options *o, struct err *err)
{
	const struct graph *g = t->model.graph;
	struct tensor *in = arena_new(t->a, struct tensor, g->ninputs);
	struct bind_shape *shape =
	    arena_new(t->a, struct bind_shape, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct value *v = graph_value(g, g->input[i]);

		if (!onnx_read_value(
		        &in[i], &v->type, data_path(t, "input", i), t->a, err))
			return false;
		if (v->type.kind == TYPE_TENSOR)
			shape[o->nshapes++] =
			    (struct bind_shape){.value = v->name,
			        .rank = in[i].rank,
			        .dim = in[i].dim};
	}
	o->shape = shape;
	t->in = in;
	return true;
}

static void
count_nodes(struct trial *t)
{
	const struct graph *g = t->model.graph;

	t->normal = g->nnodes;
	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t i = 0; i < g->node[id].noutputs; i++) {
			const struct value *v = node_out(g, &g->node[id], i);

			if (v && !type_is_static(&v->type)) {
				t->open++;
				break;
			}
		}
}

/* Read, with the reference's shapes when there is one, and normalise. */
static enum verdict
prepare(struct trial *t)
{
	const char *path = arena_printf(t->a, "%s/model.onnx", t->folder);
	struct infer_options infer = {.eval = host_eval};
	struct onnx_options o = {0};
	struct err err = {.kind = ERR_NONE};
	uint32_t count[3];

	if (!onnx_read(&t->model, path, &o, t->a, &err))
		return verdict(t, FAILED, "import: ", err.text);
	t->has_reference = access(data_path(t, "output", 0), R_OK) == 0;
	if (t->has_reference) {
		if (!read_inputs(t, &o, &err))
			return verdict(t, FAILED, "inputs: ", err.text);
		model_close(&t->model);
		if (!onnx_read(&t->model, path, &o, t->a, &err))
			return verdict(t, FAILED, "with shapes: ", err.text);
	}
	t->nodes = t->model.graph->nnodes;
	if (!normalize(t->model.graph, &infer, &err))
		return verdict(t, t->has_reference ? FAILED : REFUSED,
		    "normalise: ", err.text);
	graph_conservation(t->model.graph, count);
	count_nodes(t);
	return PASSED;
}

static enum verdict
run(struct trial *t)
{
	struct graph *g;
	struct tensor *out;
	struct err err = {.kind = ERR_NONE};
	enum verdict v = prepare(t);
	const char *custom;

	g = t->model.graph;
	if (v != PASSED || !t->has_reference)
		return v;
	custom = custom_operator(g, t->a);
	out = arena_new(t->a, struct tensor, g->noutputs);
	if (!host_run(g, t->in, out, t->a, &err)) {
		if (custom && strstr(err.text, custom))
			return verdict(t, REFUSED, "", err.text);
		return verdict(t, FAILED, "run: ", err.text);
	}
	if (custom)
		return verdict(t, FAILED, "ran without a kernel for ", custom);
	return compare(t, out);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Folders with a model.onnx below `root`, sorted. */
static uint32_t
find_models(
    const char *root, const char *filter, const char ***names, struct arena *a)
{
	DIR *d = opendir(root);
	const struct dirent *e;
	uint32_t n = 0, cap = 0;

	*names = NULL;
	while (d && (e = readdir(d)) != NULL) {
		const char *path =
		    arena_printf(a, "%s/%s/model.onnx", root, e->d_name);

		if (access(path, R_OK) != 0 || !strstr(e->d_name, filter))
			continue;
		*names = arena_grow(a, *names, &cap, n + 1, sizeof **names);
		(*names)[n++] = arena_str(a, e->d_name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(*names, n, sizeof **names, by_name);
	return n;
}

static enum verdict
run_one(const char *root, const char *name)
{
	static const char *const word[] = {"ok", "refused", "FAILED"};
	struct arena a;
	struct trial t = {.a = &a};
	uint64_t start = clock_ns();
	enum verdict v;

	arena_init(&a);
	t.folder = arena_printf(&a, "%s/%s", root, name);
	v = run(&t);
	printf(
	    "%-32s %-8s %5u %5u %5u", name, word[v], t.nodes, t.normal, t.open);
	if (v == PASSED && t.has_reference)
		printf(" %8.4f", t.error);
	else
		printf(" %8s", "-");
	printf(" %6.1fs  %s\n", (double)(clock_ns() - start) / 1e9, t.why);
	fflush(stdout);
	if (t.model.graph)
		model_close(&t.model);
	arena_release(&a);
	return v;
}

int
main(int argc, char **argv)
{
	uint32_t count[3] = {0}, n;
	const char **names;
	struct arena a;

	if (argc < 2) {
		fprintf(stderr, "usage: models FOLDER [NAME]\n");
		return 2;
	}
	arena_init(&a);
	n = find_models(argv[1], argc > 2 ? argv[2] : "", &names, &a);
	printf("%-32s %-8s %5s %5s %5s %8s %7s\n", "model", "verdict", "nodes",
	    "after", "open", "error", "time");
	for (uint32_t i = 0; i < n; i++)
		count[run_one(argv[1], names[i])]++;
	arena_release(&a);
	printf("%u run or imported, %u refused by name\n", count[PASSED],
	    count[REFUSED]);
	printf("%u passed, %u failed\n", count[PASSED] + count[REFUSED],
	    count[FAILED]);
	return count[FAILED] || n == 0 ? 1 : 0;
}
