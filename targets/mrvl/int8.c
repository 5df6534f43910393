#include "targets/mrvl/int8.h"

#include <math.h>
#include <string.h>

#include "targets/mrvl/build.h"
#include "targets/mrvl/options.h"
#include "targets/quant.h"

/* ---- weights ---- */

/* Of one channel: real = scale * weight + bias, batch norm folded in. */
struct channel {
	float *weight; /* [each] */
	float bias;
};

static float
one(const struct packed *k, size_t i)
{
	float x;

	packed_read(k, dims_count(&k->dims) == 1 ? 0 : i, 1, &x);
	return x;
}

static void
read_channel(struct channel *c, const struct layer *l, size_t o, size_t each)
{
	const struct packed *const *k = l->constant;
	float norm, shift;

	packed_read(k[CONST_KERNEL], o * each, each, c->weight);
	c->bias = k[CONST_BIAS] ? one(k[CONST_BIAS], o) : 0;
	if (!k[CONST_GAMMA])
		return;
	norm =
	    one(k[CONST_GAMMA], o) / sqrtf(one(k[CONST_VAR], o) + l->epsilon);
	shift = one(k[CONST_BETA], o) - one(k[CONST_MEAN], o) * norm;
	for (size_t i = 0; i < each; i++)
		c->weight[i] *= norm;
	c->bias = c->bias * norm + shift;
}

/* TUNING: biases stay below this many steps, so that sums of them and of products
 * stay in 32 bits; a channel of tiny weights gets a coarser scale. */
#define BIAS_STEPS 0x1p30

static float
scale_of_channel(const struct channel *c, size_t each, const struct quant *in)
{
	float most = 0, scale;

	for (size_t i = 0; i < each; i++)
		most = fmaxf(most, fabsf(c->weight[i]));
	scale = most > 0 && isfinite(most) ? most / 127 : 1;
	if (!(scale > 0))
		scale = 1;
	if (fabs((double)c->bias)
	    > BIAS_STEPS * (double)in->scale * (double)scale)
		scale = (float)(fabs((double)c->bias)
		    / (BIAS_STEPS * (double)in->scale));
	return scale;
}

static double
between(double x, double low, double high)
{
	return isnan(x) ? 0 : x < low ? low : x > high ? high : x;
}

static void
round_channel(struct int8_weights *w, size_t o, const struct channel *c,
    const struct quant *in)
{
	const double step = (double)in->scale * (double)w->scale[o];
	int8_t *to = w->weight + o * w->each;

	for (size_t i = 0; i < w->each; i++)
		to[i] = (int8_t)between(
		    rint((double)(c->weight[i] / w->scale[o])), -128, 127);
	w->bias[o] = (int32_t)between(
	    rint((double)c->bias / step), INT32_MIN, INT32_MAX);
}

void
int8_weights_of(struct int8_weights *out, const struct layer *l,
    const struct quant *in, const struct quant *result, struct arena *a)
{
	const struct dims *d = &l->constant[CONST_KERNEL]->dims;
	struct channel c;

	out->channels = (uint32_t)d->dim[0];
	out->each = dims_count(d) / out->channels;
	out->weight = arena_new(a, int8_t, dims_count(d));
	out->scale = arena_new(a, float, out->channels);
	out->multiplier = arena_new(a, float, out->channels);
	out->bias = arena_new(a, int32_t, out->channels);
	c.weight = arena_new(a, float, out->each);
	for (uint32_t o = 0; o < out->channels; o++) {
		read_channel(&c, l, o, out->each);
		out->scale[o] = l->own_scale
		    ? l->own_scale[l->nown_scales == 1 ? 0 : o]
		    : scale_of_channel(&c, out->each, in);
		/* SOURCE: the order of QLinearConv in the host's kernels */
		out->multiplier[o] = in->scale * out->scale[o] / result->scale;
		round_channel(out, o, &c, in);
	}
}

/* ---- running ---- */

struct compute8 {
	struct layer layer;
	const uint32_t *port; /* [ninputs] operand -> candidate's input port */
	const struct quant *in; /* [ninputs] */
	struct quant out;
	struct int8_weights weights;
	int16_t *packed; /* [rows][channels]; a row: one input element */
	int32_t *sum; /* [channels] of one pixel */
};

static const uint8_t *
operand(const struct compute8 *c, const void *const *in, uint32_t i)
{
	return (const uint8_t *)in[c->port[i]];
}

/* sum * multiplier, in the output's steps. */
static uint8_t
requantised(const struct compute8 *c, int32_t sum, float multiplier)
{
	const double y = rint((double)((float)sum * multiplier));

	return quant_store(
	    &c->out, (c->layer.relu && y < 0 ? 0 : y) + (double)c->out.zero);
}

static void
finish(const struct compute8 *c, uint8_t *out)
{
	const struct int8_weights *w = &c->weights;

	for (uint32_t o = 0; o < w->channels; o++) {
		const int64_t sum = (int64_t)c->sum[o] + w->bias[o];

		out[o] = requantised(c,
		    (int32_t)between((double)sum, INT32_MIN, INT32_MAX),
		    w->multiplier[o]);
	}
}

static void
add_scaled(
    int32_t *restrict sum, const int16_t *restrict w, int16_t x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += (int32_t)x * (int32_t)w[i];
}

/* All groups of one input pixel under one kernel position. */
static void
conv_position(const struct compute8 *c, const uint8_t *pixel, int64_t position)
{
	const struct dims *k = &c->layer.constant[CONST_KERNEL]->dims;
	const int64_t inputs = k->dim[3], each = k->dim[0] / c->layer.groups;
	const size_t channels = c->weights.channels;
	const int16_t *w = c->packed + (size_t)(position * inputs) * channels;

	for (int64_t g = 0; g < c->layer.groups; g++)
		for (int64_t i = 0; i < inputs; i++) {
			const int16_t x = (int16_t)quant_steps(
			    &c->in[0], pixel[g * inputs + i]);

			if (x != 0)
				add_scaled(c->sum + g * each,
				    w + (size_t)i * channels + g * each, x,
				    (size_t)each);
		}
}

/* An output position; what is under kernel position k of it. */
struct spot8 {
	int64_t n, y, x;
};

enum under { UNDER_INPUT, UNDER_PADDING, UNDER_NOTHING };

/* UNDER_NOTHING: ceil_mode looks beyond even the padding. */
static enum under
look_under(const struct layer *l, const struct spot8 *s, int64_t k, int64_t *at)
{
	const int64_t *dim = l->in[0].dim; /* N H W C */
	const int64_t y =
	    s->y * l->stride[0] - l->pad[0] + k / l->kernel[1] * l->dilation[0];
	const int64_t x =
	    s->x * l->stride[1] - l->pad[1] + k % l->kernel[1] * l->dilation[1];

	*at = ((s->n * dim[1] + y) * dim[2] + x) * dim[3];
	if (y >= dim[1] + l->pad[2] || x >= dim[2] + l->pad[3])
		return UNDER_NOTHING;
	return y >= 0 && y < dim[1] && x >= 0 && x < dim[2] ? UNDER_INPUT
	                                                    : UNDER_PADDING;
}

static void
conv_spot(
    const struct compute8 *c, const uint8_t *in, struct spot8 s, uint8_t *out)
{
	const int64_t positions = c->layer.kernel[0] * c->layer.kernel[1];
	int64_t at;

	memset(c->sum, 0, c->weights.channels * sizeof *c->sum);
	for (int64_t k = 0; k < positions; k++)
		if (look_under(&c->layer, &s, k, &at) == UNDER_INPUT)
			conv_position(c, in + at, k);
	finish(c, out);
}

static void
pool_spot(
    const struct compute8 *c, const uint8_t *in, struct spot8 s, uint8_t *out)
{
	const struct layer *l = &c->layer;
	const bool max =
	    l->kind == LAYER_MAXPOOL || l->kind == LAYER_GLOBALMAXPOOL;
	const int64_t positions = l->kernel[0] * l->kernel[1];

	for (int64_t ch = 0; ch < l->out.dim[3]; ch++) {
		int32_t sum = 0, best = INT32_MIN, n = 0;
		float times = c->in[0].scale / c->out.scale;

		for (int64_t k = 0; k < positions; k++) {
			int64_t at;
			const enum under u = look_under(l, &s, k, &at);
			int32_t x;

			n += u == UNDER_INPUT
			    || (u == UNDER_PADDING && l->count_include_pad);
			if (u != UNDER_INPUT)
				continue;
			x = quant_steps(&c->in[0], in[at + ch]);
			sum += x;
			best = x > best ? x : best;
		}
		if (!max)
			times /= (float)(n ? n : 1);
		out[ch] = requantised(c, max ? best : sum, times);
	}
}

static void
run_spots(const struct compute8 *c, const void *const *in, uint8_t *out,
    void (*spot)(
        const struct compute8 *, const uint8_t *, struct spot8, uint8_t *))
{
	const int64_t *dim = c->layer.out.dim;
	struct spot8 s;

	for (s.n = 0; s.n < dim[0]; s.n++)
		for (s.y = 0; s.y < dim[1]; s.y++)
			for (s.x = 0; s.x < dim[2]; s.x++, out += dim[3])
				spot(c, operand(c, in, 0), s, out);
}

static void
run_fc(const struct compute8 *c, const void *const *in, uint8_t *out)
{
	const uint8_t *x = operand(c, in, 0);
	const size_t channels = c->weights.channels;

	for (int64_t n = 0; n < c->layer.out.dim[0]; n++) {
		memset(c->sum, 0, channels * sizeof *c->sum);
		for (size_t i = 0; i < c->weights.each; i++)
			add_scaled(c->sum, c->packed + i * channels,
			    (int16_t)quant_steps(&c->in[0], x[i]), channels);
		finish(c, out);
		out += channels;
		x += c->weights.each;
	}
}

static void
run_sum(const struct compute8 *c, const void *const *in, uint8_t *out)
{
	const uint8_t *x = operand(c, in, 0), *y = operand(c, in, 1);
	const float xm = c->in[0].scale / c->out.scale;
	const float ym = c->in[1].scale / c->out.scale;
	const size_t n = dims_count(&c->layer.out);

	for (size_t i = 0; i < n; i++) {
		const float a = (float)quant_steps(&c->in[0], x[i]) * xm;
		const float b = (float)quant_steps(&c->in[1], y[i]) * ym;
		const double z = rint((double)(a + b));

		out[i] = quant_store(&c->out,
		    (c->layer.relu && z < 0 ? 0 : z) + (double)c->out.zero);
	}
}

/* The same values in the output's steps. */
static void
move(const struct compute8 *c, uint32_t i, const uint8_t *in, size_t n,
    uint8_t *out)
{
	const float times = c->in[i].scale / c->out.scale;

	if (quant_equal(&c->in[i], &c->out)) {
		memcpy(out, in, n);
		return;
	}
	for (size_t k = 0; k < n; k++)
		out[k] = requantised(c, quant_steps(&c->in[i], in[k]), times);
}

static void
run_concat(const struct compute8 *c, const void *const *in, uint8_t *out)
{
	const struct layer *l = &c->layer;
	const size_t pixels =
	    (size_t)(l->out.dim[0] * l->out.dim[1] * l->out.dim[2]);

	for (size_t p = 0; p < pixels; p++)
		for (uint32_t i = 0; i < l->ninputs; i++) {
			const size_t n = (size_t)l->in[i].dim[3];

			move(c, i, operand(c, in, i) + p * n, n, out);
			out += n;
		}
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct compute8 *c = (const struct compute8 *)k->state;
	uint8_t *to = (uint8_t *)out[0];

	switch (c->layer.kind) {
	case LAYER_CONV:
		run_spots(c, in, to, conv_spot);
		break;
	case LAYER_FC:
		run_fc(c, in, to);
		break;
	case LAYER_MAXPOOL:
	case LAYER_AVGPOOL:
	case LAYER_GLOBALAVGPOOL:
	case LAYER_GLOBALMAXPOOL:
		run_spots(c, in, to, pool_spot);
		break;
	case LAYER_SUM:
		run_sum(c, in, to);
		break;
	case LAYER_CONCAT:
		run_concat(c, in, to);
		break;
	default: /* shapes change, values do not */
		move(c, 0, operand(c, in, 0), dims_count(&c->layer.out), to);
	}
}

/* ---- preparing ---- */

static void
pack(struct compute8 *c, struct arena *a)
{
	const struct int8_weights *w = &c->weights;

	c->sum = arena_new(a, int32_t, w->channels);
	c->packed = arena_new(a, int16_t, w->each * w->channels);
	for (size_t o = 0; o < w->channels; o++)
		for (size_t e = 0; e < w->each; e++)
			c->packed[layer_kernel_row(&c->layer, e) * w->channels
			    + o] = w->weight[o * w->each + e];
}

/* The layer and what its operands and its result mean. */
static bool
read_layer(struct compute8 *c, const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct err *err)
{
	struct layer *l = &c->layer;
	struct quant *in;
	const struct quant *q;

	mrvl_layer_of(l, g, cand->rule, cand->match, a);
	if (l->refused)
		return err_set(err, ERR_UNSUPPORTED, "mrvl: %s", l->refused);
	if (l->constant[CONST_BIAS]
	    && (int64_t)dims_count(&l->constant[CONST_BIAS]->dims)
	        != l->channels)
		return err_set(err, ERR_UNSUPPORTED,
		    "mrvl: a bias of several values per channel");
	layer_set_global(l);
	c->in = in = arena_new(a, struct quant, l->ninputs);
	for (uint32_t i = 0; i <= l->ninputs; i++) {
		const value_id v = i < l->ninputs ? l->operand[i] : l->result;

		q = format_quant(t->formats, v);
		if (!q)
			return err_set(err, ERR_UNSUPPORTED,
			    "mrvl: '%s' has no 8-bit scale",
			    graph_value(g, v)->name);
		if (i < l->ninputs)
			in[i] = *q;
		else
			c->out = *q;
	}
	return true;
}

bool
mrvl_compile8(const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct compute8 *c = arena_new(a, struct compute8, 1);

	if (!read_layer(c, t, g, cand, a, err))
		return false;
	c->port = layer_ports(&c->layer, cand, a);
	if (c->layer.constant[CONST_KERNEL]) {
		int8_weights_of(&c->weights, &c->layer, c->in, &c->out, a);
		pack(c, a);
	}
	*out = (struct kernel){.candidate = cand, .run = run, .state = c};
	out->kind = t->kind;
	return true;
}

/* ---- for QDQ models ---- */

/* A channel's weights H,W,I to I,H,W. */
static void
channels_first(int8_t *to, const int8_t *from, const int64_t *dim)
{
	const int64_t pixels = dim[1] * dim[2], inputs = dim[3];

	for (int64_t i = 0; i < inputs; i++)
		for (int64_t p = 0; p < pixels; p++)
			to[i * pixels + p] = from[p * inputs + i];
}

bool
mrvl_weights8(struct weights8 *out, const struct target *t,
    const struct graph *g, const struct candidate *cand, struct arena *a)
{
	struct compute8 c;
	struct err err = {.kind = ERR_NONE};
	const struct dims *d;
	const char *anchor;
	int8_t *weight;

	if (!read_layer(&c, t, g, cand, a, &err)
	    || !c.layer.constant[CONST_KERNEL] || c.layer.own_scale)
		return false;
	int8_weights_of(&c.weights, &c.layer, c.in, &c.out, a);
	d = &c.layer.constant[CONST_KERNEL]->dims;
	anchor = c.layer.kind == LAYER_CONV ? "conv" : "fc";
	*out = (struct weights8){.anchor = match_node(cand->match, anchor),
	    .rank = d->rank,
	    .weight = c.weights.weight,
	    .scale = c.weights.scale,
	    .bias = c.weights.bias,
	    .input_scale = c.in[0].scale};
	memcpy(out->dim, d->dim, sizeof out->dim);
	if (d->rank != 4)
		return true;
	out->dim[1] = d->dim[3];
	out->dim[2] = d->dim[1];
	out->dim[3] = d->dim[2];
	out->weight = weight = arena_new(a, int8_t, dims_count(d));
	for (size_t o = 0; o < c.weights.channels; o++)
		channels_first(weight + o * c.weights.each,
		    c.weights.weight + o * c.weights.each, d->dim);
	return true;
}
