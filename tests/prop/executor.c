/* Whatever plan the search comes up with, executing it computes what the
 * reference computes: a small network under many random price tables, so that
 * every mixture of targets, layouts, fusions and conversions gets its turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/seed.h"
#include "costmodel/trial.h"
#include "exec/executor_parts.h"
#include "exec/executor.h"
#include "exec/memory.h"
#include "plan/search.h"
#include "targets/host/host.h"
#include "tests/support/make.h"
#include "tests/support/support.h"

extern const struct target_kind target_dnnl, target_xnnpack, target_blas,
    target_host;
static const struct target_kind *const kinds[] = {
    &target_dnnl, &target_xnnpack, &target_blas, &target_host};

#define TOLERANCE 1e-4

static struct arena arena;
static struct maker m;

static value_id
conv(value_id x, int64_t from, int64_t to, int64_t size, int64_t stride)
{
	const struct attr a[] = {
	    ATTR_OF_INTS("pads", size / 2, size / 2, size / 2, size / 2),
	    ATTR_OF_INTS("strides", stride, stride)};
	value_id w = make_constant(&m, DIMS(to, from, size, size), -0.3f, 0.3f);
	value_id b = make_constant(&m, DIMS(to), -0.5f, 0.5f);

	return MAKE_WITH(&m, CONV, a, x, w, b);
}

static value_id
residual(value_id x, int64_t channels)
{
	value_id y = MAKE(&m, RELU, conv(x, channels, 16, 1, 1));

	y = conv(y, 16, channels, 3, 1);
	return MAKE(&m, RELU, MAKE(&m, ADD, y, x));
}

static value_id
depthwise(value_id x, int64_t channels)
{
	const struct attr a[] = {
	    ATTR_OF_INT("group", channels), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id w = make_constant(&m, DIMS(channels, 1, 3, 3), -0.5f, 0.5f);

	return MAKE(&m, RELU, MAKE_WITH(&m, CONV, a, x, w));
}

/* Each joins all that was made before it: what is joined lies in one place, but
 * for the last. */
static value_id
dense(value_id z)
{
	const struct attr channels[] = {ATTR_OF_INT("axis", 1)};
	value_id a = conv(z, 32, 32, 1, 1), b = depthwise(a, 32), x, y;

	x = conv(MAKE_WITH(&m, CONCAT, channels, a, b), 64, 32, 1, 1);
	y = conv(MAKE_WITH(&m, CONCAT, channels, a, b, x), 96, 32, 3, 1);
	z = MAKE_WITH(&m, CONCAT, channels, z, a, b, x, y);
	x = MAKE_WITH(&m, CONCAT, channels, a, b, y);
	return MAKE(&m, ADD, conv(z, 160, 32, 1, 1), conv(x, 96, 32, 1, 1));
}

/* Parts cut out of one another, joined the other way round. */
static value_id
halves_turned(value_id x)
{
	const struct attr channels[] = {ATTR_OF_INT("axis", 1)};
	value_id one = make_ints(&m, INTS(1)), a, b, c;

	a = MAKE(&m, SLICE, x, make_ints(&m, INTS(16)), make_ints(&m, INTS(32)),
	    one);
	b = MAKE(
	    &m, SLICE, x, make_ints(&m, INTS(0)), make_ints(&m, INTS(16)), one);
	c = MAKE(
	    &m, SLICE, b, make_ints(&m, INTS(8)), make_ints(&m, INTS(16)), one);
	c = MAKE_WITH(&m, CONCAT, channels, c, c);
	b = MAKE(&m, ADD, b, MAKE(&m, RELU, c));
	x = MAKE_WITH(&m, CONCAT, channels, a, b);
	return MAKE(&m, PAD, x, make_ints(&m, INTS(0, 0, 0, 0, 0, 0, 0, 0)));
}

/* What can be done in place: parts that are also read elsewhere, parts of two
 * results, and shapes of shapes. */
static value_id
rearranged(value_id x)
{
	const struct attr channels[] = {ATTR_OF_INT("axis", 1)};
	value_id a = MAKE(&m, RELU, conv(x, 32, 32, 1, 1)), b, c, d, y, z;

	b = depthwise(x, 32);
	c = MAKE_WITH(&m, CONCAT, channels, a, b);
	d = MAKE_WITH(&m, CONCAT, channels, b, x);
	y = MAKE_WITH(&m, SPLIT, channels, c);
	z = make_more(&m);
	y = MAKE(&m, ADD, conv(y, 32, 32, 1, 1), MAKE(&m, MUL, z, a));
	y = halves_turned(y);
	d = conv(d, 64, 32, 1, 1);
	d = dense(d);
	z = MAKE(&m, RESHAPE, MAKE(&m, FLATTEN, y),
	    make_ints(&m, INTS(1, 64, -1, 8)));
	z = MAKE(&m, RESHAPE, MAKE(&m, SIGMOID, z),
	    make_ints(&m, INTS(1, 32, 8, 8)));
	y = MAKE(&m, RESHAPE, MAKE(&m, FLATTEN, y),
	    make_ints(&m, INTS(1, 32, 8, 8)));
	return MAKE(&m, ADD, MAKE(&m, ADD, d, y), z);
}

static struct graph *
network(void)
{
	const struct attr window[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("strides", 2, 2), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr channels[] = {ATTR_OF_INT("axis", 1)};
	value_id x = make_input(&m, DIMS(1, 3, 29, 29)), y, z;

	y = MAKE(&m, RELU, conv(x, 3, 32, 7, 2));
	y = MAKE_WITH(&m, MAXPOOL, window, y);
	y = residual(rearranged(residual(y, 32)), 32);
	z = MAKE(&m, SIGMOID, conv(y, 32, 17, 3, 1));
	y = MAKE_WITH(&m, CONCAT, channels, depthwise(y, 32), z);
	make_output(&m, y);
	y = MAKE(&m, GLOBALAVERAGEPOOL, y);
	y = MAKE(&m, FLATTEN, y);
	y = MAKE(&m, GEMM, y, make_constant(&m, DIMS(49, 10), -1, 1),
	    make_constant(&m, DIMS(10), -1, 1));
	make_output(&m, MAKE(&m, SOFTMAX, y));
	make_end(&m);
	return m.graph;
}

static void
open_mix(struct mix *mix)
{
	struct target *t = arena_new(&arena, struct target, 4);

	*mix = (struct mix){.target = t};
	formats_init(&mix->formats);
	for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i]->lacks) {
			printf("without %s\n", kinds[i]->name);
			continue;
		}
		t[mix->n] = (struct target){.kind = kinds[i],
		    .text = kinds[i]->name,
		    .index = mix->n,
		    .formats = &mix->formats};
		mix->n++;
	}
}

static struct price
random_price(struct rng *r, uint32_t below)
{
	struct price p = {.state = PRICE_KNOWN, .when = "", .detail = ""};

	p.ns = 100 + rng_below(r, below);
	p.bound = p.low = p.high = p.ns;
	return p;
}

/* Candidates a library refuses must not be chosen. */
static void
mark_refused(struct prices *p, const struct graph *g, const struct mix *mix,
    const struct candidates *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct err err = {.kind = ERR_NONE};
		struct trial t;

		if (trial_open(&t, g, mix, &c->candidate[i], &arena, &err))
			trial_close(&t);
		else
			prices_candidate(p, i)->state = PRICE_FAILED;
	}
}

static void
random_prices(struct prices *p, const struct graph *g, const struct mix *mix,
    const struct candidates *c, struct rng *r)
{
	uint32_t *class = arena_new(&arena, uint32_t, g->nvalues);
	bool *failed = arena_new(&arena, bool, c->n);
	const uint32_t n = mix->formats.n;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		failed[i] = prices_candidate(p, i)->state == PRICE_FAILED;
	prices_init(p, &arena);
	prices_of_each(p, c->n, mix->n);
	p->nclasses = 1;
	p->nformats = n;
	p->conversion =
	    arena_new(&arena, struct conversion_price, (size_t)n * n);
	for (uint32_t i = 0; i < c->n; i++) {
		*prices_candidate(p, i) =
		    random_price(r, 10000 * c->candidate[i].nnodes);
		if (failed[i])
			prices_candidate(p, i)->state = PRICE_FAILED;
	}
	for (uint32_t i = 0; i < n * n; i++) {
		p->conversion[i].price = random_price(r, 3000);
		/* every third conversion goes round by some format */
		p->conversion[i].via =
		    (format_id)(rng_below(r, 3) == 0 ? rng_below(r, n) : i % n);
	}
	for (uint32_t i = 0; i < mix->n; i++) {
		*prices_launch(p, i) = random_price(r, 1);
		prices_launch(p, i)->ns = 0;
	}
	p->value_class = class;
}

static double
difference(const struct tensor *got, const struct tensor *want)
{
	double worst = 0, range = 1e-30;

	for (size_t i = 0; i < want->count; i++) {
		double y = tensor_real(want, i);
		double d = fabs(tensor_real(got, i) - y);

		worst = d > worst || isnan(d) ? d : worst;
		range = fabs(y) > range ? fabs(y) : range;
	}
	return worst / range;
}

static bool
agree(const struct graph *g, const struct tensor *got,
    const struct tensor *want, uint32_t seed)
{
	for (uint32_t i = 0; i < g->noutputs; i++) {
		double d = difference(&got[i], &want[i]);

		if (d <= TOLERANCE)
			continue;
		printf("seed %u: output %u differs by %g\n", (unsigned)seed,
		    (unsigned)i, d);
		return false;
	}
	return true;
}

/* What is priced in place has nothing to move. */
static bool
lies_as_priced(const struct executor *x, uint32_t seed)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct exec_step *s = &x->step[i];
		const struct kernel *k = &s->kernel;

		for (uint32_t n = 0; n < k->noverlays; n++) {
			const struct overlay *o = &k->overlay[n];

			if (!k->candidate->in_place
			    || (const char *)s->in[o->in] - o->offset
			        == s->out[o->out])
				continue;
			printf("seed %u: step %u moves its input %u\n",
			    (unsigned)seed, (unsigned)i, (unsigned)o->in);
			return false;
		}
	}
	return true;
}

/* The executor of `other`, where there is one, lends x its kernels. */
static bool
open_with(struct executor **x, struct executor **lender, const struct plan *p,
    const struct plan *other, struct executor_options o, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	*lender = NULL;
	if (other && !executor_open(lender, other, NULL, a, &err))
		printf("to lend: %s\n", err.text);
	o.with = *lender;
	if (err.kind == ERR_NONE && executor_open(x, p, &o, a, &err))
		return true;
	printf("%s\n", err.text);
	return false;
}

static bool
execute(const struct plan *p, const struct plan *other,
    const struct executor_options *o, const struct tensor *in,
    const struct tensor *want, uint32_t seed)
{
	struct tensor held = *in; /* the network has one input */
	struct err err = {.kind = ERR_NONE};
	struct arena scratch;
	struct executor *x, *lender;
	struct tensor out[2];
	bool ok = true;

	arena_init(&scratch);
	if (!open_with(&x, &lender, p, other, *o, &scratch)) {
		printf("seed %u\n", (unsigned)seed);
		return false;
	}
	ok = lies_as_priced(x, seed);
	if (ok && o->keep_inputs)
		ok = executor_hold(x, &held, &err) && held.data != in->data;
	for (uint32_t run = 0; ok && run < 2; run++)
		ok = executor_run(x, &held, out, &err)
		    && agree(p->graph, out, want, seed);
	if (err.kind != ERR_NONE)
		printf("seed %u: %s\n", (unsigned)seed, err.text);
	executor_close(x);
	if (lender)
		executor_close(lender);
	arena_release(&scratch);
	return ok;
}

/* Random lifetimes: nothing that lives at one time overlaps, and the pool is
 * not larger than keeping all apart. */
static bool
layouts_are_disjoint(struct rng *r)
{
	struct lifetime l[40];
	uint32_t n = 1 + rng_below(r, 40);
	size_t sum = 0, pool;

	for (uint32_t i = 0; i < n; i++) {
		l[i].bytes = rng_below(r, 5000);
		l[i].first = rng_below(r, 30);
		l[i].last = l[i].first + rng_below(r, 8);
		sum += l[i].bytes + MEMORY_SLACK + 63;
	}
	pool = memory_lay_out(l, n, &arena);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (l[i].first <= l[k].last && l[k].first <= l[i].last
			    && l[i].offset
			        < l[k].offset + l[k].bytes + MEMORY_SLACK
			    && l[k].offset
			        < l[i].offset + l[i].bytes + MEMORY_SLACK)
				return false;
	return pool <= sum;
}

static bool
memory_holds(void)
{
	for (uint32_t seed = 0; seed < 2000; seed++) {
		struct rng r = rng_seeded(seed);

		if (!layouts_are_disjoint(&r)) {
			printf("memory: seed %u: buffers overlap\n",
			    (unsigned)seed);
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : 400, failed = 0;
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct prices prices = {0};
	struct tensor in, want[2];
	struct plan last;
	struct rng r;
	struct mix mix;
	struct graph *g;

	arena_init(&arena);
	make_begin(&m, &arena);
	g = network();
	open_mix(&mix);
	in = tensor_view(DT_FLOAT, 4, graph_value(g, g->input[0])->type.dim,
	    seed_buffer(&arena, 4 * 3 * 29 * 29));
	seed_value(g, g->input[0], (void *)(uintptr_t)in.data);
	if (!host_run(g, &in, want, &arena, &err)
	    || !candidates_find(&found, g, &mix, NULL, &arena, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	r = rng_seeded(1);
	random_prices(&prices, g, &mix, &found, &r);
	mark_refused(&prices, g, &mix, &found);
	for (uint32_t seed = 0; seed < seeds; seed++) {
		struct plan_request q = {.graph = g,
		    .mix = &mix,
		    .candidates = &found,
		    .prices = &prices};
		const struct executor_options o = {
		    .keep_all = seed % 4 == 0, .keep_inputs = seed % 4 == 1};
		struct plan p;

		r = rng_seeded(seed);
		random_prices(&prices, g, &mix, &found, &r);
		if (!plan_search(&p, &q, &arena, &err)) {
			printf("seed %u: %s\n", (unsigned)seed, err.text);
			return 1;
		}
		failed += !execute(
		    &p, seed % 3 == 2 ? &last : NULL, &o, &in, want, seed);
		last = p;
	}
	failed += !memory_holds();
	printf("%u plans over %u candidates, %u failed\n", (unsigned)seeds,
	    (unsigned)found.n, (unsigned)failed);
	arena_release(&arena);
	return failed != 0;
}
