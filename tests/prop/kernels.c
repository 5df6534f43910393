/* Every implementation of the kernel libraries against the host, on operators
 * of random shapes and attributes. */
#include <stdio.h>
#include <stdlib.h>

#include "costmodel/reference.h"
#include "costmodel/trial.h"
#include "targets/candidates.h"
#include "targets/host/host.h"
#include "tests/support/make.h"
#include "tests/support/support.h"

extern const struct target_kind target_dnnl, target_xnnpack, target_blas,
    target_host;
static const struct target_kind *const kinds[] = {
    &target_dnnl, &target_xnnpack, &target_blas, &target_host};

static struct arena arena;
static struct maker m;
static struct rng r;

static int64_t
upto(uint32_t n)
{
	return 1 + rng_below(&r, n);
}

static value_id
weights(const int64_t *dim)
{
	return make_constant(&m, dim, -0.5f, 0.5f);
}

/* An image of some channels. */
static value_id
image(int64_t channels)
{
	return make_input(
	    &m, DIMS(upto(2), channels, 5 + upto(9), 5 + upto(9)));
}

static value_id
activated(value_id x)
{
	switch (rng_below(&r, 6)) {
	case 0:
		return MAKE(&m, RELU, x);
	case 1:
		return MAKE(&m, HARDSWISH, x);
	case 2:
		return MAKE(&m, MUL, x, MAKE(&m, SIGMOID, x));
	case 3:
		return MAKE(
		    &m, CLIP, x, make_scalar(&m, -0.5f), make_scalar(&m, 0.7f));
	default:
		return x;
	}
}

static value_id
convolution(void)
{
	static const int64_t groups[] = {1, 1, 2, 16};
	const int64_t group = groups[rng_below(&r, 4)];
	const int64_t per = group == 16 ? 1 : upto(3) * 8;
	const int64_t to = group * (group == 16 ? upto(2) : upto(3) * 8);
	const int64_t size = 1 + 2 * rng_below(&r, 3), pad = size / 2;
	const struct attr a[] = {ATTR_OF_INT("group", group),
	    ATTR_OF_INTS("strides", upto(2), upto(2)),
	    ATTR_OF_INTS("pads", pad, rng_below(&r, 2), pad, pad),
	    ATTR_OF_INTS("dilations", 1, upto(2))};
	value_id x = image(group * per);
	value_id w = weights(DIMS(to, per, size, 2));

	if (rng_below(&r, 2))
		return activated(MAKE_WITH(&m, CONV, a, x, w));
	return activated(MAKE_WITH(&m, CONV, a, x, w, weights(DIMS(to))));
}

static value_id
transposed(void)
{
	const int64_t group = upto(2), from = group * upto(9);
	const int64_t stride = upto(3);
	const struct attr a[] = {ATTR_OF_INT("group", group),
	    ATTR_OF_INTS("strides", stride, 1),
	    ATTR_OF_INTS("pads", rng_below(&r, 2), 0, rng_below(&r, 2), 1),
	    ATTR_OF_INTS("output_padding", rng_below(&r, (uint32_t)stride), 0)};
	value_id w = weights(DIMS(from, upto(9), 1 + upto(3), 3));

	return activated(MAKE_WITH(&m, CONVTRANSPOSE, a, image(from), w));
}

static value_id
pooling(void)
{
	const int64_t size = 1 + upto(3);
	const struct attr a[] = {ATTR_OF_INTS("kernel_shape", size, 2),
	    ATTR_OF_INTS("strides", upto(3), upto(2)),
	    ATTR_OF_INTS("pads", size / 2, 0, rng_below(&r, 2), 1),
	    ATTR_OF_INT("ceil_mode", rng_below(&r, 2))};
	value_id x = image(upto(40));

	return rng_below(&r, 2) ? MAKE_WITH(&m, MAXPOOL, a, x)
	                        : MAKE_WITH(&m, AVERAGEPOOL, a, x);
}

static value_id
product(void)
{
	const int64_t in = upto(40), out = upto(40);
	const struct attr a[] = {ATTR_OF_INT("transB", 1),
	    ATTR_OF_FLOAT("alpha", 0.5f), ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(upto(3), upto(9), in)), y;

	if (rng_below(&r, 3) == 0) {
		x = make_input(&m, DIMS(upto(9), in));
		return activated(MAKE_WITH(&m, GEMM, a, x,
		    weights(DIMS(out, in)), weights(DIMS(out))));
	}
	y = MAKE(&m, MATMUL, x, weights(DIMS(in, out)));
	if (rng_below(&r, 2))
		y = MAKE(&m, ADD, weights(DIMS(out)), y);
	return activated(y);
}

static value_id
reduction(void)
{
	static const enum op op[] = {OP_REDUCEMEAN, OP_REDUCEMAX, OP_REDUCEMIN,
	    OP_REDUCEL2, OP_REDUCEL1, OP_REDUCESUMSQUARE};
	const int64_t first = rng_below(&r, 3);
	const struct attr a[] = {ATTR_OF_INT("keepdims", rng_below(&r, 2)),
	    ATTR_OF_INTS("axes", first, first + upto((uint32_t)(3 - first)))};

	return make_node(&m, op[rng_below(&r, 6)],
	    (const value_id[]){image(upto(20)), VALUE_LAST}, a, 2);
}

static value_id
distribution(void)
{
	const struct attr a[] = {
	    ATTR_OF_INT("axis", (int64_t)rng_below(&r, 8) - 4)};
	value_id x = image(upto(20));

	return rng_below(&r, 2) ? MAKE_WITH(&m, SOFTMAX, a, x)
	                        : MAKE_WITH(&m, LOGSOFTMAX, a, x);
}

static value_id
pair(void)
{
	static const enum op op[] = {OP_ADD, OP_SUB, OP_MUL, OP_MAX, OP_MIN};
	const int64_t d[] = {upto(2), upto(20), upto(9), upto(9), 0};
	int64_t e[5] = {0};
	const uint32_t skip = rng_below(&r, 3);

	for (uint32_t i = skip; i < 4; i++)
		e[i - skip] = rng_below(&r, 3) ? d[i] : 1;
	return activated(make_node(&m, op[rng_below(&r, 5)],
	    (const value_id[]){
	        make_input(&m, d), make_input(&m, e), VALUE_LAST},
	    NULL, 0));
}

static value_id
moved(void)
{
	const struct attr axis[] = {ATTR_OF_INT("axis", rng_below(&r, 4))};
	const struct attr perm[] = {ATTR_OF_INTS("perm", 2, 0, 3, 1)};
	const int64_t channels = upto(3) * 16;
	value_id x = image(channels);

	switch (rng_below(&r, 3)) {
	case 0:
		return MAKE_WITH(&m, TRANSPOSE, perm, x);
	case 1:
		return MAKE(&m, PAD, x,
		    make_ints(&m,
		        INTS(0, rng_below(&r, 3), 1, rng_below(&r, 3), 0, 2,
		            rng_below(&r, 3), 0)),
		    make_scalar(&m, 0.25f));
	default:
		return MAKE_WITH(
		    &m, CONCAT, axis, MAKE(&m, RELU, x), MAKE(&m, SIGMOID, x));
	}
}

static value_id
sequence(void)
{
	static const enum op op[] = {OP_LSTM, OP_GRU, OP_RNN};
	static const int64_t gates[] = {4, 3, 1};
	const uint32_t kind = rng_below(&r, 3);
	const int64_t h = upto(20), in = upto(20), rows = gates[kind] * h;
	const struct attr a[] = {
	    ATTR_OF_INT("linear_before_reset", rng_below(&r, 2)),
	    ATTR_OF_INT("hidden_size", h)};
	value_id x = make_input(&m, DIMS(upto(6), upto(3), in));

	return make_node(&m, op[kind],
	    (const value_id[]){x, weights(DIMS(1, rows, in)),
	        weights(DIMS(1, rows, h)), weights(DIMS(1, 2 * rows)),
	        VALUE_LAST},
	    kind == 1 ? a : a + 1, kind == 1 ? 2 : 1);
}

static value_id (*const makers[])(void) = {convolution, convolution,
    convolution, transposed, pooling, product, product, reduction, distribution,
    pair, moved, sequence};

struct tally {
	uint32_t ran, refused, failed;
};

static void
try_candidate(struct tally *t, const struct mix *mix, const struct candidate *c,
    struct reference *ref, uint32_t seed)
{
	const struct target_kind *k = mix->target[c->target].kind;
	struct err err = {.kind = ERR_NONE};
	double error, allowed;
	struct trial trial;
	bool ok;

	if (!trial_open(&trial, m.graph, mix, c, &arena, &err)) {
		t->refused++;
		return;
	}
	trial_run(&trial);
	ok = trial_check(&trial, ref, &error, &allowed, &arena, &err);
	trial_close(&trial);
	t->ran++;
	if (ok && error <= allowed)
		return;
	t->failed++;
	printf("seed %u: %s %s over %u nodes: error %g %s\n", (unsigned)seed,
	    k->rule[c->rule].name, c->implementation_name, (unsigned)c->nnodes,
	    error, err.kind == ERR_NONE ? "" : err.text);
}

static bool
try_graph(struct tally *t, uint32_t seed)
{
	struct target target[4];
	struct mix mix = {.target = target};
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct reference ref;

	formats_init(&mix.formats);
	for (uint32_t i = 0; i < 4; i++)
		if (kinds[i]->lacks == NULL) {
			target[mix.n] = (struct target){.kind = kinds[i],
			    .text = kinds[i]->name,
			    .index = mix.n,
			    .formats = &mix.formats};
			mix.n++;
		}
	if (!candidates_find(&found, m.graph, &mix, NULL, &arena, &err)) {
		printf("seed %u: %s\n", (unsigned)seed, err.text);
		return false;
	}
	reference_init(&ref, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++)
		if (mix.target[found.candidate[i].target].kind != &target_host)
			try_candidate(t, &mix, &found.candidate[i], &ref, seed);
	reference_release(&ref);
	return true;
}

int
main(int argc, char **argv)
{
	uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : 600;
	uint32_t from = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	struct tally t = {0};
	bool ok = true;

	if (target_dnnl.lacks && target_xnnpack.lacks && target_blas.lacks) {
		printf("skipped: no kernel library is built in\n");
		return TEST_SKIPPED;
	}
	for (uint32_t seed = from; ok && seed < from + seeds; seed++) {
		arena_init(&arena);
		r = rng_seeded(seed);
		make_begin(&m, &arena);
		make_output(&m,
		    makers[rng_below(&r, sizeof makers / sizeof *makers)]());
		make_end(&m);
		ok = try_graph(&t, seed);
		arena_release(&arena);
	}
	printf("%u operators: %u implementations ran, %u were refused by their "
	       "library, %u failed\n",
	    (unsigned)seeds, (unsigned)t.ran, (unsigned)t.refused,
	    (unsigned)t.failed);
	return !ok || t.failed != 0 || t.ran == 0;
}
