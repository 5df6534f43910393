/* The host's convolution (blocked product over windows) against the
 * definition, and the small float formats against a search over all codes.
 *
 * usage: prop_host_conv [CASES [SEED]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/host/access.h"
#include "targets/host/host.h"
#include "tests/support/support.h"

/* A random 2-d convolution and its data. */
struct conv_case {
	int64_t n, groups, channels, filters; /* the last two a group */
	int64_t in[2], kernel[2], stride[2], dilation[2], pads[4], out[2];
	float x[4096], w[4096], want[8192];
};

static bool
make_case(struct conv_case *k, struct rng *r)
{
	k->n = 1 + rng_below(r, 2);
	k->groups = 1 + rng_below(r, 3);
	k->channels = 1 + rng_below(r, 4);
	k->filters = 1 + rng_below(r, 6);
	for (int d = 0; d < 2; d++) {
		int64_t reach;

		k->in[d] = 1 + rng_below(r, 9);
		k->kernel[d] = 1 + rng_below(r, 3);
		k->stride[d] = 1 + rng_below(r, 3);
		k->dilation[d] = 1 + rng_below(r, 2);
		k->pads[d] = rng_below(r, 3);
		k->pads[d + 2] = rng_below(r, 3);
		reach = k->dilation[d] * (k->kernel[d] - 1) + 1;
		k->out[d] = k->in[d] + k->pads[d] + k->pads[d + 2] - reach;
		if (k->out[d] < 0)
			return false;
		k->out[d] = k->out[d] / k->stride[d] + 1;
	}
	for (size_t i = 0; i < 4096; i++) {
		k->x[i] = (float)rng_below(r, 17) - 8;
		k->w[i] = (float)rng_below(r, 9) - 4;
	}
	return true;
}

/* One output element by the definition; small integers, so exact. */
static float
element(const struct conv_case *k, int64_t b, int64_t f, int64_t oy, int64_t ox)
{
	int64_t g = f / k->filters, c, y, x;
	float sum = 0;

	for (int64_t i = 0; i < k->channels * k->kernel[0] * k->kernel[1];
	     i++) {
		c = i / (k->kernel[0] * k->kernel[1]);
		y = oy * k->stride[0] - k->pads[0]
		    + i / k->kernel[1] % k->kernel[0] * k->dilation[0];
		x = ox * k->stride[1] - k->pads[1]
		    + i % k->kernel[1] * k->dilation[1];
		if (y < 0 || y >= k->in[0] || x < 0 || x >= k->in[1])
			continue;
		c += (b * k->groups + g) * k->channels;
		sum += k->x[(c * k->in[0] + y) * k->in[1] + x]
		    * k->w[f * k->channels * k->kernel[0] * k->kernel[1] + i];
	}
	return sum;
}

static void
define(struct conv_case *k)
{
	size_t at = 0;

	for (int64_t b = 0; b < k->n; b++)
		for (int64_t f = 0; f < k->groups * k->filters; f++)
			for (int64_t y = 0; y < k->out[0]; y++)
				for (int64_t x = 0; x < k->out[1]; x++)
					k->want[at++] = element(k, b, f, y, x);
}

static bool
evaluate(const struct conv_case *k, struct tensor *out, struct arena *a,
    struct err *err)
{
	static const struct type unknown = {.kind = TYPE_UNKNOWN};
	int64_t xd[4] = {k->n, k->groups * k->channels, k->in[0], k->in[1]};
	int64_t wd[4] = {
	    k->groups * k->filters, k->channels, k->kernel[0], k->kernel[1]};
	struct tensor x = tensor_view(DT_FLOAT, 4, xd, k->x);
	struct tensor w = tensor_view(DT_FLOAT, 4, wd, k->w);
	const struct tensor *in[2] = {&x, &w};
	struct graph *g = graph_new(a, "conv");
	value_id i[2] = {graph_add_value(g, "x", &unknown),
	    graph_add_value(g, "w", &unknown)};
	value_id o = graph_add_value(g, "y", &unknown);
	struct attr attr[] = {{"group", ATTR_INT, 1, .ints = &k->groups},
	    {"strides", ATTR_INTS, 2, .ints = k->stride},
	    {"dilations", ATTR_INTS, 2, .ints = k->dilation},
	    {"pads", ATTR_INTS, 4, .ints = k->pads}};
	struct node n = {.op = OP_CONV,
	    .op_type = "Conv",
	    .domain = "",
	    .name = "",
	    .opset = 11,
	    .ninputs = 2,
	    .noutputs = 1,
	    .input = i,
	    .output = &o,
	    .nattrs = 4,
	    .attr = attr};

	return host_eval(g, &n, in, out, a, err);
}

static bool
play(uint64_t seed)
{
	static struct conv_case k;
	struct rng r = rng_seeded(seed);
	struct err err = {.kind = ERR_NONE};
	struct tensor out;
	struct arena a;
	bool good;

	if (!make_case(&k, &r))
		return true;
	define(&k);
	arena_init(&a);
	good = evaluate(&k, &out, &a, &err)
	    && out.count
	        == (size_t)(k.n * k.groups * k.filters * k.out[0] * k.out[1])
	    && memcmp(out.data, k.want, out.bytes) == 0;
	if (!good)
		printf("seed %llu: convolution differs (%s)\n",
		    (unsigned long long)seed, err.text);
	arena_release(&a);
	return good;
}

/* Distance from x to the nearest finite value of a format. */
static double
nearest(enum dtype t, unsigned codes, double x)
{
	double best = (double)INFINITY;

	for (unsigned c = 0; c < codes; c++) {
		double v = small_float_value(t, (uint8_t)c);

		if (isfinite(v))
			best = fmin(best, fabs(v - x));
	}
	return best;
}

/* Every code survives a round trip, and every number goes to a nearest one. */
static bool
small_float_good(enum dtype t, unsigned codes, struct rng *r)
{
	for (unsigned c = 0; c < codes; c++) {
		double v = small_float_value(t, (uint8_t)c);
		uint8_t back = small_float_code(t, v, false);

		if (isnan(v) ? !isnan(small_float_value(t, back)) : back != c) {
			printf("%s: code %u comes back as %u\n", dtype_name(t),
			    c, back);
			return false;
		}
	}
	for (int i = 0; i < 2000; i++) {
		double x = ldexp((double)rng_below(r, 1 << 20) - (1 << 19),
		    (int)rng_below(r, 30) - 34);
		double v = small_float_value(t, small_float_code(t, x, true));

		if (fabs(v - x) > nearest(t, codes, x)) {
			printf("%s: %g goes to %g\n", dtype_name(t), x, v);
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct rng r = rng_seeded(first);
	uint32_t bad = 0;

	for (uint64_t seed = first; seed < first + cases; seed++)
		bad += !play(seed);
	bad += !small_float_good(DT_FLOAT8E4M3FN, 256, &r);
	bad += !small_float_good(DT_FLOAT8E4M3FNUZ, 256, &r);
	bad += !small_float_good(DT_FLOAT8E5M2, 256, &r);
	bad += !small_float_good(DT_FLOAT8E5M2FNUZ, 256, &r);
	bad += !small_float_good(DT_FLOAT4E2M1, 16, &r);
	printf("%llu convolutions, 5 formats, %u failed\n",
	    (unsigned long long)cases, bad);
	return bad ? 1 : 0;
}
