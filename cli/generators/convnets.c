/* Convolutional architectures. */
#include "cli/generators/build.h"
#include "cli/generators/generators.h"

static value_id
image(struct model_builder *b, int64_t side)
{
	const int64_t dim[] = {1, 3, side, side};

	return gen_input(b, "image", DT_FLOAT, 4, dim);
}

/* Global average pooling, flattening, one fully connected layer. */
static struct graph *
classify(struct model_builder *b, value_id x, int64_t channels, int64_t classes)
{
	const int64_t weight[] = {classes, channels};
	const struct attr flatten[] = {gen_attr_int(b, "axis", 1)};
	const struct attr gemm[] = {gen_attr_int(b, "transB", 1)};
	const struct attr softmax[] = {gen_attr_int(b, "axis", 1)};
	value_id in[3];

	x = gen_node(b, OP_GLOBALAVERAGEPOOL, 1, &x, 0, NULL);
	in[0] = gen_node(b, OP_FLATTEN, 1, &x, 1, flatten);
	in[1] = gen_weight(b, "classifier_weight", WEIGHT_KERNEL, 2, weight);
	in[2] = gen_weight(b, "classifier_bias", WEIGHT_BIAS, 1, weight);
	x = gen_node(b, OP_GEMM, 3, in, 1, gemm);
	x = gen_node(b, OP_SOFTMAX, 1, &x, 1, softmax);
	gen_output(b, x, "probabilities");
	return b->g;
}

static value_id
conv_norm(struct model_builder *b, value_id x, struct conv_shape s)
{
	return gen_batch_norm(b, gen_conv(b, x, s, false), s.out);
}

/* 1x1 down, 3x3, 1x1 up, plus the input (projected when shapes change). */
static value_id
bottleneck(struct model_builder *b, value_id x, int64_t in, int64_t mid,
    int64_t stride)
{
	int64_t out = 4 * mid;
	value_id y, skip = x;

	y = gen_relu(
	    b, conv_norm(b, x, (struct conv_shape){in, mid, 1, 1, 0, 1}));
	y = gen_relu(
	    b, conv_norm(b, y, (struct conv_shape){mid, mid, 3, stride, 1, 1}));
	y = conv_norm(b, y, (struct conv_shape){mid, out, 1, 1, 0, 1});
	if (in != out || stride != 1)
		skip = conv_norm(
		    b, x, (struct conv_shape){in, out, 1, stride, 0, 1});
	return gen_relu(b, gen_add(b, y, skip));
}

struct graph *
make_resnet50(struct arena *a, bool constant)
{
	static const struct {
		int64_t mid;
		unsigned blocks;
	} stage[] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};
	struct model_builder b = gen_begin(a, "resnet50", constant);
	value_id x = image(&b, 224);
	int64_t channels = 64;

	b.scale_base = 0.5f;
	x = gen_relu(
	    &b, conv_norm(&b, x, (struct conv_shape){3, 64, 7, 2, 3, 1}));
	x = gen_max_pool(&b, x, 3, 2, 1);
	for (unsigned s = 0; s < 4; s++)
		for (unsigned i = 0; i < stage[s].blocks; i++) {
			x = bottleneck(&b, x, channels, stage[s].mid,
			    s > 0 && i == 0 ? 2 : 1);
			channels = 4 * stage[s].mid;
		}
	return classify(&b, x, channels, 1000);
}

/* Squeeze to `squeeze` channels, expand by 1x1 and 3x3 side by side. */
static value_id
fire(struct model_builder *b, value_id x, int64_t in, int64_t squeeze,
    int64_t expand)
{
	const struct attr axis[] = {gen_attr_int(b, "axis", 1)};
	value_id y[2];

	x = gen_relu(b,
	    gen_conv(b, x, (struct conv_shape){in, squeeze, 1, 1, 0, 1}, true));
	y[0] = gen_relu(b,
	    gen_conv(
	        b, x, (struct conv_shape){squeeze, expand, 1, 1, 0, 1}, true));
	y[1] = gen_relu(b,
	    gen_conv(
	        b, x, (struct conv_shape){squeeze, expand, 3, 1, 1, 1}, true));
	return gen_node(b, OP_CONCAT, 2, y, 1, axis);
}

struct graph *
make_squeezenet(struct arena *a, bool constant)
{
	static const struct {
		int64_t squeeze, expand;
		bool pool; /* before it */
	} module[] = {{16, 64, true}, {16, 64, false}, {32, 128, true},
	    {32, 128, false}, {48, 192, true}, {48, 192, false},
	    {64, 256, false}, {64, 256, false}};
	struct model_builder b = gen_begin(a, "squeezenet", constant);
	value_id x = image(&b, 224);
	int64_t channels = 64;

	x = gen_relu(
	    &b, gen_conv(&b, x, (struct conv_shape){3, 64, 3, 2, 0, 1}, true));
	for (unsigned i = 0; i < sizeof module / sizeof module[0]; i++) {
		if (module[i].pool)
			x = gen_max_pool(&b, x, 3, 2, 0);
		x = fire(&b, x, channels, module[i].squeeze, module[i].expand);
		channels = 2 * module[i].expand;
	}
	x = gen_relu(&b,
	    gen_conv(
	        &b, x, (struct conv_shape){channels, 1000, 1, 1, 0, 1}, true));
	x = gen_node(&b, OP_GLOBALAVERAGEPOOL, 1, &x, 0, NULL);
	x = gen_reshape(&b, x, 2, (const int64_t[]){1, 1000});
	x = gen_node(&b, OP_SOFTMAX, 1, &x, 0, NULL);
	gen_output(&b, x, "probabilities");
	return b.g;
}

static value_id
relu6(struct model_builder *b, value_id x)
{
	value_id in[3] = {x};

	in[1] = gen_scalar(b, arena_printf(b->arena, "low_%u", b->counter), 0);
	in[2] = gen_scalar(b, arena_printf(b->arena, "high_%u", b->counter), 6);
	return gen_node(b, OP_CLIP, 3, in, 0, NULL);
}

/* Expand, depthwise 3x3, project; the input is added when shapes agree. */
static value_id
inverted_residual(struct model_builder *b, value_id x, int64_t in, int64_t out,
    int64_t expand, int64_t stride)
{
	int64_t mid = in * expand;
	value_id y = x;

	if (expand != 1)
		y = relu6(b,
		    conv_norm(b, y, (struct conv_shape){in, mid, 1, 1, 0, 1}));
	y = relu6(b,
	    conv_norm(b, y, (struct conv_shape){mid, mid, 3, stride, 1, mid}));
	y = conv_norm(b, y, (struct conv_shape){mid, out, 1, 1, 0, 1});
	return in == out && stride == 1 ? gen_add(b, x, y) : y;
}

struct graph *
make_mobilenetv2(struct arena *a, bool constant)
{
	static const struct {
		int64_t expand, out;
		unsigned blocks;
		int64_t stride;
	} stage[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2},
	    {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
	struct model_builder b = gen_begin(a, "mobilenetv2", constant);
	value_id x = image(&b, 224);
	int64_t channels = 32;

	x = relu6(&b, conv_norm(&b, x, (struct conv_shape){3, 32, 3, 2, 1, 1}));
	for (unsigned s = 0; s < sizeof stage / sizeof stage[0]; s++)
		for (unsigned i = 0; i < stage[s].blocks; i++) {
			x = inverted_residual(&b, x, channels, stage[s].out,
			    stage[s].expand, i == 0 ? stage[s].stride : 1);
			channels = stage[s].out;
		}
	x = relu6(&b,
	    conv_norm(&b, x, (struct conv_shape){channels, 1280, 1, 1, 0, 1}));
	return classify(&b, x, 1280, 1000);
}

struct graph *
make_tiny(struct arena *a, bool constant)
{
	struct model_builder b = gen_begin(a, "tiny", constant);
	value_id x = image(&b, 32);

	x = gen_relu(
	    &b, conv_norm(&b, x, (struct conv_shape){3, 16, 3, 1, 1, 1}));
	x = gen_max_pool(&b, x, 2, 2, 0);
	x = bottleneck(&b, x, 16, 8, 1);
	x = bottleneck(&b, x, 32, 8, 1);
	return classify(&b, x, 32, 10);
}
