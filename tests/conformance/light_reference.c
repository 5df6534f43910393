/* The light models with reproducible weights, against outputs an independent
 * runtime computed. The argument is the folder of references; the models lie
 * beside it in models/light_<name>. Every ConstantOfShape (s-th in graph order)
 * becomes a tensor of hashed numbers. Small models only, unless a second
 * argument names one or says "all".
 *
 * bvlc_alexnet and vgg19 are not in the table: we do not reproduce their
 * references. For alexnet NumPy, computing from the published recipe, agrees
 * with us; vgg19 was not computed a third time. */
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

#define INPUT_SALT 999999u

static const struct {
	const char *name;
	float base; /* what batch normalisation scales are around */
	bool is_small;
} models[] = {
    {"squeezenet", 1, true},
    {"inception_v1", 1, true},
    {"inception_v2", 1, false},
    {"resnet50", 0.5f, false},
};

/* Number i of salt s, in [-1, 1). */
static float
hashed(uint32_t i, uint32_t s)
{
	uint32_t h = i * 2654435761u + s * 40503u + 12345u;

	h ^= h >> 16;
	h *= 0x7feb352du;
	h ^= h >> 15;
	h *= 0x846ca68bu;
	h ^= h >> 16;
	return (float)(h >> 8) * 0x1p-23f - 1.0f;
}

/* weight = scale * hashed + offset, by what the weight is for. */
struct recipe {
	float scale, offset;
};

static struct recipe
recipe_of(
    const struct node *user, uint32_t slot, const struct type *t, float base)
{
	int64_t n = 1;

	for (uint32_t i = 1; i < t->rank; i++)
		n *= t->dim[i];
	if ((user->op == OP_CONV || user->op == OP_GEMM) && slot == 1)
		return (struct recipe){(float)sqrt(6.0 / (double)n), 0};
	if (user->op == OP_BATCHNORMALIZATION && slot == 1)
		return (struct recipe){0.25f * base, base};
	if (user->op == OP_BATCHNORMALIZATION && slot == 4)
		return (struct recipe){0.5f, 1};
	if (user->op == OP_MUL)
		return (struct recipe){0.25f, 1};
	return (struct recipe){0.1f, 0};
}

static uint32_t
slot_of(const struct node *user, value_id v)
{
	uint32_t slot = 0;

	while (user->input[slot] != v)
		slot++;
	return slot;
}

static const struct tensor *
filled(
    const struct type *t, uint32_t salt, struct recipe recipe, struct arena *a)
{
	struct tensor *made = arena_new(a, struct tensor, 1);
	size_t n, bytes;
	float *data;

	tensor_size(DT_FLOAT, t->dim, t->rank, &n, &bytes);
	data = arena_new(a, float, n);
	for (size_t i = 0; i < n; i++)
		data[i] =
		    recipe.offset + recipe.scale * hashed((uint32_t)i, salt);
	*made = tensor_view(DT_FLOAT, t->rank, t->dim, data);
	return made;
}

/* The inferred types say how large each weight is; its node makes nothing
 * afterwards. */
static void
put_weights(struct graph *g, float base, struct arena *a)
{
	struct uses uses = graph_uses(g, a);
	uint32_t salt = 0;

	for (node_id id = 0; id < g->nnodes; id++) {
		struct node *n = &g->node[id], *user;
		struct value *v;
		uint32_t slot;

		if (n->op != OP_CONSTANTOFSHAPE)
			continue;
		v = graph_value(g, n->output[0]);
		user = graph_node(g, uses.user[uses.start[n->output[0]]]);
		slot = slot_of(user, n->output[0]);
		if (user->op == OP_UNSQUEEZE) {
			value_id out = user->output[0];

			user = graph_node(g, uses.user[uses.start[out]]);
			slot = 1;
		}
		v->constant = filled(
		    &v->type, salt++, recipe_of(user, slot, &v->type, base), a);
		v->producer = NODE_NONE;
		n->output[0] = VALUE_NONE;
	}
}

/* What inference folded before the weights were in is forgotten. */
static void
forget_folded(struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].producer != NODE_NONE)
			g->value[v].constant = NULL;
}

static bool
compare(const struct tensor *x, const struct tensor *want, double *worst)
{
	size_t top = 0, want_top = 0;

	*worst = (double)INFINITY;
	if (x->count != want->count || x->dtype != want->dtype)
		return false;
	*worst = 0;
	for (size_t i = 0; i < want->count; i++) {
		double p = tensor_real(x, i), q = tensor_real(want, i);

		*worst = fmax(*worst, fabs(p - q) / (1e-5 + 1e-4 * fabs(q)));
		top = p > tensor_real(x, top) ? i : top;
		want_top = q > tensor_real(want, want_top) ? i : want_top;
	}
	return *worst <= 1 && top == want_top;
}

static bool
run(const char *root, uint32_t which, struct arena *a, struct model *m,
    double *worst, struct err *err)
{
	const char *name = models[which].name;
	struct infer_options shapes = {0}, all = {.eval = host_eval};
	struct tensor out, want;
	const struct tensor *in;
	struct graph *g;

	if (!onnx_read(m,
	        arena_printf(a, "%s/../models/light_%s/model.onnx", root, name),
	        &(struct onnx_options){0}, a, err)
	    || !onnx_read_tensor(
	        &want, arena_printf(a, "%s/%s/output_0.pb", root, name), a, err)
	    || !infer(m->graph, &shapes, err))
		return false;
	g = m->graph;
	forget_folded(g);
	put_weights(g, models[which].base, a);
	in = filled(&graph_value(g, g->input[0])->type, INPUT_SALT,
	    (struct recipe){1, 0}, a);
	if (!normalize(g, &all, err) || !host_run(g, in, &out, a, err))
		return false;
	return compare(&out, &want, worst)
	    || err_set(
	        err, ERR_INPUT, "output differs, %g times too much", *worst);
}

static bool
run_one(const char *root, uint32_t which)
{
	struct err err = {.kind = ERR_NONE};
	struct model m = {0};
	uint64_t began = clock_ns();
	double worst = 0;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = run(root, which, &a, &m, &worst, &err);
	printf("%-14s %-6s error %.4f of what is allowed, %ld s  %s\n",
	    models[which].name, ok ? "ok" : "FAILED", worst,
	    (long)((clock_ns() - began) / 1000000000), ok ? "" : err.text);
	fflush(stdout);
	if (m.graph)
		model_close(&m);
	arena_release(&a);
	return ok;
}

int
main(int argc, char **argv)
{
	const char *want = argc > 2 ? argv[2] : "";
	uint32_t passed = 0, failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: light_reference FOLDER [NAME|all]\n");
		return 2;
	}
	for (uint32_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		if (*want ? strcmp(want, "all") && strcmp(want, models[i].name)
		          : !models[i].is_small)
			continue;
		if (run_one(argv[1], i))
			passed++;
		else
			failed++;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || passed == 0 ? 1 : 0;
}
