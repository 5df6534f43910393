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
		    && (strcmp(kind, "native") == 0 || !is_chain(&c)))
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

/* The best of a kind's ways of all nodes, or the sum of the best ways of their
 * parts, moves between them not counted; NULL: it has none. */
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

			if (strcmp(e->kind, kind) != 0
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
