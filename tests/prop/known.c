/* NaN, infinities and large numbers fed to plans whose guards look at nothing where
 * what their inputs rest on was looked at (targets/known.h): random networks,
 * plans at random prices, against the host. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/executor.h"
#include "exec/executor_parts.h"
#include "targets/host/host.h"
#include "targets/known.h"
#include "tests/support/force.h"
#include "tests/support/make.h"

#define CHANNELS 16
#define SIDE 9
#define COUNT (CHANNELS * SIDE * SIDE)
#define TOLERANCE 1e-3
#define LARGE 1e9f
#define LARGE_POWER \
	38 /* what a sum of 144 by LARGE, and what follows it, may add */

static struct tally {
	uint32_t plans, known, looked, failed;
	uint32_t untold; /* known ones whose guards look all the same */
} tally;

/* ---- networks ---- */

struct network {
	struct maker m;
	struct rng r;
	bool large; /* some weights are */
	uint32_t nlarge;
};

static value_id
weights(struct network *n, const int64_t *dim)
{
	const bool large = n->large && rng_below(&n->r, 4) == 0;
	const float most = large ? LARGE : 0.3f;

	n->nlarge += large;
	return make_constant(&n->m, dim, -most, most);
}

static value_id
conv(struct network *n, value_id x, int64_t size, int64_t group)
{
	const struct attr a[] = {ATTR_OF_INT("group", group),
	    ATTR_OF_INTS("pads", size / 2, size / 2, size / 2, size / 2)};

	return MAKE_WITH(&n->m, CONV, a, x,
	    weights(n, DIMS(CHANNELS, CHANNELS / group, size, size)),
	    make_constant(&n->m, DIMS(CHANNELS), -0.5f, 0.5f));
}

static value_id
normed(struct network *n, value_id x)
{
	struct maker *m = &n->m;

	return MAKE(m, BATCHNORMALIZATION, x,
	    make_constant(m, DIMS(CHANNELS), 0.5f, 1.5f),
	    make_constant(m, DIMS(CHANNELS), -1, 1),
	    make_constant(m, DIMS(CHANNELS), -1, 1),
	    make_constant(m, DIMS(CHANNELS), 0.5f, 1.5f));
}

static value_id
acted(struct network *n, value_id x)
{
	const struct attr slope[] = {ATTR_OF_FLOAT("alpha", 0.1f)};

	switch (rng_below(&n->r, 5)) {
	case 0:
		return MAKE(&n->m, CLIP, x, make_scalar(&n->m, 0),
		    make_scalar(&n->m, 6));
	case 1:
		return MAKE_WITH(&n->m, LEAKYRELU, slope, x);
	case 2:
		return x;
	default:
		return MAKE(&n->m, RELU, x);
	}
}

static value_id
layer(struct network *n, value_id x)
{
	const struct attr window[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id y;

	switch (rng_below(&n->r, 8)) {
	case 0:
		return MAKE_WITH(&n->m, AVERAGEPOOL, window, x);
	case 1:
		y = conv(n, x, 1, 1);
		break;
	case 2:
		y = conv(n, x, 3, CHANNELS);
		break;
	case 3: /* what a kernel of ours reads as it is made */
	case 4:
		y = conv(n, MAKE(&n->m, RELU, normed(n, x)), 1, 1);
		break;
	default:
		y = conv(n, x, 3, 1);
	}
	if (rng_below(&n->r, 2))
		y = normed(n, y);
	if (rng_below(&n->r, 3) == 0)
		y = MAKE(&n->m, ADD, y, x);
	return acted(n, y);
}

static struct graph *
network(struct network *n, struct arena *a)
{
	const uint32_t layers = 2 + rng_below(&n->r, 7);
	value_id x;

	make_begin(&n->m, a);
	n->m.seed = rng_below(&n->r, 1000);
	n->large = rng_below(&n->r, 3) == 0;
	x = make_input(&n->m, DIMS(1, CHANNELS, SIDE, SIDE));
	for (uint32_t i = 0; i < layers; i++)
		x = layer(n, x);
	make_output(&n->m, MAKE(&n->m, RELU, conv(n, x, 3, 1)));
	make_end(&n->m);
	return n->m.graph;
}

/* ---- runs ---- */

/* Behind large numbers rounding may be larger than what is left in the end. */
static bool
is_same(const struct tensor *got, const struct tensor *want, bool rounded)
{
	double range = rounded ? (double)INFINITY : 1e-30;

	for (size_t i = 0; i < want->count; i++)
		if (isfinite(tensor_real(want, i)))
			range = fmax(range, fabs(tensor_real(want, i)));
	for (size_t i = 0; i < want->count; i++) {
		const double x = tensor_real(got, i), y = tensor_real(want, i);

		if (isnan(x) != isnan(y) || isinf(x) != isinf(y)
		    || fabs(x - y) > TOLERANCE * range)
			return false;
	}
	return true;
}

static bool
run_with(struct executor *x, const struct graph *g, float odd, struct rng *r,
    struct arena *a)
{
	static _Alignas(64) float data[COUNT + 16];
	struct err err = {.kind = ERR_NONE};
	struct tensor in, got, want;

	for (uint32_t i = 0; i < COUNT; i++)
		data[i] = (float)rng_below(r, 2001) / 1000 - 1;
	data[rng_below(r, COUNT)] = odd;
	in = tensor_view(
	    DT_FLOAT, 4, graph_value(g, g->input[0])->type.dim, data);
	if (!host_run(g, &in, &want, a, &err)
	    || !executor_run(x, &in, &got, &err)) {
		printf("%s\n", err.text);
		return false;
	}
	return is_same(&got, &want, isfinite(odd) && fabsf(odd) > 1);
}

static void
count(const struct plan *p, const struct executor *x)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct exec_step *s = &x->step[i];
		const bool known = s->kind == STEP_COMPOSITE
		    && plan_candidate(x->plan, s->index)->known;

		tally.known += known;
		tally.untold += known && !s->kernel.small;
	}
	for (value_id v = 0; v < p->graph->nvalues; v++)
		tally.looked += graph_value(p->graph, v)->looked_at;
	tally.plans++;
}

/* Behind large weights the model's own sums get beyond all floats: whether that makes
 * infinity or NaN is up to their order. */
static bool
is_asked(const struct network *n, float odd)
{
	const float most = isfinite(odd) ? fmaxf(fabsf(odd), 1) : 1;

	return n->nlarge == 0
	    || log2f(most) + (float)(n->nlarge * LARGE_POWER) < FLT_MAX_EXP;
}

static bool
check_plan(const struct plan *p, struct network *n, struct arena *a)
{
	static const float odd[] = {1, NAN, 1, INFINITY, -INFINITY, 0x1p20f,
	    0x1p32f, -0x1p40f, 0x1p63f, -0x1p79f, 0x1p88f, NAN, 1};
	const struct executor_options o = {
	    .threads = rng_below(&n->r, 4) ? 1 : 2};
	struct err err = {.kind = ERR_NONE};
	struct executor *x;
	bool ok = true;

	if (!executor_open(&x, p, &o, a, &err)) {
		printf("%s\n", err.text);
		return false;
	}
	count(p, x);
	for (uint32_t i = 0; ok && i < sizeof odd / sizeof *odd; i++)
		if (is_asked(n, odd[i])
		    && !(ok = run_with(x, p->graph, odd[i], &n->r, a)))
			printf("with %g: another answer\n", (double)odd[i]);
	executor_close(x);
	return ok;
}

static bool
check_seed(uint32_t seed, const char *const *targets)
{
	struct network n = {.r = rng_seeded(seed)};
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct force f;
	bool ok, placed;

	arena_init(&a);
	ok = force_open(&f, network(&n, &a), targets, true, &a, &err);
	for (uint32_t i = 0; ok && i < 2; i++) {
		struct plan p;

		ok = force_plan(&p, &f, FORCE_NONE, &n.r, &placed, &a, &err)
		    && check_plan(&p, &n, &a);
	}
	if (!ok)
		printf("seed %u: failed %s\n", (unsigned)seed, err.text);
	arena_release(&a);
	return ok;
}

extern const struct target_kind target_dnnl, target_xnnpack, target_native,
    target_host;

int
main(int argc, char **argv)
{
	static const struct target_kind *const kinds[] = {
	    &target_native, &target_dnnl, &target_xnnpack, &target_host, NULL};
	const uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : 60;
	const char *targets[5] = {NULL};
	uint32_t n = 0;

	for (uint32_t i = 0; kinds[i]; i++)
		if (!kinds[i]->lacks)
			targets[n++] = kinds[i]->name;
	for (uint32_t seed = 1; seed <= seeds; seed++)
		tally.failed += !check_seed(seed, targets);
	printf(
	    "%u plans, %u known composites (%u not told), %u values looked at, %u failed\n",
	    (unsigned)tally.plans, (unsigned)tally.known,
	    (unsigned)tally.untold, (unsigned)tally.looked,
	    (unsigned)tally.failed);
	return tally.failed != 0 || tally.untold != 0
	    || (n > 2 && tally.known == 0);
}
