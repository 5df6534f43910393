/* Kernels of our own against each library's best way of all nodes at once, shape by
 * shape: weights, images and all in the caches, in turns. `bench_native [ROUNDS] [all]
 * [FIRST]`, from which shape; with `all` every tile and block of Winograd is run, offered or not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/contest.h"
#include "bench/common/scratch.h"
#include "costmodel/trial.h"
#include "ir/base/clock.h"
#include "targets/candidates.h"
#include "targets/native/winograd.h"
#include "targets/view.h"
#include "tests/support/make.h"

/* A convolution, or what the function makes: of so many channels, or of a sequence of
 * `size` steps of `channels` numbers with `filters` units. Of each channel by itself
 * `filters` is two digits: a window's side and the stride. */
struct shape {
	const char *of;
	int64_t channels, filters, size;
	value_id (*function)(struct maker *m, const struct shape *s);
};

static value_id
image(struct maker *m, const struct shape *s)
{
	return make_input(m, DIMS(1, s->channels, s->size, s->size));
}

static value_id
gelu_tanh(struct maker *m, const struct shape *s)
{
	value_id x = image(m, s), y = MAKE(m, POW, x, make_scalar(m, 3));

	y = MAKE(m, ADD, x, MAKE(m, MUL, y, make_scalar(m, 0.044715f)));
	y = MAKE(m, TANH, MAKE(m, MUL, y, make_scalar(m, 0.7978845608f)));
	y = MAKE(m, ADD, y, make_scalar(m, 1));
	return MAKE(m, MUL, MAKE(m, MUL, x, make_scalar(m, 0.5f)), y);
}

static value_id
tanh_of(struct maker *m, const struct shape *s)
{
	return MAKE(m, TANH, image(m, s));
}

/* In one direction: the libraries' kernels of two are two of these. */
static value_id
recurrent(struct maker *m, const struct shape *s, enum op op, int64_t linear)
{
	const bool lstm = op == OP_LSTM;
	const struct attr attr[] = {ATTR_OF_INT("hidden_size", s->filters),
	    ATTR_OF_INT("linear_before_reset", linear)};
	const int64_t gates = (lstm ? 4 : 3) * s->filters;
	const value_id in[] = {make_input(m, DIMS(s->size, 1, s->channels)),
	    make_constant(m, DIMS(1, gates, s->channels), -.1f, .1f),
	    make_constant(m, DIMS(1, gates, s->filters), -.1f, .1f),
	    make_constant(m, DIMS(1, 2 * gates), -1, 1), VALUE_LAST};

	return make_node(m, op, in, attr, lstm ? 1 : 2);
}

static value_id
lstm(struct maker *m, const struct shape *s)
{
	return recurrent(m, s, OP_LSTM, 0);
}

/* As ONNX Runtime's tools quantise one: no library has it. */
static value_id
lstm_bytes(struct maker *m, const struct shape *s)
{
	const int64_t columns = 4 * s->filters;
	const value_id in[] = {make_input(m, DIMS(s->size, 1, s->channels)),
	    make_int8(m, DIMS(1, s->channels, columns)),
	    make_int8(m, DIMS(1, s->filters, columns)),
	    make_constant(m, DIMS(1, 2 * columns), -1, 1), VALUE_NONE,
	    VALUE_NONE, VALUE_NONE, VALUE_NONE,
	    make_constant(m, DIMS(1), .001f, .002f), make_int8(m, DIMS(1)),
	    make_constant(m, DIMS(1), .001f, .002f), make_int8(m, DIMS(1)),
	    VALUE_LAST};

	return make_node(m, OP_DYNAMICQUANTIZELSTM, in, NULL, 0);
}

/* An image of bytes. */
static value_id
codes(struct maker *m, const int64_t *dim)
{
	const value_id x = make_input(m, dim);

	graph_value(m->graph, x)->type.dtype = DT_UINT8;
	return x;
}

static value_id
zero_code(struct maker *m)
{
	struct tensor *t = arena_new(m->graph->arena, struct tensor, 1);

	*t = tensor_view(
	    DT_INT8, 0, NULL, arena_new(m->graph->arena, int8_t, 1));
	return graph_add_constant(m->graph, "zero", t);
}

/* QLinearConv of so many pixels a side, `stride` apart. */
static value_id
quantised_conv(struct maker *m, const struct shape *s, int64_t side,
    int64_t stride, int64_t group)
{
	const struct attr attr[] = {ATTR_OF_INTS("strides", stride, stride),
	    ATTR_OF_INTS("pads", side / 2, side / 2, side / 2, side / 2),
	    ATTR_OF_INT("group", group)};
	const value_id zero = make_uint8(m, DIMS(1));
	const value_id in[] = {codes(m, DIMS(1, s->channels, s->size, s->size)),
	    make_scalar(m, .02f), zero,
	    make_int8(m, DIMS(s->filters, s->channels / group, side, side)),
	    make_constant(m, DIMS(s->filters), .001f, .002f), zero_code(m),
	    make_scalar(m, .3f), zero, VALUE_LAST};
	const value_id y = make_node(m, OP_QLINEARCONV, in, attr, 3);

	graph_value(m->graph, y)->type.dtype = DT_UINT8;
	return y;
}

static value_id
bytes_1x1(struct maker *m, const struct shape *s)
{
	return quantised_conv(m, s, 1, 1, 1);
}

static value_id
bytes_3x3(struct maker *m, const struct shape *s)
{
	return quantised_conv(m, s, 3, 1, 1);
}

static value_id
bytes_3x3_by_2(struct maker *m, const struct shape *s)
{
	return quantised_conv(m, s, 3, 2, 1);
}

static value_id
bytes_channelwise(struct maker *m, const struct shape *s)
{
	const struct shape each = {
	    s->of, s->channels, s->channels, s->size, NULL};

	return quantised_conv(
	    m, &each, s->filters / 10, s->filters % 10, s->channels);
}

/* QLinearMatMul of `size` rows. */
static value_id
bytes_product(struct maker *m, const struct shape *s)
{
	const value_id zero = make_uint8(m, DIMS(1));
	const value_id y = MAKE(m, QLINEARMATMUL,
	    codes(m, DIMS(s->size, s->channels)), make_scalar(m, .02f), zero,
	    make_int8(m, DIMS(s->channels, s->filters)),
	    make_constant(m, DIMS(s->filters), .001f, .002f), zero_code(m),
	    make_scalar(m, .3f), zero);

	graph_value(m->graph, y)->type.dtype = DT_UINT8;
	return y;
}

/* What attention of six heads multiplies: `size` rows. */
static value_id
bytes_matrices(struct maker *m, const struct shape *s)
{
	const value_id zero = make_uint8(m, DIMS(1));
	const value_id y = MAKE(m, QLINEARMATMUL,
	    codes(m, DIMS(6, s->size, s->channels)), make_scalar(m, .02f), zero,
	    codes(m, DIMS(6, s->channels, s->filters)), make_scalar(m, .02f),
	    zero, make_scalar(m, .3f), zero);

	graph_value(m->graph, y)->type.dtype = DT_UINT8;
	return y;
}

/* `filters`: a window's side and the stride. */
static value_id
bytes_pool(struct maker *m, const struct shape *s)
{
	const int64_t side = s->filters / 10, stride = s->filters % 10;
	const struct attr attr[] = {ATTR_OF_INTS("kernel_shape", side, side),
	    ATTR_OF_INTS("strides", stride, stride)};
	const value_id y = MAKE_WITH(
	    m, MAXPOOL, attr, codes(m, DIMS(1, s->channels, s->size, s->size)));

	graph_value(m->graph, y)->type.dtype = DT_UINT8;
	return y;
}

static value_id
real(struct maker *m, value_id x)
{
	return MAKE(m, DEQUANTIZELINEAR, x, make_scalar(m, .03f),
	    make_uint8(m, DIMS(1)));
}

static value_id
coded(struct maker *m, value_id x)
{
	const value_id y = MAKE(
	    m, QUANTIZELINEAR, x, make_scalar(m, .02f), make_uint8(m, DIMS(1)));

	graph_value(m->graph, y)->type.dtype = DT_UINT8;
	return y;
}

/* Lines of so many. */
static value_id
bytes_softmax(struct maker *m, const struct shape *s)
{
	const struct attr last[] = {ATTR_OF_INT("axis", -1)};
	const value_id x = codes(m, DIMS(s->channels, s->size, s->filters));

	return coded(m, MAKE_WITH(m, SOFTMAX, last, real(m, x)));
}

/* A gate by what is quantised of the same bytes. */
static value_id
bytes_gate(struct maker *m, const struct shape *s)
{
	const value_id x = codes(m, DIMS(1, s->channels, s->size, s->size));
	const value_id gate = coded(m, MAKE(m, HARDSIGMOID, real(m, x)));

	return coded(m, MAKE(m, MUL, real(m, x), real(m, gate)));
}

static value_id
gru(struct maker *m, const struct shape *s)
{
	return recurrent(m, s, OP_GRU, 0);
}

/* As PyTorch exports it. */
static value_id
gru_linear(struct maker *m, const struct shape *s)
{
	return recurrent(m, s, OP_GRU, 1);
}

/* A convolution of single pixels of x. */
static value_id
point_of(struct maker *m, const struct shape *s, value_id x)
{
	value_id w =
	    make_constant(m, DIMS(s->filters, s->channels, 1, 1), -.1f, .1f);
	value_id b = make_constant(m, DIMS(s->filters), -1, 1);

	return MAKE(m, RELU, MAKE(m, CONV, x, w, b));
}

static value_id
point(struct maker *m, const struct shape *s)
{
	return point_of(m, s, image(m, s));
}

static value_id
point_normed(struct maker *m, const struct shape *s)
{
	const int64_t c = s->channels;
	value_id x = MAKE(m, BATCHNORMALIZATION, image(m, s),
	    make_constant(m, DIMS(c), .5f, 2), make_constant(m, DIMS(c), -1, 1),
	    make_constant(m, DIMS(c), -1, 1),
	    make_constant(m, DIMS(c), .5f, 2));

	return point_of(m, s, MAKE(m, RELU, x));
}

static value_id
point_gated(struct maker *m, const struct shape *s)
{
	value_id gate = make_input(m, DIMS(1, s->channels, 1, 1));

	return point_of(m, s, MAKE(m, MUL, image(m, s), gate));
}

static value_id
swish_of(struct maker *m, value_id x)
{
	return MAKE(m, MUL, x, MAKE(m, SIGMOID, x));
}

static value_id
point_swish(struct maker *m, const struct shape *s)
{
	value_id w =
	    make_constant(m, DIMS(s->filters, s->channels, 1, 1), -.1f, .1f);

	return swish_of(m,
	    MAKE(m, CONV, image(m, s), w,
	        make_constant(m, DIMS(s->filters), -1, 1)));
}

/* A window of height x width, padded to the image's size. */
static value_id
windowed(struct maker *m, const struct shape *s, int64_t height, int64_t width)
{
	const struct attr pads[] = {
	    ATTR_OF_INTS("pads", height / 2, width / 2, height / 2, width / 2)};

	return MAKE_WITH(m, CONV, pads, image(m, s),
	    make_constant(
	        m, DIMS(s->filters, s->channels, height, width), -.1f, .1f),
	    make_constant(m, DIMS(s->filters), -1, 1));
}

static value_id
few_3(struct maker *m, const struct shape *s)
{
	return windowed(m, s, 3, 3);
}

static value_id
few_5(struct maker *m, const struct shape *s)
{
	return windowed(m, s, 5, 5);
}

/* In two groups. */
static value_id
halved(struct maker *m, const struct shape *s, int64_t side)
{
	const struct attr a[] = {ATTR_OF_INT("group", 2),
	    ATTR_OF_INTS("pads", side / 2, side / 2, side / 2, side / 2)};

	return MAKE_WITH(m, CONV, a, image(m, s),
	    make_constant(
	        m, DIMS(s->filters, s->channels / 2, side, side), -.1f, .1f),
	    make_constant(m, DIMS(s->filters), -1, 1));
}

static value_id
halved_3(struct maker *m, const struct shape *s)
{
	return halved(m, s, 3);
}

static value_id
halved_5(struct maker *m, const struct shape *s)
{
	return halved(m, s, 5);
}

static value_id
few_7(struct maker *m, const struct shape *s)
{
	return windowed(m, s, 7, 7);
}

static value_id
few_39(struct maker *m, const struct shape *s)
{
	return windowed(m, s, 3, 39);
}

/* 256 taps along a line, every second one. */
static value_id
line(struct maker *m, const struct shape *s)
{
	const struct attr strides[] = {ATTR_OF_INTS("strides", 1, 2)};

	return MAKE_WITH(m, CONV, strides,
	    make_input(m, DIMS(1, s->channels, 1, s->size)),
	    make_constant(m, DIMS(s->filters, s->channels, 1, 256), -.1f, .1f));
}

/* Of numbers above 0. */
static value_id
above_0(struct maker *m, const struct shape *s)
{
	return MAKE(m, ADD, MAKE(m, ABS, image(m, s)), make_scalar(m, 0.1f));
}

static value_id
exp_of(struct maker *m, const struct shape *s)
{
	return MAKE(m, EXP, image(m, s));
}

static value_id
log_of(struct maker *m, const struct shape *s)
{
	return MAKE(m, LOG, above_0(m, s));
}

static value_id
power_of(struct maker *m, const struct shape *s)
{
	return MAKE(m, POW, above_0(m, s), make_scalar(m, -0.5f));
}

/* Of each channel by itself. */
static value_id
depthwise(struct maker *m, const struct shape *s)
{
	const int64_t k = s->filters / 10, pad = k / 2, c = s->channels;
	const int64_t stride = s->filters % 10;
	const struct attr attr[] = {ATTR_OF_INT("group", c),
	    ATTR_OF_INTS("pads", pad, pad, pad, pad),
	    ATTR_OF_INTS("strides", stride, stride)};

	return MAKE_WITH(m, CONV, attr, image(m, s),
	    make_constant(m, DIMS(c, 1, k, k), -.3f, .3f),
	    make_constant(m, DIMS(c), -1, 1));
}

static value_id
depthwise_swish(struct maker *m, const struct shape *s)
{
	value_id y = depthwise(m, s);

	return MAKE(m, MUL, y, MAKE(m, SIGMOID, y));
}

static value_id
depthwise_hard_swish(struct maker *m, const struct shape *s)
{
	return MAKE(m, HARDSWISH, depthwise(m, s));
}

static value_id
depthwise_relu(struct maker *m, const struct shape *s)
{
	return MAKE(m, RELU, depthwise(m, s));
}

static value_id
depthwise_clip(struct maker *m, const struct shape *s)
{
	return MAKE(
	    m, CLIP, depthwise(m, s), make_scalar(m, 0), make_scalar(m, 6));
}

/* Single pixels to so many filters, then each channel by itself: of `filters` the last
 * two digits are a window's side and the stride. */
static value_id
expanded(struct maker *m, const struct shape *s,
    value_id (*function)(struct maker *m, value_id x))
{
	const int64_t c = s->filters / 100, k = s->filters / 10 % 10;
	const int64_t pad = k / 2, stride = s->filters % 10;
	const struct attr attr[] = {ATTR_OF_INT("group", c),
	    ATTR_OF_INTS("pads", pad, pad, pad, pad),
	    ATTR_OF_INTS("strides", stride, stride)};
	value_id y = MAKE(m, CONV, image(m, s),
	    make_constant(m, DIMS(c, s->channels, 1, 1), -.1f, .1f),
	    make_constant(m, DIMS(c), -1, 1));

	return function(m,
	    MAKE_WITH(m, CONV, attr, function(m, y),
	        make_constant(m, DIMS(c, 1, k, k), -.3f, .3f),
	        make_constant(m, DIMS(c), -1, 1)));
}

static value_id
clip_of(struct maker *m, value_id x)
{
	return MAKE(m, CLIP, x, make_scalar(m, 0), make_scalar(m, 6));
}

static value_id
relu_of(struct maker *m, value_id x)
{
	return MAKE(m, RELU, x);
}

static value_id
expanded_swish(struct maker *m, const struct shape *s)
{
	return expanded(m, s, swish_of);
}

static value_id
expanded_clip(struct maker *m, const struct shape *s)
{
	return expanded(m, s, clip_of);
}

static value_id
expanded_relu(struct maker *m, const struct shape *s)
{
	return expanded(m, s, relu_of);
}

static value_id
hard_swish_of(struct maker *m, value_id x)
{
	return MAKE(m, HARDSWISH, x);
}

static value_id
expanded_hard_swish(struct maker *m, const struct shape *s)
{
	return expanded(m, s, hard_swish_of);
}

/* Blocks of 32 codes, without zero points: `size` rows by [channels][filters]. */
static value_id
blocks(struct maker *m, const struct shape *s, int64_t bits)
{
	const struct attr attr[] = {ATTR_OF_INT("K", s->channels),
	    ATTR_OF_INT("N", s->filters), ATTR_OF_INT("bits", bits),
	    ATTR_OF_INT("block_size", 32)};
	const int64_t n = s->channels / 32;

	return MAKE_WITH(m, MATMULNBITS, attr,
	    make_input(m, DIMS(s->size, s->channels)),
	    make_uint8(m, DIMS(s->filters, n, 4 * bits)),
	    make_constant(m, DIMS(s->filters * n), 0.01f, 0.1f));
}

static value_id
four(struct maker *m, const struct shape *s)
{
	return blocks(m, s, 4);
}

static value_id
eight(struct maker *m, const struct shape *s)
{
	return blocks(m, s, 8);
}

/* `size` times `channels` lines of `filters` numbers. */
static value_id
softmax(struct maker *m, const struct shape *s)
{
	const struct attr last[] = {ATTR_OF_INT("axis", -1)};

	return MAKE_WITH(m, SOFTMAX, last,
	    make_input(m, DIMS(s->size, s->channels, s->filters)));
}

static value_id
log_softmax(struct maker *m, const struct shape *s)
{
	const struct attr last[] = {ATTR_OF_INT("axis", -1)};

	return MAKE_WITH(m, LOGSOFTMAX, last,
	    make_input(m, DIMS(s->size, s->channels, s->filters)));
}

static value_id
line_of(struct maker *m, const struct shape *s, float about)
{
	return make_constant(m, DIMS(s->filters), about - 1, about + 1);
}

static value_id
layer_norm(struct maker *m, const struct shape *s)
{
	const int64_t *dim = DIMS(s->size, s->channels, s->filters);

	return MAKE(m, LAYERNORMALIZATION, make_input(m, dim), line_of(m, s, 1),
	    line_of(m, s, 0));
}

/* Of a sum: what the libraries take in two. */
static value_id
layer_norm_of_sum(struct maker *m, const struct shape *s)
{
	const int64_t *dim = DIMS(s->size, s->channels, s->filters);

	return MAKE(m, LAYERNORMALIZATION,
	    MAKE(m, ADD, make_input(m, dim), make_input(m, dim)),
	    line_of(m, s, 1), line_of(m, s, 0));
}

/* Over the channels of an image. */
static value_id
softmax_channels(struct maker *m, const struct shape *s)
{
	const struct attr first[] = {ATTR_OF_INT("axis", 1)};

	return MAKE_WITH(m, SOFTMAX, first, image(m, s));
}

static value_id
channels_last(struct maker *m, const struct shape *s)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", 0, 2, 3, 1)};

	return MAKE_WITH(m, TRANSPOSE, perm, image(m, s));
}

/* `channels` heads of `filters` numbers at each of `size` places. */
static value_id
heads(struct maker *m, const struct shape *s)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", 0, 2, 1, 3)};

	return MAKE_WITH(m, TRANSPOSE, perm,
	    make_input(m, DIMS(1, s->size, s->channels, s->filters)));
}

static value_id
cut(struct maker *m, value_id x, int64_t axis, int64_t start, int64_t step)
{
	return MAKE(m, SLICE, x, make_ints(m, INTS(start)),
	    make_ints(m, INTS(INT64_MAX)), make_ints(m, INTS(axis)),
	    make_ints(m, INTS(step)));
}

static value_id
every_second(struct maker *m, const struct shape *s)
{
	return cut(m, image(m, s), 3, 0, 2);
}

static value_id
last_half(struct maker *m, const struct shape *s)
{
	return cut(m, image(m, s), 3, s->size / 2, 1);
}

static value_id
focus(struct maker *m, const struct shape *s)
{
	const struct attr at[] = {ATTR_OF_INT("axis", 1)};
	value_id x = image(m, s), part[4];

	for (int64_t i = 0; i < 4; i++)
		part[i] = cut(m, cut(m, x, 2, i % 2, 2), 3, i / 2, 2);
	return MAKE_WITH(m, CONCAT, at, part[0], part[1], part[2], part[3]);
}

static value_id
padded(struct maker *m, const struct shape *s, const struct attr *mode)
{
	const int64_t n = s->filters;
	const value_id in[] = {image(m, s),
	    make_ints(m, INTS(0, 0, n, n, 0, 0, n, n)), VALUE_LAST};

	return make_node(m, OP_PAD, in, mode, 1);
}

static value_id
zeros_around(struct maker *m, const struct shape *s)
{
	const struct attr mode[] = {ATTR_OF_STRING("mode", "constant")};

	return padded(m, s, mode);
}

static value_id
reflected(struct maker *m, const struct shape *s)
{
	const struct attr mode[] = {ATTR_OF_STRING("mode", "reflect")};

	return padded(m, s, mode);
}

/* Along the last dimension. */
static value_id
joined(struct maker *m, const struct shape *s)
{
	const struct attr last[] = {ATTR_OF_INT("axis", -1)};
	const int64_t *dim = DIMS(s->size, s->channels, s->filters);

	return MAKE_WITH(
	    m, CONCAT, last, make_input(m, dim), make_input(m, dim));
}

static value_id
repeated(struct maker *m, const struct shape *s)
{
	return MAKE(m, EXPAND, make_input(m, DIMS(1, s->channels, 1, 1)),
	    make_ints(m, INTS(1, s->channels, s->size, s->size)));
}

/* `size` rows by a matrix, and a row added. */
static value_id
product(struct maker *m, const struct shape *s)
{
	value_id x = make_input(m, DIMS(s->size, s->channels));

	x = MAKE(m, MATMUL, x,
	    make_constant(m, DIMS(s->channels, s->filters), -.1f, .1f));
	return MAKE(m, ADD, x, make_constant(m, DIMS(s->filters), -1, 1));
}

/* As exporters spell attention behind a past: `channels` heads of 64, `filters` keys
 * before `size` queries and as many new keys; what is past and new is read by others,
 * too. Each of `kv` heads of keys is for several of the queries'. */
static value_id
behind_past(struct maker *m, const struct shape *s, int64_t batch, int64_t kv)
{
	const struct attr second[] = {ATTR_OF_INT("axis", 2)};
	const struct attr last[] = {ATTR_OF_INT("axis", 3)};
	const struct attr turn[] = {ATTR_OF_INTS("perm", 0, 1, 3, 2)};
	const int64_t keys = s->filters + s->size;
	value_id q = make_input(m, DIMS(batch, s->channels, s->size, 64));
	value_id all[2], x;

	for (size_t i = 0; i < 2; i++) {
		value_id past = make_input(m, DIMS(batch, kv, s->filters, 64));
		value_id now = make_input(m, DIMS(batch, kv, s->size, 64));

		all[i] = MAKE_WITH(m, CONCAT, second, past, now);
		make_output(m, all[i]);
		if (kv == s->channels)
			continue;
		x = MAKE(m, UNSQUEEZE, all[i], make_ints(m, INTS(2)));
		x = MAKE(m, EXPAND, x,
		    make_ints(m, INTS(batch, kv, s->channels / kv, keys, 64)));
		all[i] = MAKE(m, RESHAPE, x,
		    make_ints(m, INTS(batch, s->channels, keys, 64)));
	}
	x = MAKE(m, MATMUL, q, MAKE_WITH(m, TRANSPOSE, turn, all[0]));
	x = MAKE(m, MUL, x, make_scalar(m, 0.125f));
	if (s->size > 1)
		x = MAKE(m, ADD, x, make_input(m, DIMS(1, 1, s->size, keys)));
	x = MAKE_WITH(m, SOFTMAX, last, x);
	return MAKE(m, MATMUL, x, all[1]);
}

static value_id
past_1(struct maker *m, const struct shape *s)
{
	return behind_past(m, s, 1, s->channels);
}

static value_id
past_4(struct maker *m, const struct shape *s)
{
	return behind_past(m, s, 4, s->channels);
}

static value_id
grouped_1(struct maker *m, const struct shape *s)
{
	return behind_past(m, s, 1, s->channels / 7);
}

static value_id
grouped_4(struct maker *m, const struct shape *s)
{
	return behind_past(m, s, 4, s->channels / 7);
}

static const struct shape shapes[] = {
    {"ResNet", 64, 64, 56, NULL},
    {"ResNet", 128, 128, 28, NULL},
    {"ResNet", 256, 256, 14, NULL},
    {"ResNet", 512, 512, 7, NULL},
    {"VGG", 64, 64, 224, NULL},
    {"VGG", 128, 128, 112, NULL},
    {"VGG", 256, 256, 56, NULL},
    {"VGG", 512, 512, 28, NULL},
    {"VGG", 512, 512, 14, NULL},
    {"SqueezeNet", 16, 64, 55, NULL},
    {"SqueezeNet", 32, 128, 27, NULL},
    {"SqueezeNet", 64, 256, 13, NULL},
    {"Inception", 96, 128, 28, NULL},
    {"UNet", 32, 32, 256, NULL},
    {"5x5, Inception", 16, 32, 27, few_5},
    {"5x5, Inception", 32, 96, 27, few_5},
    {"5x5, Inception", 24, 64, 13, few_5},
    {"5x5, Inception", 32, 128, 13, few_5},
    {"5x5, Inception", 48, 128, 6, few_5},
    {"5x5, Inception", 48, 64, 35, few_5},
    {"5x5", 64, 64, 56, few_5},
    {"5x5, AlexNet", 96, 256, 26, halved_5},
    {"3x3, AlexNet", 384, 384, 12, halved_3},
    {"3x3, AlexNet", 384, 256, 12, halved_3},
    {"3x3 of two groups", 128, 128, 28, halved_3},
    {"3x3 of two groups", 64, 64, 56, halved_3},
    {"Gelu (tanh)", 768, 0, 16, gelu_tanh},
    {"Gelu (tanh)", 3072, 0, 8, gelu_tanh},
    {"Gelu (tanh)", 3072, 0, 16, gelu_tanh},
    {"Gelu (tanh)", 3072, 0, 4, gelu_tanh},
    {"Gelu (tanh)", 4096, 0, 1, gelu_tanh},
    {"Gelu (tanh)", 1024, 0, 8, gelu_tanh},
    {"Tanh", 256, 0, 10, tanh_of},
    {"Tanh", 256, 0, 1, tanh_of},
    {"Tanh", 3, 0, 224, tanh_of},
    {"Tanh", 768, 0, 8, tanh_of},
    {"Tanh", 64, 0, 112, tanh_of},
    {"LSTM", 80, 256, 100, lstm},
    {"LSTM", 512, 256, 100, lstm},
    {"LSTM", 128, 128, 100, lstm},
    {"LSTM", 64, 64, 200, lstm},
    {"LSTM", 40, 32, 50, lstm},
    {"LSTM", 512, 512, 50, lstm},
    {"LSTM", 257, 128, 1, lstm},
    {"LSTM", 1024, 1024, 20, lstm},
    {"LSTM", 13, 17, 31, lstm},
    {"LSTM", 300, 300, 40, lstm},
    {"GRU", 80, 256, 100, gru},
    {"GRU", 512, 256, 100, gru},
    {"GRU", 128, 128, 100, gru},
    {"GRU", 64, 64, 200, gru},
    {"GRU", 40, 32, 50, gru},
    {"GRU", 512, 512, 50, gru},
    {"GRU", 257, 128, 1, gru},
    {"GRU", 1024, 1024, 20, gru},
    {"GRU", 13, 17, 31, gru},
    {"GRU", 300, 300, 40, gru},
    {"GRU (linear)", 80, 256, 100, gru_linear},
    {"GRU (linear)", 128, 128, 100, gru_linear},
    {"GRU (linear)", 40, 64, 100, gru_linear},
    {"GRU (linear)", 512, 512, 50, gru_linear},
    {"GRU (linear)", 257, 128, 1, gru_linear},
    {"GRU (linear)", 13, 17, 31, gru_linear},
    {"1x1, ResNet", 64, 256, 56, point},
    {"1x1, ResNet", 256, 64, 56, point},
    {"1x1, ResNet", 512, 128, 28, point},
    {"1x1, ResNet", 1024, 256, 14, point},
    {"1x1, ResNet", 256, 1024, 14, point},
    {"1x1, ResNet", 2048, 512, 7, point},
    {"1x1, ResNet", 512, 2048, 7, point},
    {"1x1, MobileNet", 16, 96, 112, point},
    {"1x1, MobileNet", 144, 24, 56, point},
    {"1x1, MobileNet", 32, 192, 28, point},
    {"1x1, MobileNet", 192, 32, 28, point},
    {"1x1, MobileNet", 64, 384, 14, point},
    {"1x1, MobileNet", 576, 96, 14, point},
    {"1x1, MobileNet", 960, 160, 7, point},
    {"1x1, DenseNet", 480, 128, 28, point},
    {"1x1, DenseNet", 992, 128, 14, point},
    {"1x1 of Relu of a norm", 96, 128, 56, point_normed},
    {"1x1 of Relu of a norm", 256, 128, 56, point_normed},
    {"1x1 of Relu of a norm", 128, 128, 28, point_normed},
    {"1x1 of Relu of a norm", 480, 128, 28, point_normed},
    {"1x1 of Relu of a norm", 512, 256, 28, point_normed},
    {"1x1 of Relu of a norm", 256, 128, 14, point_normed},
    {"1x1 of Relu of a norm", 992, 128, 14, point_normed},
    {"1x1 of Relu of a norm", 1024, 512, 14, point_normed},
    {"1x1 of Relu of a norm", 512, 128, 7, point_normed},
    {"1x1 of Relu of a norm", 992, 128, 7, point_normed},
    {"1x1 of a gate", 96, 24, 56, point_gated},
    {"1x1 of a gate", 120, 40, 28, point_gated},
    {"1x1 of a gate", 480, 112, 14, point_gated},
    {"1x1 of a gate", 672, 160, 7, point_gated},
    {"1x1 of a gate", 1152, 192, 7, point_gated},
    {"4 bits", 2048, 2048, 1, four},
    {"4 bits", 2048, 5632, 1, four},
    {"4 bits", 4096, 4096, 1, four},
    {"4 bits", 256, 256, 1, four},
    {"4 bits", 2048, 2048, 4, four},
    {"4 bits", 2048, 2048, 8, four},
    {"4 bits", 5632, 2048, 8, four},
    {"4 bits", 2048, 2048, 16, four},
    {"4 bits", 2048, 2048, 64, four},
    {"4 bits", 2048, 2048, 256, four},
    {"8 bits", 2048, 2048, 1, eight},
    {"8 bits", 2048, 2048, 8, eight},
    {"8 bits", 5632, 2048, 64, eight},
    {"1x1 of YOLOX, Swish", 16, 32, 104, point_swish},
    {"1x1 of YOLOX, Swish", 32, 32, 104, point_swish},
    {"1x1 of YOLOX, Swish", 64, 64, 52, point_swish},
    {"1x1 of YOLOX, Swish", 128, 32, 52, point_swish},
    {"1x1 of YOLOX, Swish", 128, 128, 26, point_swish},
    {"1x1 of YOLOX, Swish", 256, 256, 13, point_swish},
    {"1x1 of YOLOX, Swish", 512, 256, 13, point_swish},
    {"1x1 of EfficientNet, Swish", 16, 96, 112, point_swish},
    {"1x1 of EfficientNet, Swish", 24, 144, 56, point_swish},
    {"1x1 of EfficientNet, Swish", 80, 480, 14, point_swish},
    {"3x3", 33, 1, 112, few_3},
    {"3x3", 3, 8, 112, few_3},
    {"3x3", 12, 16, 208, few_3},
    {"3x3", 32, 9, 224, few_3},
    {"3x3", 3, 32, 256, few_3},
    {"3x3", 64, 24, 28, few_3},
    {"5x5", 8, 1, 160, few_5},
    {"5x5", 8, 32, 160, few_5},
    {"7x7", 32, 1, 112, few_7},
    {"7x7", 1, 32, 160, few_7},
    {"3x39", 8, 8, 208, few_39},
    {"1x256, stride 2", 1, 1, 44098, line},
    {"1x256, stride 2", 1, 1, 5734, line},
    {"Exp", 64, 0, 56, exp_of},
    {"Exp", 256, 0, 7, exp_of},
    {"Log of a sum", 64, 0, 56, log_of},
    {"Power of a sum", 64, 0, 56, power_of},
    {"LayerNormalization", 128, 768, 1, layer_norm},
    {"LayerNormalization", 64, 768, 1, layer_norm},
    {"LayerNormalization", 197, 384, 1, layer_norm},
    {"LayerNormalization", 1500, 384, 1, layer_norm},
    {"LayerNormalization", 3136, 96, 1, layer_norm},
    {"LayerNormalization", 784, 192, 1, layer_norm},
    {"LayerNormalization", 49, 768, 1, layer_norm},
    {"LayerNormalization", 1, 768, 1, layer_norm},
    {"LayerNormalization", 31, 129, 1, layer_norm},
    {"LayerNormalization", 512, 1024, 1, layer_norm},
    {"LayerNormalization of a sum", 128, 768, 1, layer_norm_of_sum},
    {"LayerNormalization of a sum", 384, 1024, 1, layer_norm_of_sum},
    {"Softmax", 4420, 2, 1, softmax},
    {"Softmax", 1, 1000, 1, softmax},
    {"Softmax", 128, 128, 12, softmax},
    {"Softmax", 147, 49, 64, softmax},
    {"Softmax", 147, 49, 1, softmax},
    {"Softmax", 8400, 5, 1, softmax},
    {"Softmax", 3000, 10, 1, softmax},
    {"Softmax", 197, 197, 6, softmax},
    {"Softmax", 384, 384, 12, softmax},
    {"Softmax", 1, 30522, 1, softmax},
    {"Softmax", 512, 21, 1, softmax},
    {"Softmax", 1500, 16, 4, softmax},
    {"LogSoftmax", 128, 29, 1, log_softmax},
    {"LogSoftmax", 1, 1000, 1, log_softmax},
    {"LogSoftmax", 128, 1000, 1, log_softmax},
    {"LogSoftmax", 2048, 2, 1, log_softmax},
    {"Softmax of channels", 21, 0, 64, softmax_channels},
    {"Softmax of channels", 4, 0, 80, softmax_channels},
    {"Channels last", 3, 0, 224, channels_last},
    {"Channels last", 24, 0, 40, channels_last},
    {"Channels last", 85, 0, 60, channels_last},
    {"Channels last", 256, 0, 14, channels_last},
    {"Channels last", 96, 0, 56, channels_last},
    {"Heads", 12, 64, 128, heads},
    {"Heads", 3, 32, 49, heads},
    {"Heads", 6, 64, 197, heads},
    {"Every second", 3, 0, 416, every_second},
    {"Every second", 16, 0, 56, every_second},
    {"Last half", 32, 0, 56, last_half},
    {"Last half", 4420, 0, 4, last_half},
    {"Focus", 3, 0, 416, focus},
    {"Focus", 16, 0, 64, focus},
    {"Zeros around", 64, 1, 56, zeros_around},
    {"Zeros around", 3, 3, 224, zeros_around},
    {"Zeros around", 512, 1, 7, zeros_around},
    {"Reflected", 32, 1, 128, reflected},
    {"Reflected", 3, 4, 256, reflected},
    {"Joined", 4420, 2, 1, joined},
    {"Joined", 172, 36, 8, joined},
    {"Joined", 6192, 1, 1, joined},
    {"Joined", 512, 256, 1, joined},
    {"Repeated", 256, 0, 28, repeated},
    {"Repeated", 64, 0, 7, repeated},
    {"pixels, depthwise, YOLOX", 32, 3232, 104, expanded_swish},
    {"pixels, depthwise, YOLOX", 16, 1631, 104, expanded_swish},
    {"pixels, depthwise, YOLOX", 32, 3231, 52, expanded_swish},
    {"pixels, depthwise, EfficientNet", 16, 9632, 112, expanded_swish},
    {"pixels, depthwise, EfficientNet", 24, 14431, 56, expanded_swish},
    {"pixels, depthwise, EfficientNet", 24, 14452, 56, expanded_swish},
    {"pixels, depthwise, EfficientNet", 40, 24051, 28, expanded_swish},
    {"pixels, depthwise, EfficientNet", 40, 24032, 28, expanded_swish},
    {"pixels, depthwise, EfficientNet", 80, 48051, 14, expanded_swish},
    {"pixels, depthwise, MobileNetV2", 16, 9632, 112, expanded_clip},
    {"pixels, depthwise, MobileNetV2", 24, 14431, 56, expanded_clip},
    {"pixels, depthwise, MobileNetV2", 24, 14432, 56, expanded_clip},
    {"pixels, depthwise, MobileNetV2", 32, 19231, 28, expanded_clip},
    {"pixels, depthwise, MobileNetV2", 64, 38431, 14, expanded_clip},
    {"pixels, depthwise, MobileNetV3", 16, 6432, 112, expanded_relu},
    {"pixels, depthwise, MobileNetV3", 24, 7231, 56, expanded_relu},
    {"pixels, depthwise, MobileNetV3", 24, 7252, 56, expanded_relu},
    {"pixels, depthwise, MobileNetV3", 40, 12051, 28, expanded_relu},
    {"pixels, depthwise, MobileNetV3", 40, 24032, 28, expanded_hard_swish},
    {"pixels, depthwise, MobileNetV3", 80, 20031, 14, expanded_hard_swish},
    {"pixels, depthwise, MobileNetV3", 112, 67231, 14, expanded_hard_swish},
    {"pixels, depthwise, MobileNetV3", 160, 96051, 7, expanded_hard_swish},
    {"depthwise, YOLOX", 16, 32, 208, depthwise_swish},
    {"depthwise, YOLOX", 16, 31, 104, depthwise_swish},
    {"depthwise, YOLOX", 32, 31, 52, depthwise_swish},
    {"depthwise, YOLOX", 64, 31, 52, depthwise_swish},
    {"depthwise, YOLOX", 64, 31, 26, depthwise_swish},
    {"depthwise, YOLOX", 128, 31, 26, depthwise_swish},
    {"depthwise, YOLOX", 128, 31, 13, depthwise_swish},
    {"depthwise, YOLOX", 256, 31, 13, depthwise_swish},
    {"depthwise, EfficientNet", 32, 31, 112, depthwise_swish},
    {"depthwise, EfficientNet", 96, 32, 112, depthwise_swish},
    {"depthwise, EfficientNet", 144, 31, 56, depthwise_swish},
    {"depthwise, EfficientNet", 144, 52, 56, depthwise_swish},
    {"depthwise, EfficientNet", 240, 51, 28, depthwise_swish},
    {"depthwise, EfficientNet", 240, 32, 28, depthwise_swish},
    {"depthwise, EfficientNet", 480, 31, 14, depthwise_swish},
    {"depthwise, EfficientNet", 480, 51, 14, depthwise_swish},
    {"depthwise, EfficientNet", 672, 51, 14, depthwise_swish},
    {"depthwise, EfficientNet", 672, 52, 14, depthwise_swish},
    {"depthwise, EfficientNet", 1152, 51, 7, depthwise_swish},
    {"depthwise, EfficientNet", 1152, 31, 7, depthwise_swish},
    {"depthwise, MobileNetV2", 32, 31, 112, depthwise_clip},
    {"depthwise, MobileNetV2", 96, 32, 112, depthwise_clip},
    {"depthwise, MobileNetV2", 144, 31, 56, depthwise_clip},
    {"depthwise, MobileNetV2", 192, 31, 28, depthwise_clip},
    {"depthwise, MobileNetV2", 384, 31, 14, depthwise_clip},
    {"depthwise, MobileNetV2", 576, 31, 14, depthwise_clip},
    {"depthwise, MobileNetV2", 960, 31, 7, depthwise_clip},
    {"depthwise, MobileNetV3", 16, 31, 112, depthwise_relu},
    {"depthwise, MobileNetV3", 64, 32, 112, depthwise_relu},
    {"depthwise, MobileNetV3", 72, 31, 56, depthwise_relu},
    {"depthwise, MobileNetV3", 72, 52, 56, depthwise_relu},
    {"depthwise, MobileNetV3", 120, 51, 28, depthwise_relu},
    {"depthwise, MobileNetV3", 240, 32, 28, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 200, 31, 14, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 184, 31, 14, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 480, 31, 14, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 672, 31, 14, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 672, 52, 14, depthwise_hard_swish},
    {"depthwise, MobileNetV3", 960, 51, 7, depthwise_hard_swish},
    {"LSTM of bytes", 80, 256, 100, lstm_bytes},
    {"LSTM of bytes", 512, 256, 100, lstm_bytes},
    {"LSTM of bytes", 128, 128, 100, lstm_bytes},
    {"LSTM of bytes", 64, 64, 200, lstm_bytes},
    {"LSTM of bytes", 40, 32, 50, lstm_bytes},
    {"LSTM of bytes", 512, 512, 50, lstm_bytes},
    {"LSTM of bytes", 257, 128, 1, lstm_bytes},
    {"LSTM of bytes", 1024, 1024, 20, lstm_bytes},
    {"LSTM of bytes", 13, 17, 31, lstm_bytes},
    {"LSTM of bytes", 300, 300, 40, lstm_bytes},
    {"Product, BERT", 768, 768, 128, product},
    {"Product, BERT", 768, 3072, 128, product},
    {"Product, BERT", 3072, 768, 128, product},
    {"Product, DeiT", 384, 384, 197, product},
    {"Product, DeiT", 384, 1152, 197, product},
    {"Product, DeiT", 384, 1536, 197, product},
    {"Product, DeiT", 1536, 384, 197, product},
    {"Product, Swin", 96, 384, 3136, product},
    {"Product, Swin", 768, 3072, 49, product},
    {"Product, Whisper", 512, 512, 1500, product},
    {"Product, GPT-2", 768, 2304, 8, product},
    {"Product, GPT-2", 768, 3072, 1, product},
    {"Product, last of a net", 1280, 1000, 1, product},
    {"Behind a past, GPT-2", 12, 16, 1, past_1},
    {"Behind a past, GPT-2", 12, 128, 1, past_1},
    {"Behind a past, GPT-2", 12, 512, 1, past_1},
    {"Behind a past, GPT-2", 12, 1024, 1, past_1},
    {"Behind a past, GPT-2", 12, 128, 2, past_1},
    {"Behind a past, GPT-2", 12, 512, 4, past_1},
    {"Behind a past, GPT-2", 12, 128, 8, past_1},
    {"Behind a past, GPT-2", 12, 1024, 8, past_1},
    {"Behind a past, GPT-2", 12, 512, 16, past_1},
    {"Behind a past, GPT-2", 12, 512, 32, past_1},
    {"Behind a past, GPT-2, batch 4", 12, 128, 1, past_4},
    {"Behind a past, GPT-2, batch 4", 12, 1024, 1, past_4},
    {"Behind a past, GPT-2, batch 4", 12, 512, 8, past_4},
    {"Behind a past, Qwen", 14, 16, 1, grouped_1},
    {"Behind a past, Qwen", 14, 256, 1, grouped_1},
    {"Behind a past, Qwen", 14, 1024, 1, grouped_1},
    {"Behind a past, Qwen", 14, 512, 2, grouped_1},
    {"Behind a past, Qwen", 14, 512, 4, grouped_1},
    {"Behind a past, Qwen", 14, 1024, 8, grouped_1},
    {"Behind a past, Qwen", 14, 512, 16, grouped_1},
    {"Behind a past, Qwen, batch 4", 14, 256, 1, grouped_4},
    {"Behind a past, Qwen, batch 4", 14, 512, 4, grouped_4},
    {"bytes, 1x1", 16, 64, 55, bytes_1x1},
    {"bytes, 1x1", 128, 32, 27, bytes_1x1},
    {"bytes, 1x1", 24, 144, 56, bytes_1x1},
    {"bytes, 1x1", 144, 24, 56, bytes_1x1},
    {"bytes, 1x1", 512, 1000, 13, bytes_1x1},
    {"bytes, 1x1", 960, 160, 7, bytes_1x1},
    {"bytes, 1x1", 33, 67, 19, bytes_1x1},
    {"bytes, 3x3", 64, 64, 56, bytes_3x3},
    {"bytes, 3x3", 128, 128, 28, bytes_3x3},
    {"bytes, 3x3", 256, 256, 14, bytes_3x3},
    {"bytes, 3x3", 512, 512, 7, bytes_3x3},
    {"bytes, 3x3", 16, 64, 55, bytes_3x3},
    {"bytes, 3x3", 64, 256, 13, bytes_3x3},
    {"bytes, 3x3, stride 2", 3, 64, 224, bytes_3x3_by_2},
    {"bytes, 3x3, stride 2", 64, 128, 56, bytes_3x3_by_2},
    {"bytes, 3x3, stride 2", 256, 512, 14, bytes_3x3_by_2},
    {"bytes, depthwise", 32, 31, 112, bytes_channelwise},
    {"bytes, depthwise", 96, 32, 112, bytes_channelwise},
    {"bytes, depthwise", 144, 31, 56, bytes_channelwise},
    {"bytes, depthwise", 192, 32, 28, bytes_channelwise},
    {"bytes, depthwise", 384, 31, 14, bytes_channelwise},
    {"bytes, depthwise", 576, 32, 14, bytes_channelwise},
    {"bytes, depthwise", 960, 31, 7, bytes_channelwise},
    {"bytes, depthwise", 72, 52, 56, bytes_channelwise},
    {"bytes, depthwise", 120, 51, 28, bytes_channelwise},
    {"bytes, depthwise", 960, 51, 7, bytes_channelwise},
    {"bytes, product", 768, 768, 128, bytes_product},
    {"bytes, product", 768, 3072, 128, bytes_product},
    {"bytes, product", 3072, 768, 128, bytes_product},
    {"bytes, product", 384, 1536, 197, bytes_product},
    {"bytes, product", 1536, 384, 197, bytes_product},
    {"bytes, product", 512, 512, 1, bytes_product},
    {"bytes, product", 2048, 2048, 1, bytes_product},
    {"bytes, product", 768, 768, 8, bytes_product},
    {"bytes, product", 128, 512, 64, bytes_product},
    {"bytes, product", 100, 37, 33, bytes_product},
    {"bytes, matrices", 64, 197, 197, bytes_matrices},
    {"bytes, matrices", 197, 64, 197, bytes_matrices},
    {"bytes, matrices", 64, 128, 128, bytes_matrices},
    {"bytes, matrices", 128, 64, 128, bytes_matrices},
    {"bytes, matrices", 32, 49, 49, bytes_matrices},
    {"bytes, matrices", 49, 32, 49, bytes_matrices},
    {"bytes, matrices", 64, 577, 577, bytes_matrices},
    {"bytes, matrices", 577, 64, 577, bytes_matrices},
    {"bytes, matrices", 64, 50, 50, bytes_matrices},
    {"bytes, matrices", 33, 17, 31, bytes_matrices},
    {"bytes, largest", 64, 32, 111, bytes_pool},
    {"bytes, largest", 64, 32, 112, bytes_pool},
    {"bytes, largest", 128, 32, 55, bytes_pool},
    {"bytes, largest", 256, 32, 27, bytes_pool},
    {"bytes, largest", 64, 22, 224, bytes_pool},
    {"bytes, largest", 512, 22, 28, bytes_pool},
    {"bytes, largest", 24, 32, 112, bytes_pool},
    {"bytes, largest", 192, 31, 28, bytes_pool},
    {"bytes, largest", 128, 51, 20, bytes_pool},
    {"bytes, largest", 19, 32, 33, bytes_pool},
    {"bytes, Softmax", 6, 197, 197, bytes_softmax},
    {"bytes, Softmax", 12, 128, 128, bytes_softmax},
    {"bytes, Softmax", 64, 49, 49, bytes_softmax},
    {"bytes, Softmax", 12, 384, 384, bytes_softmax},
    {"bytes, Softmax", 1, 1000, 1, bytes_softmax},
    {"bytes, Softmax", 1, 21, 1024, bytes_softmax},
    {"bytes, Softmax", 6, 577, 577, bytes_softmax},
    {"bytes, Softmax", 1, 10, 100, bytes_softmax},
    {"bytes, Softmax", 12, 64, 64, bytes_softmax},
    {"bytes, Softmax", 8, 33, 31, bytes_softmax},
    {"bytes, gate", 16, 0, 112, bytes_gate},
    {"bytes, gate", 72, 0, 56, bytes_gate},
    {"bytes, gate", 240, 0, 28, bytes_gate},
    {"bytes, gate", 480, 0, 14, bytes_gate},
    {"bytes, gate", 672, 0, 14, bytes_gate},
    {"bytes, gate", 960, 0, 7, bytes_gate},
    {"bytes, gate", 1536, 0, 14, bytes_gate},
    {"bytes, gate", 200, 0, 14, bytes_gate},
    {"bytes, gate", 64, 0, 80, bytes_gate},
    {"bytes, gate", 7, 0, 5, bytes_gate},
};

#define NSHAPES (sizeof shapes / sizeof *shapes)
#define ROUNDS_MAX 200

struct entry {
	const char *kind;
	struct candidate candidate;
	struct trial trial;
	cost_ns time[ROUNDS_MAX];
};

struct field {
	struct maker maker;
	struct mix mix;
	struct candidates found;
	struct entry *entry;
	uint32_t n, rounds;
	struct arena arena;
};

/* A convolution and what follows it in most networks. */
static void
make_convolution(struct field *f, const struct shape *s)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	struct maker *m = &f->maker;
	value_id x, w, b;

	x = image(m, s);
	w = make_constant(m, DIMS(s->filters, s->channels, 3, 3), -.1f, .1f);
	b = make_constant(m, DIMS(s->filters), -1, 1);
	make_output(m, MAKE(m, RELU, MAKE_WITH(m, CONV, same, x, w, b)));
}

static void
make(struct field *f, const struct shape *s)
{
	struct maker *m = &f->maker;

	make_begin(m, &f->arena);
	if (s->function)
		make_output(m, s->function(m, s));
	else
		make_convolution(f, s);
	make_end(m);
}

static void
enter(struct field *f, const struct candidate *c)
{
	struct entry *e = &f->entry[f->n];
	struct err err = {.kind = ERR_NONE};

	e->kind = f->mix.target[c->target].kind->name;
	e->candidate = *c;
	if (trial_open(&e->trial, f->maker.graph, &f->mix, &e->candidate,
	        &f->arena, &err))
		f->n++;
}

/* Nodes one behind the other. */
static bool
is_chain(const struct candidate *c)
{
	return c->node[c->nnodes - 1] - c->node[0] + 1 == c->nnodes;
}

static bool
is_move(const struct graph *g, node_id n)
{
	const enum op op = graph_node(g, n)->op;

	return view_moves(op) || op == OP_CONCAT || op == OP_EXPAND;
}

/* A move within what libraries are compared at: they have few. */
static bool
lends(const struct graph *g, const struct candidate *c)
{
	return c->nnodes == 1 && is_move(g, c->node[0])
	    && !is_move(g, g->nnodes - 1);
}

static void
find(struct field *f, bool all)
{
	static const char *const targets[] = {
	    "dnnl", "xnnpack", "blas", "native"};
	struct err err = {.kind = ERR_NONE};

	must(mix_open(&f->mix, targets, 4, &f->arena, &err)
	        && candidates_find(
	            &f->found, f->maker.graph, &f->mix, NULL, &f->arena, &err),
	    &err);
	f->entry =
	    arena_new(&f->arena, struct entry, f->found.n + WINOGRAD_WAYS * 2);
	for (uint32_t i = 0; i < f->found.n; i++) {
		struct candidate c = f->found.candidate[i];
		const char *kind = f->mix.target[c.target].kind->name;

		if (c.nnodes != f->maker.graph->nnodes
		    && (strcmp(kind, "native") == 0 ? !lends(f->maker.graph, &c)
		                                    : !is_chain(&c)))
			continue;
		/* its convolutions take seconds */
		if (f->maker.graph->nnodes == 2 && strcmp(kind, "host") == 0)
			continue;
		enter(f, &c);
		if (!all || c.nnodes != 2 || strcmp(kind, "native") != 0
		    || f->n == 0
		    || strcmp(f->entry[f->n - 1].kind, "native") != 0)
			continue;
		f->n--;
		for (uint32_t k = 0; k < WINOGRAD_WAYS; k++) {
			c.implementation = k * WINOGRAD_PLACES;
			c.implementation_name =
			    arena_printf(&f->arena, "way %u", (unsigned)k);
			enter(f, &c);
		}
		return;
	}
}

static void
run(struct field *f)
{
	for (uint32_t r = 0; r < f->rounds; r++)
		for (uint32_t i = 0; i < f->n; i++) {
			struct entry *e = &f->entry[(i + r) % f->n];
			cost_ns began;

			trial_run(&e->trial);
			began = clock_ns();
			trial_run(&e->trial);
			e->time[r] = clock_ns() - began;
		}
}

#define NODES_MAX 32

/* The best of a kind's ways of all nodes, or the sum of the best ways of their parts,
 * perhaps with others' moves; converting between them is not counted. NULL: it has
 * none. */
static const struct entry *
best(const struct field *f, const char *kind, cost_ns *ns)
{
	const struct entry *found[NODES_MAX + 1] = {NULL};
	cost_ns cost[NODES_MAX + 1] = {0};
	const uint32_t n = f->maker.graph->nnodes;

	for (uint32_t end = 1; end <= n && end <= NODES_MAX; end++)
		for (uint32_t i = 0; i < f->n; i++) {
			struct entry *e = &f->entry[i];
			const struct candidate *c = &e->candidate;
			const uint32_t first = c->node[0];
			const cost_ns t =
			    cost[first] + cost_median(e->time, f->rounds);

			if ((strcmp(e->kind, kind) != 0
			        && !lends(f->maker.graph, c))
			    || first + c->nnodes != end
			    || (first > 0 && !found[first])
			    || (found[end] && t >= cost[end]))
				continue;
			cost[end] = t;
			found[end] = e;
		}
	*ns = cost[n];
	return found[n];
}

static void
print(const struct field *f, const struct shape *s, bool all)
{
	static const char *const kinds[] = {"dnnl", "xnnpack", "blas", "host"};
	cost_ns own, other;
	const struct entry *e = best(f, "native", &own);

	printf("| %s %d", s->of, (int)s->channels);
	if (s->filters)
		printf(" %d", (int)s->filters);
	printf(" %dx%d | %s | %.0f |", (int)s->size, (int)s->size,
	    e ? e->candidate.implementation_name : "-", (double)own / 1e3);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (best(f, kinds[k], &other))
			printf(" %.0f (%.2f) |", (double)other / 1e3,
			    (double)own / (double)other);
		else
			printf(" - |");
	printf("\n");
	for (uint32_t i = 0; all && i < f->n; i++)
		if (strcmp(f->entry[i].kind, "native") == 0)
			printf("  %s: %.0f us\n",
			    f->entry[i].candidate.implementation_name,
			    (double)cost_median(f->entry[i].time, f->rounds)
			        / 1e3);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const bool all = argc > 2 && strcmp(argv[2], "all") == 0;
	const int rounds = argc > 1 ? atoi(argv[1]) : 15;
	const size_t first = argc > 3 ? (size_t)atoi(argv[3]) : 0;

	printf(
	    "| shape | own way | us | oneDNN us (ratio) | XNNPACK | OpenBLAS "
	    "| host |\n|---|---|---|---|---|---|---|\n");
	for (size_t i = first; i < NSHAPES; i++) {
		struct field f = {.rounds = rounds < 1 ? 1
		        : rounds > ROUNDS_MAX          ? ROUNDS_MAX
		                                       : (uint32_t)rounds};

		arena_init(&f.arena);
		make(&f, &shapes[i]);
		find(&f, all);
		run(&f);
		print(&f, &shapes[i], all);
		for (uint32_t k = 0; k < f.n; k++)
			trial_close(&f.entry[k].trial);
		arena_release(&f.arena);
	}
	return 0;
}
