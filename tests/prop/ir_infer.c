/* Inference against evaluation: random small nodes run on the host, and every
 * dimension inference was sure of must be what came out. What inference calls
 * broken, the host must not run either. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/infer.h"
#include "targets/host/host.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

#define CASES 20000u
#define MAX_RANK 4u

struct trial {
	struct rng rng;
	struct arena *a;
	struct graph *g;
	value_id in[6];
	uint32_t nin;
	const struct tensor *tensor[6];
};

static uint32_t
below(struct trial *t, uint32_t n)
{
	return rng_below(&t->rng, n);
}

static int64_t
between(struct trial *t, int64_t low, int64_t high)
{
	return low + below(t, (uint32_t)(high - low + 1));
}

static const int64_t *
random_dims(struct trial *t, uint32_t rank, int64_t low, int64_t high)
{
	int64_t *dim = arena_new(t->a, int64_t, rank);

	for (uint32_t i = 0; i < rank; i++)
		dim[i] = between(t, low, high);
	return dim;
}

/* A float input with small whole values. */
static void
feed(struct trial *t, const int64_t *dim, uint32_t rank)
{
	struct tensor *x = arena_new(t->a, struct tensor, 1);
	size_t n, bytes;
	float *data;

	tensor_size(DT_FLOAT, dim, rank, &n, &bytes);
	data = arena_new(t->a, float, n);
	for (size_t i = 0; i < n; i++)
		data[i] = (float)below(t, 5);
	*x = tensor_view(DT_FLOAT, rank, dim, data);
	t->tensor[t->nin] = x;
	t->in[t->nin] = build_input(t->g, "x", DT_FLOAT, dim, rank);
	t->nin++;
}

/* A constant list of integers, known to inference too. */
static void
give(struct trial *t, const int64_t *v, uint32_t n)
{
	t->in[t->nin] = build_ints(t->g, v, n);
	t->tensor[t->nin] = graph_value(t->g, t->in[t->nin])->constant;
	t->nin++;
}

static void
node(struct trial *t, enum op op)
{
	build_node(t->g, op, 13, t->in, t->nin);
}

static void
list(struct trial *t, const char *name, uint32_t n, int64_t low, int64_t high)
{
	build_list(t->g, name, random_dims(t, n, low, high), n);
}

static void
make_unary(struct trial *t)
{
	static const enum op op[] = {OP_RELU, OP_SIGMOID, OP_EXP, OP_NEG,
	    OP_FLOOR, OP_SQRT, OP_TANH, OP_IDENTITY, OP_SHAPE, OP_SIZE};
	uint32_t rank = below(t, MAX_RANK + 1);

	feed(t, random_dims(t, rank, 0, 3), rank);
	node(t, op[below(t, 10)]);
}

static void
make_binary(struct trial *t)
{
	static const enum op op[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW,
	    OP_LESS, OP_EQUAL, OP_MAX, OP_MIN, OP_MATMUL};
	uint32_t a = below(t, MAX_RANK), b = below(t, MAX_RANK);

	feed(t, random_dims(t, a, 1, 2), a);
	feed(t, random_dims(t, b, 1, 2), b);
	node(t, op[below(t, 10)]);
}

/* Pads stay below the kernel: what a window of padding only gives is nobody's
 * business. */
static void
window_attrs(struct trial *t, uint32_t n, int64_t most_pad)
{
	static const char *const pads[] = {
	    "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};
	uint32_t k = below(t, 4);

	if (below(t, 2))
		list(t, "strides", n, 1, 3);
	if (below(t, 2))
		list(t, "dilations", n, 1, 2);
	if (k)
		build_string(t->g, "auto_pad", pads[k]);
	else if (below(t, 2))
		list(t, "pads", 2 * n, 0, most_pad);
}

static void
make_conv(struct trial *t)
{
	uint32_t n = 1 + below(t, 2);
	int64_t group = between(t, 1, 2), x[4], w[4];

	x[0] = between(t, 1, 2);
	w[1] = between(t, 1, 2);
	x[1] = w[1] * group + (below(t, 12) == 0);
	w[0] = group * between(t, 1, 2);
	for (uint32_t i = 2; i < n + 2; i++) {
		x[i] = between(t, 1, 7);
		w[i] = between(t, 1, 3);
	}
	feed(t, arena_copy(t->a, x, sizeof x), n + 2);
	feed(t, arena_copy(t->a, w, sizeof w), n + 2);
	node(t, below(t, 3) ? OP_CONV : OP_CONVTRANSPOSE);
	build_int(t->g, "group", group);
	window_attrs(t, n, 2);
}

static void
make_pool(struct trial *t)
{
	static const enum op op[] = {
	    OP_MAXPOOL, OP_AVERAGEPOOL, OP_GLOBALMAXPOOL};
	uint32_t n = 1 + below(t, 2), k = below(t, 3);

	feed(t, random_dims(t, n + 2, 1, 6), n + 2);
	node(t, op[k]);
	if (k == 2)
		return;
	list(t, "kernel_shape", n, 2, 3);
	if (below(t, 2))
		build_int(t->g, "ceil_mode", 1);
	window_attrs(t, n, 1);
}

static void
make_reduce(struct trial *t)
{
	static const enum op op[] = {
	    OP_REDUCEMEAN, OP_REDUCEMAX, OP_REDUCEPROD, OP_ARGMAX, OP_SOFTMAX};
	uint32_t rank = 1 + below(t, MAX_RANK), k = below(t, 5);

	feed(t, random_dims(t, rank, 1, 3), rank);
	node(t, op[k]);
	if (k >= 3)
		build_int(t->g, "axis", between(t, -4, 3));
	else if (below(t, 3))
		list(t, "axes", 1 + below(t, 2), -3, 3);
	if (below(t, 2))
		build_int(t->g, "keepdims", below(t, 2));
}

static void
make_reshape(struct trial *t)
{
	uint32_t rank = below(t, MAX_RANK), want = below(t, 4);

	feed(t, random_dims(t, rank, 1, 4), rank);
	give(t, random_dims(t, want, -1, 4), want);
	node(t, below(t, 4) ? OP_RESHAPE : OP_EXPAND);
}

static void
make_axes(struct trial *t)
{
	static const enum op op[] = {OP_SQUEEZE, OP_UNSQUEEZE, OP_REDUCESUM};
	uint32_t rank = below(t, MAX_RANK), n = below(t, 3);

	feed(t, random_dims(t, rank, 1, 2), rank);
	give(t, random_dims(t, n, -3, 3), n);
	node(t, op[below(t, 3)]);
}

static void
make_slice(struct trial *t)
{
	uint32_t rank = 1 + below(t, 3), n = 1 + below(t, 2);

	feed(t, random_dims(t, rank, 0, 6), rank);
	give(t, random_dims(t, n, -8, 8), n);
	give(t, random_dims(t, n, -8, 8), n);
	give(t, random_dims(t, n, -2, 2), n); /* axes */
	if (below(t, 2))
		give(t, random_dims(t, n, -2, 2), n); /* steps */
	node(t, OP_SLICE);
}

static void
make_move(struct trial *t)
{
	uint32_t rank = 1 + below(t, 3), k = below(t, 6);

	feed(t, random_dims(t, rank, 1, 4), rank);
	if (k == 0) {
		node(t, OP_TRANSPOSE);
		if (below(t, 2))
			list(t, "perm", rank, 0, (int64_t)rank - 1);
	} else if (k == 1) {
		feed(t, random_dims(t, rank, 1, 2), rank);
		node(t, OP_CONCAT);
		build_int(t->g, "axis", between(t, -2, 2));
	} else if (k == 2) {
		give(t, random_dims(t, 2 * rank, 0, 2), 2 * rank);
		node(t, OP_PAD);
	} else if (k == 3) {
		give(t, random_dims(t, rank, -1, 3), rank);
		node(t, OP_TILE);
	} else if (k == 4) {
		give(t, random_dims(t, 2, -4, 3), 2);
		node(t, OP_GATHER);
		build_int(t->g, "axis", between(t, -2, 2));
	} else {
		node(t, OP_FLATTEN);
		build_int(t->g, "axis", between(t, -3, 4));
	}
}

static void
make_split(struct trial *t)
{
	uint32_t rank = 1 + below(t, 3);

	feed(t, random_dims(t, rank, 0, 4), rank);
	if (below(t, 2))
		give(t, random_dims(t, 2, 0, 3), 2);
	node(t, OP_SPLIT);
	build_output(t->g);
	build_int(t->g, "axis", between(t, -2, 2));
}

static void
make_topk(struct trial *t)
{
	uint32_t rank = 1 + below(t, 3);

	feed(t, random_dims(t, rank, 1, 4), rank);
	give(t, random_dims(t, 1, 0, 5), 1);
	node(t, OP_TOPK);
	build_output(t->g);
	build_int(t->g, "axis", between(t, -2, 2));
}

static void
make_gemm(struct trial *t)
{
	feed(t, random_dims(t, 2, 1, 2), 2);
	feed(t, random_dims(t, 2, 1, 2), 2);
	if (below(t, 2)) {
		uint32_t rank = below(t, 3);

		feed(t, random_dims(t, rank, 1, 2), rank);
	}
	node(t, OP_GEMM);
	build_int(t->g, "transA", below(t, 2));
	build_int(t->g, "transB", below(t, 2));
}

static void (*const make[])(struct trial *) = {make_unary, make_binary,
    make_conv, make_pool, make_reduce, make_reshape, make_axes, make_slice,
    make_move, make_split, make_topk, make_gemm};

static bool
fits(const struct type *type, const struct tensor *x)
{
	if (type->kind != TYPE_TENSOR || type->rank == RANK_UNKNOWN)
		return type->kind == TYPE_UNKNOWN || type->kind == TYPE_TENSOR;
	if (type->rank != x->rank || type->dtype != x->dtype)
		return false;
	for (uint32_t i = 0; i < type->rank; i++)
		if (type->dim[i] >= 0 && type->dim[i] != x->dim[i])
			return false;
	return true;
}

/* What happened, counted. */
struct tally {
	uint32_t agreed, refused, skipped;
};

static bool
judge(struct trial *t, struct tally *tally)
{
	const struct node *n = graph_node(t->g, t->g->nnodes - 1);
	struct infer_options o = {0};
	struct err broken = {.kind = ERR_NONE}, err = {.kind = ERR_NONE};
	struct tensor *out = arena_new(t->a, struct tensor, n->noutputs);
	bool legal = infer(t->g, &o, &broken);
	bool ran = host_eval(t->g, n, t->tensor, out, t->a, &err);

	if (!legal && ran) {
		printf(
		    "host runs what inference calls broken: %s\n", broken.text);
		return false;
	}
	if (!ran) {
		tally->refused += !legal;
		tally->skipped += legal;
		if (legal && err.kind == ERR_INPUT)
			printf("note: host: %s\n", err.text);
		return true;
	}
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (!fits(&node_out(t->g, n, i)->type, &out[i])) {
			printf("%s output %u inferred as %s\n", n->op_type, i,
			    type_text(&node_out(t->g, n, i)->type, NULL, t->a));
			return false;
		}
	tally->agreed++;
	return true;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t cases = argc > 1 ? 1 : CASES;
	struct tally tally = {0};

	for (uint64_t seed = first; seed < first + cases; seed++) {
		struct trial t = {.rng = rng_seeded(seed)};
		struct arena a;
		bool ok;

		arena_init(&a);
		t.a = &a;
		t.g = graph_new(&a, "g");
		make[seed % (sizeof make / sizeof make[0])](&t);
		ok = judge(&t, &tally);
		arena_release(&a);
		if (!ok) {
			printf("seed %" PRIu64 " fails\n", seed);
			return 1;
		}
	}
	printf("%u agreed, %u refused by both, %u not run by the host\n",
	    tally.agreed, tally.refused, tally.skipped);
	return argc == 1
	    && (tally.agreed < cases / 4 || tally.refused < cases / 20);
}
