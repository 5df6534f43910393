/* Blocks of MaxViT, made here: MBConv with squeeze and excitation, attention in
 * windows and in a grid, with partitions by tensors of rank 6. Every candidate of
 * every mix in turn, and plans at random prices, against the host. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/normalize.h"
#include "targets/host/host.h"
#include "tests/support/check.h"
#include "tests/support/force.h"
#include "tests/support/leeway.h"
#include "tests/support/make.h"

#define CHANNELS 16
#define SIDE 8
#define PART 4 /* a window's side; as many windows as a grid's cells have */
#define TOKENS (PART * PART)
#define PARTS (SIDE / PART * (SIDE / PART))
#define HEADS 2
#define HEAD (CHANNELS / HEADS)

/* ---- pieces ---- */

static value_id
weights(struct maker *m, const int64_t *dim)
{
	return make_constant(m, dim, -0.4f, 0.4f);
}

static value_id
batch_norm(struct maker *m, value_id x, int64_t n)
{
	return MAKE(m, BATCHNORMALIZATION, x,
	    make_constant(m, DIMS(n), 0.5f, 1.5f), weights(m, DIMS(n)),
	    weights(m, DIMS(n)), make_constant(m, DIMS(n), 0.5f, 1.5f));
}

static value_id
pixelwise(struct maker *m, value_id x, int64_t from, int64_t to)
{
	return MAKE(
	    m, CONV, x, weights(m, DIMS(to, from, 1, 1)), weights(m, DIMS(to)));
}

/* 0.5 x (1 + erf(x / sqrt(2))), as exporters write it. */
static value_id
gelu(struct maker *m, value_id x)
{
	value_id bell = MAKE(m, DIV, x, make_scalar(m, 1.41421356f));

	bell = MAKE(m, ADD, MAKE(m, ERF, bell), make_scalar(m, 1));
	return MAKE(m, MUL, MAKE(m, MUL, x, bell), make_scalar(m, 0.5f));
}

static value_id
gelu_tanh(struct maker *m, value_id x)
{
	value_id cube = MAKE(m, MUL, MAKE(m, MUL, x, x), x), in;

	in = MAKE(m, ADD, x, MAKE(m, MUL, cube, make_scalar(m, 0.044715f)));
	in = MAKE(m, TANH, MAKE(m, MUL, in, make_scalar(m, 0.79788456f)));
	in = MAKE(m, ADD, in, make_scalar(m, 1));
	return MAKE(m, MUL, MAKE(m, MUL, x, make_scalar(m, 0.5f)), in);
}

static value_id
layer_norm(struct maker *m, value_id x, bool spelled)
{
	const struct attr last[] = {ATTR_OF_INTS("axes", -1)};
	value_id scale = make_constant(m, DIMS(CHANNELS), 0.5f, 1.5f);
	value_id shift = weights(m, DIMS(CHANNELS)), d, s;

	if (!spelled)
		return MAKE(m, LAYERNORMALIZATION, x, scale, shift);
	d = MAKE(m, SUB, x, MAKE_WITH(m, REDUCEMEAN, last, x));
	s = MAKE(m, POW, d, make_scalar(m, 2));
	s = MAKE(
	    m, ADD, MAKE_WITH(m, REDUCEMEAN, last, s), make_scalar(m, 1e-5f));
	d = MAKE(m, DIV, d, MAKE(m, SQRT, s));
	return MAKE(m, ADD, MAKE(m, MUL, d, scale), shift);
}

static value_id
reshape(struct maker *m, value_id x, const int64_t *to)
{
	return MAKE(m, RESHAPE, x, make_ints(m, to));
}

#define TRANSPOSED(m, x, ...) \
	make_node(m, OP_TRANSPOSE, (const value_id[]){x, VALUE_LAST}, \
	    (const struct attr[]){ATTR_OF_INTS("perm", __VA_ARGS__)}, 1)

static value_id
dense(struct maker *m, value_id x, int64_t from, int64_t to)
{
	x = MAKE(m, MATMUL, x, weights(m, DIMS(from, to)));
	return MAKE(m, ADD, x, weights(m, DIMS(to)));
}

/* ---- MBConv ---- */

static value_id
squeeze(struct maker *m, value_id x, int64_t n)
{
	value_id s = MAKE(m, GLOBALAVERAGEPOOL, x);

	s = pixelwise(m, s, n, 4);
	s = MAKE(m, MUL, s, MAKE(m, SIGMOID, s));
	return MAKE(m, MUL, x, MAKE(m, SIGMOID, pixelwise(m, s, 4, n)));
}

static value_id
mbconv(struct maker *m, value_id x, int64_t stride)
{
	const int64_t n = 2 * CHANNELS;
	const struct attr depthwise[] = {ATTR_OF_INT("group", n),
	    ATTR_OF_INTS("pads", 1, 1, 1, 1),
	    ATTR_OF_INTS("strides", stride, stride)};
	const struct attr two[] = {
	    ATTR_OF_INTS("kernel_shape", 2, 2), ATTR_OF_INTS("strides", 2, 2)};
	value_id y = batch_norm(m, x, CHANNELS);

	y = gelu_tanh(m, batch_norm(m, pixelwise(m, y, CHANNELS, n), n));
	y = MAKE_WITH(m, CONV, depthwise, y, weights(m, DIMS(n, 1, 3, 3)));
	y = squeeze(m, gelu_tanh(m, batch_norm(m, y, n)), n);
	y = pixelwise(m, y, n, CHANNELS);
	if (stride == 2)
		x = pixelwise(
		    m, MAKE_WITH(m, AVERAGEPOOL, two, x), CHANNELS, CHANNELS);
	return MAKE(m, ADD, y, x);
}

/* ---- attention ---- */

static value_id
part(struct maker *m, value_id x, bool grid)
{
	x = TRANSPOSED(m, x, 0, 2, 3, 1);
	if (grid) {
		x = reshape(m, x, INTS(1, PART, 2, PART, 2, CHANNELS));
		x = TRANSPOSED(m, x, 0, 2, 4, 1, 3, 5);
	} else {
		x = reshape(m, x, INTS(1, 2, PART, 2, PART, CHANNELS));
		x = TRANSPOSED(m, x, 0, 1, 3, 2, 4, 5);
	}
	return reshape(m, x, INTS(-1, TOKENS, CHANNELS));
}

static value_id
join(struct maker *m, value_id x, bool grid)
{
	x = reshape(m, x, INTS(1, 2, 2, PART, PART, CHANNELS));
	if (grid)
		x = TRANSPOSED(m, x, 0, 3, 1, 4, 2, 5);
	else
		x = TRANSPOSED(m, x, 0, 1, 3, 2, 4, 5);
	return TRANSPOSED(
	    m, reshape(m, x, INTS(1, SIDE, SIDE, CHANNELS)), 0, 3, 1, 2);
}

/* One of the three, as [parts, heads, tokens, head]. */
static value_id
pick(struct maker *m, value_id qkv, int64_t which)
{
	value_id x = MAKE(m, GATHER, qkv, make_ints(m, INTS(which)));

	return reshape(m, x, INTS(PARTS, HEADS, TOKENS, HEAD));
}

static value_id
attend(struct maker *m, value_id x)
{
	value_id qkv = dense(m, x, CHANNELS, 3 * CHANNELS), q, k, s;

	qkv = reshape(m, qkv, INTS(PARTS, TOKENS, 3, HEADS, HEAD));
	qkv = TRANSPOSED(m, qkv, 2, 0, 3, 1, 4);
	q = MAKE(m, MUL, pick(m, qkv, 0), make_scalar(m, 0.35355339f));
	k = TRANSPOSED(m, pick(m, qkv, 1), 0, 1, 3, 2);
	s = MAKE(m, ADD, MAKE(m, MATMUL, q, k),
	    weights(m, DIMS(1, HEADS, TOKENS, TOKENS)));
	s = MAKE(m, MATMUL, MAKE(m, SOFTMAX, s), pick(m, qkv, 2));
	s = reshape(
	    m, TRANSPOSED(m, s, 0, 2, 1, 3), INTS(PARTS, TOKENS, CHANNELS));
	return dense(m, s, CHANNELS, CHANNELS);
}

static value_id
attention(struct maker *m, value_id x, bool grid, bool spelled)
{
	value_id y;

	x = part(m, x, grid);
	x = MAKE(m, ADD, x, attend(m, layer_norm(m, x, spelled)));
	y = dense(m, layer_norm(m, x, spelled), CHANNELS, 2 * CHANNELS);
	y = dense(m, gelu(m, y), 2 * CHANNELS, CHANNELS);
	return join(m, MAKE(m, ADD, x, y), grid);
}

/* ---- blocks ---- */

static value_id
of_mbconv(struct maker *m, value_id x)
{
	return mbconv(m, x, 1);
}

static value_id
of_mbconv_by_two(struct maker *m, value_id x)
{
	return mbconv(m, x, 2);
}

static value_id
of_windows(struct maker *m, value_id x)
{
	return attention(m, x, false, false);
}

static value_id
of_windows_spelled(struct maker *m, value_id x)
{
	return attention(m, x, false, true);
}

static value_id
of_grid(struct maker *m, value_id x)
{
	return attention(m, x, true, false);
}

static value_id
of_all(struct maker *m, value_id x)
{
	return attention(
	    m, attention(m, mbconv(m, x, 1), false, false), true, true);
}

static const struct block {
	const char *name;
	value_id (*make)(struct maker *m, value_id x);
} blocks[] = {
    {"mbconv", of_mbconv},
    {"mbconv, stride 2", of_mbconv_by_two},
    {"windows", of_windows},
    {"windows, spelled norm", of_windows_spelled},
    {"grid", of_grid},
    {"a whole block", of_all},
};
#define NBLOCKS (sizeof blocks / sizeof *blocks)

static const char *const mixes[][4] = {
    {"dnnl", "host"}, {"xnnpack", "blas", "host"}, {"mrvl", "dnnl", "host"}};
#define NMIXES (sizeof mixes / sizeof *mixes)

/* ---- trying ---- */

struct tally {
	uint32_t plans, wrong;
};

static bool
is_right(struct force *f, uint32_t wanted, struct check_set *s, struct rng *r,
    struct err *err)
{
	static const uint32_t order[] = {0, 0};
	struct arena scratch;
	bool placed, wrong, ok;
	struct plan p;

	arena_init(&scratch);
	ok = force_plan(&p, f, wanted, r, &placed, &scratch, err)
	    && check_plan(&p, 1, s, order, 2, &wrong, err);
	if (!ok && err->kind == ERR_VERDICT && !s->slack) {
		err_clear(err);
		leeway_give(s, f->graph, check_has_half(&p), f->arena);
		ok = check_plan(&p, 1, s, order, 2, &wrong, err);
		s->slack = NULL;
		s->nalso = 0;
	}
	arena_release(&scratch);
	return ok;
}

static void
try_mix(const struct block *b, const char *const *mix, uint32_t random,
    struct tally *t, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	const int64_t dim[] = {1, CHANNELS, SIDE, SIDE, 0};
	struct rng r = rng_seeded(1);
	struct infer_options o = {.eval = host_eval};
	float *x = arena_new(a, float, CHANNELS *SIDE *SIDE);
	struct tensor in = tensor_view(DT_FLOAT, 4, dim, x), want;
	struct check_set s = {.in = &in, .want = &want};
	struct force f;
	struct maker m;

	for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
		x[i] = (float)rng_below(&r, 1 << 20) * 0x1p-19f - 1;
	make_begin(&m, a);
	make_output(&m, b->make(&m, make_input(&m, dim)));
	make_end(&m);
	if (!normalize(m.graph, &o, &err)
	    || !host_run(m.graph, &in, &want, a, &err)
	    || !force_open(&f, m.graph, mix, true, a, &err)) {
		printf("%s on %s: %s\n", b->name, mix[0], err.text);
		t->wrong += err.kind != ERR_TARGET;
		return;
	}
	for (uint32_t i = 0; i < f.found.n + random; i++) {
		const uint32_t wanted = i < f.found.n ? i : FORCE_NONE;

		if (i < f.found.n && f.refused[i])
			continue;
		t->plans++;
		if (is_right(&f, wanted, &s, &r, &err))
			continue;
		t->wrong++;
		printf("%s on %s: %s: %s\n", b->name, mix[0],
		    wanted == FORCE_NONE ? "random prices"
		                         : force_text(&f, wanted, a),
		    err.text);
		err_clear(&err);
	}
}

int
main(int argc, char **argv)
{
	const uint32_t random =
	    argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20;
	struct tally t = {0};

	for (size_t i = 0; i < NBLOCKS; i++)
		for (size_t k = 0; k < NMIXES; k++) {
			struct arena a;

			arena_init(&a);
			try_mix(&blocks[i], mixes[k], random, &t, &a);
			arena_release(&a);
		}
	printf("%u plans, %u wrong\n", (unsigned)t.plans, (unsigned)t.wrong);
	return t.plans == 0 || t.wrong != 0;
}
