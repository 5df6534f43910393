#include "targets/mrvl/compute.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/mrvl/build.h"
#include "targets/mrvl/int8.h"
#include "targets/mrvl/options.h"

/* Output channels are computed 16 at a time: a fixed inner loop that the
 * compiler turns into SIMD. */
#define LANES 16

struct compute {
	struct layer layer;
	const uint32_t *port; /* [ninputs] operand -> candidate's input port */
	float *kernel; /* [positions][inputs][lanes] per group, see load() */
	float *bias, *scale, *shift; /* [channels]; NULL: none */
	float *sum; /* [channels, rounded up]: one pixel's accumulators */
	uint64_t channels; /* rounded up to LANES */
};

static float
load(const uint16_t *x, int64_t i)
{
	return f16_to_f32(x[i]);
}

/* Bias, norm, activation, rounding. */
static void
finish(const struct compute *c, int64_t n, uint16_t *out)
{
	for (int64_t i = 0; i < n; i++) {
		float y = c->sum[i];

		if (c->bias)
			y += c->bias[i];
		if (c->scale)
			y = y * c->scale[i] + c->shift[i];
		if (c->layer.relu && y < 0)
			y = 0;
		out[i] = f32_to_f16(y);
	}
}

static void
add_scaled(float *restrict sum, const float *restrict w, float x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += LANES)
		for (uint64_t k = 0; k < LANES; k++)
			sum[i + k] += x * w[i + k];
}

/* ---- convolution ---- */

struct spot {
	int64_t n, y, x; /* of the output */
};

/* All groups of one input pixel under one kernel position. */
static void
conv_position(const struct compute *c, const uint16_t *pixel, int64_t position)
{
	const struct dims *k = &c->layer.constant[CONST_KERNEL]->dims;
	int64_t inputs = k->dim[3], groups = c->layer.groups;
	int64_t outputs = k->dim[0] / groups;
	const float *w =
	    c->kernel + (uint64_t)(position * inputs) * c->channels;

	if (groups == 1) {
		for (int64_t i = 0; i < inputs; i++)
			add_scaled(c->sum, w + (uint64_t)i * c->channels,
			    load(pixel, i), c->channels);
		return;
	}
	for (int64_t i = 0; i < inputs; i++)
		for (int64_t o = 0; o < k->dim[0]; o++) {
			float x = load(pixel, o / outputs * inputs + i);

			c->sum[o] +=
			    x * w[(uint64_t)i * c->channels + (uint64_t)o];
		}
}

static void
conv_spot(const struct compute *c, const uint16_t *in, struct spot s)
{
	const struct layer *l = &c->layer;
	const int64_t *dim = l->in[0].dim; /* N H W C */

	memset(c->sum, 0, c->channels * sizeof *c->sum);
	for (int64_t ky = 0; ky < l->kernel[0]; ky++) {
		int64_t y =
		    s.y * l->stride[0] - l->pad[0] + ky * l->dilation[0];

		if (y < 0 || y >= dim[1])
			continue;
		for (int64_t kx = 0; kx < l->kernel[1]; kx++) {
			int64_t x = s.x * l->stride[1] - l->pad[1]
			    + kx * l->dilation[1];

			if (x < 0 || x >= dim[2])
				continue;
			conv_position(c,
			    in + ((s.n * dim[1] + y) * dim[2] + x) * dim[3],
			    ky * l->kernel[1] + kx);
		}
	}
}

static void
run_conv(const struct compute *c, const void *const *in, uint16_t *out)
{
	const int64_t *dim = c->layer.out.dim;
	struct spot s;

	for (s.n = 0; s.n < dim[0]; s.n++)
		for (s.y = 0; s.y < dim[1]; s.y++)
			for (s.x = 0; s.x < dim[2]; s.x++) {
				conv_spot(
				    c, (const uint16_t *)in[c->port[0]], s);
				finish(c, dim[3], out);
				out += dim[3];
			}
}

static void
run_fc(const struct compute *c, const void *const *in, uint16_t *out)
{
	const uint16_t *x = (const uint16_t *)in[c->port[0]];
	const struct dims *k = &c->layer.constant[CONST_KERNEL]->dims;

	for (int64_t n = 0; n < c->layer.out.dim[0]; n++) {
		memset(c->sum, 0, c->channels * sizeof *c->sum);
		for (int64_t i = 0; i < k->dim[1]; i++)
			add_scaled(c->sum,
			    c->kernel + (uint64_t)i * c->channels, load(x, i),
			    c->channels);
		finish(c, k->dim[0], out);
		out += k->dim[0];
		x += k->dim[1];
	}
}

/* ---- pools ---- */

struct pool_sum {
	float best, sum;
	int64_t valid, counted; /* positions inside the input; with padding */
};

static struct pool_sum
pool_spot(const struct layer *l, const uint16_t *in, struct spot s, int64_t c)
{
	const int64_t *dim = l->in[0].dim;
	struct pool_sum r = {.best = -INFINITY};

	for (int64_t ky = 0; ky < l->kernel[0]; ky++)
		for (int64_t kx = 0; kx < l->kernel[1]; kx++) {
			int64_t y = s.y * l->stride[0] - l->pad[0]
			    + ky * l->dilation[0];
			int64_t x = s.x * l->stride[1] - l->pad[1]
			    + kx * l->dilation[1];
			float v;

			/* ceil_mode may look beyond even the padding */
			if (y >= dim[1] + l->pad[2] || x >= dim[2] + l->pad[3])
				continue;
			r.counted++;
			if (y < 0 || y >= dim[1] || x < 0 || x >= dim[2])
				continue;
			r.valid++;
			v = load(
			    in, ((s.n * dim[1] + y) * dim[2] + x) * dim[3] + c);
			r.sum += v;
			if (v > r.best || isnan(v))
				r.best = v;
		}
	return r;
}

static float
pooled(const struct layer *l, struct pool_sum r)
{
	int64_t n = l->count_include_pad ? r.counted : r.valid;

	if (l->kind == LAYER_MAXPOOL || l->kind == LAYER_GLOBALMAXPOOL)
		return r.best;
	return n ? r.sum / (float)n : 0;
}

static void
run_pool(const struct compute *c, const void *const *in, uint16_t *out)
{
	const uint16_t *x = (const uint16_t *)in[c->port[0]];
	const int64_t *dim = c->layer.out.dim;
	struct spot s;

	for (s.n = 0; s.n < dim[0]; s.n++)
		for (s.y = 0; s.y < dim[1]; s.y++)
			for (s.x = 0; s.x < dim[2]; s.x++)
				for (int64_t i = 0; i < dim[3]; i++)
					*out++ = f32_to_f16(pooled(&c->layer,
					    pool_spot(&c->layer, x, s, i)));
}

/* ---- the rest ---- */

static void
run_sum(const struct compute *c, const void *const *in, uint16_t *out)
{
	const uint16_t *x = (const uint16_t *)in[c->port[0]];
	const uint16_t *y = (const uint16_t *)in[c->port[1]];
	int64_t n = (int64_t)dims_count(&c->layer.out);

	for (int64_t i = 0; i < n; i++) {
		float z = load(x, i) + load(y, i);

		out[i] = f32_to_f16(c->layer.relu && z < 0 ? 0 : z);
	}
}

static void
run_concat(const struct compute *c, const void *const *in, uint16_t *out)
{
	const struct layer *l = &c->layer;
	int64_t pixels = l->out.dim[0] * l->out.dim[1] * l->out.dim[2];

	for (int64_t p = 0; p < pixels; p++)
		for (uint32_t i = 0; i < l->ninputs; i++) {
			int64_t n = l->in[i].dim[3];

			memcpy(out, (const uint16_t *)in[c->port[i]] + p * n,
			    (size_t)n * sizeof *out);
			out += n;
		}
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct compute *c = (const struct compute *)k->state;
	uint16_t *to = (uint16_t *)out[0];

	switch (c->layer.kind) {
	case LAYER_CONV:
		run_conv(c, in, to);
		break;
	case LAYER_FC:
		run_fc(c, in, to);
		break;
	case LAYER_MAXPOOL:
	case LAYER_AVGPOOL:
	case LAYER_GLOBALAVGPOOL:
	case LAYER_GLOBALMAXPOOL:
		run_pool(c, in, to);
		break;
	case LAYER_SUM:
		run_sum(c, in, to);
		break;
	case LAYER_CONCAT:
		run_concat(c, in, to);
		break;
	default: /* shapes change, bytes do not */
		memcpy(
		    to, in[c->port[0]], dims_count(&c->layer.out) * sizeof *to);
	}
}

/* ---- preparing ---- */

static float
half(float x)
{
	return f16_to_f32(f32_to_f16(x));
}

static void
pack_kernel(struct compute *c, struct arena *a)
{
	const struct packed *k = c->layer.constant[CONST_KERNEL];
	uint64_t outputs = (uint64_t)k->dims.dim[0];
	uint64_t each = dims_count(&k->dims) / outputs;
	struct arena scratch;
	float *row;

	c->channels = size_round_up(outputs, LANES);
	c->kernel = arena_new(a, float, each * c->channels);
	c->sum = arena_new(a, float, c->channels);
	arena_init(&scratch);
	row = arena_new(&scratch, float, each);
	for (uint64_t o = 0; o < outputs; o++) {
		packed_read(k, o * each, each, row);
		for (uint64_t e = 0; e < each; e++)
			c->kernel[layer_kernel_row(&c->layer, e) * c->channels
			    + o] = half(row[e]);
	}
	arena_release(&scratch);
}

static float *
read_all(const struct packed *k, struct arena *a)
{
	size_t n = dims_count(&k->dims);
	float *out = arena_new(a, float, n);

	packed_read(k, 0, n, out);
	return out;
}

static void
pack_norm(struct compute *c, struct arena *a)
{
	const struct packed *const *k = c->layer.constant;
	size_t n;
	float *mean, *var;

	if (!k[CONST_GAMMA])
		return;
	n = dims_count(&k[CONST_GAMMA]->dims);
	c->scale = read_all(k[CONST_GAMMA], a);
	c->shift = read_all(k[CONST_BETA], a);
	mean = read_all(k[CONST_MEAN], a);
	var = read_all(k[CONST_VAR], a);
	for (size_t i = 0; i < n; i++) {
		c->scale[i] /= sqrtf(var[i] + c->layer.epsilon);
		c->shift[i] -= mean[i] * c->scale[i];
	}
}

bool
mrvl_compile(const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct compute *c = arena_new(a, struct compute, 1);

	if (mrvl_of(t)->int8)
		return mrvl_compile8(t, g, cand, a, out, err);
	mrvl_layer_of(&c->layer, g, cand->rule, cand->match, a);
	if (c->layer.refused)
		return err_set(
		    err, ERR_UNSUPPORTED, "mrvl: %s", c->layer.refused);
	c->port = layer_ports(&c->layer, cand, a);
	layer_set_global(&c->layer);
	if (c->layer.constant[CONST_KERNEL])
		pack_kernel(c, a);
	if (c->layer.constant[CONST_BIAS]
	    && (int64_t)dims_count(&c->layer.constant[CONST_BIAS]->dims)
	        != c->layer.channels)
		return err_set(err, ERR_UNSUPPORTED,
		    "mrvl: a bias of several values per channel");
	if (c->layer.constant[CONST_BIAS])
		c->bias = read_all(c->layer.constant[CONST_BIAS], a);
	pack_norm(c, a);
	*out = (struct kernel){.candidate = cand, .run = run, .state = c};
	out->kind = t->kind;
	return true;
}
