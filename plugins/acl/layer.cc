#include "plugins/acl/layer.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEFullyConnectedLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPoolingLayer.h>
#include <arm_compute/runtime/NEON/functions/NESoftmaxLayer.h>

#include "plugins/acl/region.hh"

using namespace arm_compute;
using bound = ActivationLayerInfo::ActivationFunction;

// ---- tensors ----

// The library counts dimensions from the innermost, in the same memory.
static void
describe(Tensor &t, const std::vector<int64_t> &dim)
{
	TensorShape shape;

	for (size_t i = 0; i < dim.size(); i++)
		shape.set(i, static_cast<size_t>(dim[dim.size() - 1 - i]),
		    false);
	TensorInfo info(shape, 1, DataType::F32);
	info.set_data_layout(DataLayout::NCHW);
	t.allocator()->init(info);
}

static void
fill(Tensor &t, const std::vector<float> &from)
{
	if (!t.info()->padding().empty())
		refuse("the library wants room around its weights");
	t.allocator()->allocate();
	memcpy(t.buffer(), from.data(), from.size() * sizeof(float));
}

static void
need(const Status &s)
{
	if (!s)
		refuse("Arm Compute Library: " + s.error_description());
}

static const ITensor *
bias_of(const layer &l)
{
	return l.has_bias ? &l.bias : nullptr;
}

static const ITensorInfo *
bias_info(const layer &l)
{
	return l.has_bias ? l.bias.info() : nullptr;
}

static void
weigh(layer &l, const constant &weights, const std::vector<float> &bias)
{
	describe(l.weights, weights.dim);
	l.has_weights = true;
	l.has_bias = !bias.empty();
	if (l.has_bias)
		describe(l.bias, {static_cast<int64_t>(bias.size())});
}

// ---- what goes with an operator ----

static float
bound_of(const step &s, size_t input, const char *name, float otherwise)
{
	if (s.has(input) && s.constants.at(input).at.size() == 1)
		return s.constants.at(input).at[0];
	return s.real(name, otherwise);
}

static ActivationLayerInfo
activation_of(const step &s)
{
	const float none = std::numeric_limits<float>::infinity();

	if (s.type == "Relu")
		return ActivationLayerInfo(bound::RELU);
	const float low = bound_of(s, 1, "min", -none);
	const float high = bound_of(s, 2, "max", none);
	if (!std::isfinite(low) || low > high)
		refuse("Clip has no lower bound, or none below the upper one");
	if (!std::isfinite(high) || high == std::numeric_limits<float>::max()) {
		if (low != 0)
			refuse("Clip has a lower bound that is not 0 and no upper one");
		return ActivationLayerInfo(bound::RELU);
	}
	return ActivationLayerInfo(bound::LU_BOUNDED_RELU, high, low);
}

// A normalisation goes into the weights before it, channel by channel.
static void
normalise(const step &s, constant &weights, std::vector<float> &bias)
{
	const std::vector<float> &scale = s.constants.at(1).at;
	const size_t n = scale.size(), each = weights.at.size() / n;
	const double epsilon = double(s.real("epsilon", 1e-5f));
	const auto at = [&](size_t input, size_t c) {
		return double(s.constants.at(input).at.at(c));
	};

	if (static_cast<int64_t>(n) != weights.dim[0]
	    || s.integer("training_mode", 0) != 0)
		refuse("BatchNormalization is not one of channels, or is trained");
	bias.resize(n, 0);
	for (size_t c = 0; c < n; c++) {
		const double by = at(1, c) / std::sqrt(at(4, c) + epsilon);

		for (size_t i = c * each; i < (c + 1) * each; i++)
			weights.at[i] = float(double(weights.at[i]) * by);
		bias[c] = float((double(bias[c]) - at(3, c)) * by + at(2, c));
	}
}

// ---- windows ----

struct window {
	unsigned stride[2], before[2], after[2];
};

static unsigned
count(int64_t n, const char *what)
{
	if (n < 0 || n > std::numeric_limits<int32_t>::max())
		refuse(std::string(what) + " is negative or too large");
	return static_cast<unsigned>(n);
}

// Padding as it is given, or as the size of the output says it.
static window
window_of(const step &s, const region &r, const int64_t kernel[2])
{
	window w;

	for (size_t i = 0; i < 2; i++) {
		const int64_t stride = s.side("strides", i, 1);
		const int64_t reach =
		    (kernel[i] - 1) * s.side("dilations", i, 1) + 1;
		int64_t before = s.side("pads", i, 0);
		int64_t after = s.side("pads", i + 2, 0);

		if (s.auto_pad == "SAME_UPPER" || s.auto_pad == "SAME_LOWER") {
			const int64_t all = std::max<int64_t>(
			    (r.out[i + 2] - 1) * stride + reach - r.in[i + 2],
			    0);

			before = s.auto_pad == "SAME_UPPER" ? all / 2
			                                    : all - all / 2;
			after = all - before;
		}
		if ((r.in[i + 2] + before + after - reach) / stride + 1
		    != r.out[i + 2])
			refuse("its size is rounded up");
		w.stride[i] = count(stride, "a stride");
		w.before[i] = count(before, "padding");
		w.after[i] = count(after, "padding");
	}
	return w;
}

static PadStrideInfo
strides_of(const window &w)
{
	return PadStrideInfo(w.stride[1], w.stride[0], w.before[1], w.after[1],
	    w.before[0], w.after[0], DimensionRoundingType::FLOOR);
}

// ---- operators ----

static void
make_depthwise(layer &l, const step &s, const region &r,
    const PadStrideInfo &sides, const ActivationLayerInfo &act)
{
	const Size2D dilation(count(s.side("dilations", 1, 1), "a dilation"),
	    count(s.side("dilations", 0, 1), "a dilation"));
	const unsigned each = static_cast<unsigned>(r.out[1] / r.in[1]);
	auto f = std::make_unique<NEDepthwiseConvolutionLayer>();

	need(NEDepthwiseConvolutionLayer::validate(l.in.info(), l.weights.info(),
	    bias_info(l), l.out.info(), sides, each, act, dilation));
	f->configure(&l.in, &l.weights, bias_of(l), &l.out, sides, each, act,
	    dilation);
	l.function = std::move(f);
}

static void
make_dense_convolution(layer &l, const step &s, const PadStrideInfo &sides,
    const ActivationLayerInfo &act)
{
	const Size2D dilation(count(s.side("dilations", 1, 1), "a dilation"),
	    count(s.side("dilations", 0, 1), "a dilation"));
	auto f = std::make_unique<NEConvolutionLayer>();

	need(NEConvolutionLayer::validate(l.in.info(), l.weights.info(),
	    bias_info(l), l.out.info(), sides, WeightsInfo(), dilation, act));
	f->configure(&l.in, &l.weights, bias_of(l), &l.out, sides, WeightsInfo(),
	    dilation, act);
	l.function = std::move(f);
}

static void
make_convolution(layer &l, const region &r)
{
	const step &s = r.steps[0];
	constant weights = s.constants.at(1);
	std::vector<float> bias;
	ActivationLayerInfo act;
	const int64_t groups = s.integer("group", 1);

	if (s.has(2))
		bias = s.constants.at(2).at;
	for (size_t i = 1; i < r.steps.size(); i++)
		if (r.steps[i].type == "BatchNormalization")
			normalise(r.steps[i], weights, bias);
		else
			act = activation_of(r.steps[i]);
	const int64_t kernel[2] = {weights.dim[2], weights.dim[3]};
	const PadStrideInfo sides = strides_of(window_of(s, r, kernel));
	if (groups > 1 && groups == r.in[1])
		weights.dim = {1, weights.dim[0], weights.dim[2], weights.dim[3]};
	else if (groups != 1)
		refuse("group is " + std::to_string(groups)
		    + ", not 1 or the number of channels");
	weigh(l, weights, bias);
	if (groups > 1)
		make_depthwise(l, s, r, sides, act);
	else
		make_dense_convolution(l, s, sides, act);
	fill(l.weights, weights.at);
	if (l.has_bias)
		fill(l.bias, bias);
}

// As rows of weights, one for each number that is made: [made][read].
static constant
rows_of(const step &s)
{
	const constant &given = s.constants.at(1);
	const bool transposed = s.integer("transB", 0) != 0;
	const int64_t read = given.dim[transposed ? 1 : 0];
	const int64_t made = given.dim[transposed ? 0 : 1];
	const float alpha = s.real("alpha", 1);
	constant c = {{made, read}, std::vector<float>(given.at.size())};

	for (int64_t i = 0; i < made; i++)
		for (int64_t k = 0; k < read; k++)
			c.at[static_cast<size_t>(i * read + k)] = alpha
			    * given.at[static_cast<size_t>(
			        transposed ? i * read + k : k * made + i)];
	return c;
}

// What is added to each row: of one number for all, or one for each.
static void
add_row(std::vector<float> &bias, const constant &c, float by, size_t made)
{
	if (c.at.size() != made && c.at.size() != 1)
		refuse("what is added is not one row");
	if (c.at.size() == made && made > 1 && c.dim.back() == 1)
		refuse("what is added is a column");
	bias.resize(made, 0);
	for (size_t i = 0; i < made; i++)
		bias[i] += by * c.at[c.at.size() == 1 ? 0 : i];
}

static const constant &
only_constant(const step &s)
{
	if (s.constants.size() != 1)
		refuse(s.type + " has not one constant");
	return s.constants.begin()->second;
}

static void
make_product(layer &l, const region &r)
{
	const step &s = r.steps[0];
	std::vector<float> bias;
	FullyConnectedLayerInfo how;

	if (s.integer("transA", 0) != 0 || s.constants.at(1).dim.size() != 2)
		refuse("transA, or weights that are no matrix");
	const constant weights = rows_of(s);
	const int64_t made = weights.dim[0], read = weights.dim[1];
	if (s.has(2))
		add_row(bias, s.constants.at(2), s.real("beta", 1),
		    static_cast<size_t>(made));
	for (size_t i = 1; i < r.steps.size(); i++)
		if (r.steps[i].type == "Add")
			add_row(bias, only_constant(r.steps[i]), 1,
			    static_cast<size_t>(made));
		else
			how.activation_info = activation_of(r.steps[i]);
	int64_t rows = 1;
	for (size_t i = 0; i + 1 < r.in.size(); i++)
		rows *= r.in[i];
	describe(l.in, {rows, read});
	describe(l.out, {rows, made});
	weigh(l, weights, bias);
	auto f = std::make_unique<NEFullyConnectedLayer>();
	need(NEFullyConnectedLayer::validate(l.in.info(), l.weights.info(),
	    bias_info(l), l.out.info(), how));
	f->configure(&l.in, &l.weights, bias_of(l), &l.out, how);
	l.function = std::move(f);
	fill(l.weights, weights.at);
	if (l.has_bias)
		fill(l.bias, bias);
}

static PoolingLayerInfo
pooling_of(const region &r)
{
	const step &s = r.steps[0];
	const PoolingType type =
	    s.type == "MaxPool" ? PoolingType::MAX : PoolingType::AVG;

	if (s.type == "GlobalAveragePool")
		return PoolingLayerInfo(type, DataLayout::NCHW);
	const int64_t kernel[2] = {
	    s.side("kernel_shape", 0, 1), s.side("kernel_shape", 1, 1)};
	if (s.side("dilations", 0, 1) != 1 || s.side("dilations", 1, 1) != 1)
		refuse("dilations are not 1");
	return PoolingLayerInfo(type,
	    Size2D(count(kernel[1], "a kernel"), count(kernel[0], "a kernel")),
	    DataLayout::NCHW, strides_of(window_of(s, r, kernel)),
	    s.integer("count_include_pad", 0) == 0);
}

static void
make_pooling(layer &l, const region &r)
{
	const PoolingLayerInfo how = pooling_of(r);
	auto f = std::make_unique<NEPoolingLayer>();

	need(NEPoolingLayer::validate(l.in.info(), l.out.info(), how));
	f->configure(&l.in, &l.out, how);
	l.function = std::move(f);
}

// Rows along the last dimension, or before opset 13 from `axis` on.
static void
make_distribution(layer &l, const region &r)
{
	const int64_t rank = static_cast<int64_t>(r.in.size());
	int64_t axis = r.steps[0].integer("axis", r.opset < 13 ? 1 : -1);
	int64_t rows = 1, each = 1;

	axis += axis < 0 ? rank : 0;
	if (r.opset >= 13 && axis + 1 != rank)
		refuse("axis is not the last dimension");
	for (int64_t i = 0; i < rank; i++)
		(i < axis ? rows : each) *= r.in[static_cast<size_t>(i)];
	describe(l.in, {rows, each});
	describe(l.out, {rows, each});
	auto f = std::make_unique<NESoftmaxLayer>();
	need(NESoftmaxLayer::validate(l.in.info(), l.out.info()));
	f->configure(&l.in, &l.out);
	l.function = std::move(f);
}

// ---- a layer ----

std::unique_ptr<layer>
make_layer(const region &r)
{
	static const struct {
		const char *type;
		void (*make)(layer &l, const region &r);
		size_t rank; // of its input; 0: any
	} operators[] = {
	    {"Conv", make_convolution, 4},
	    {"Gemm", make_product, 2},
	    {"MatMul", make_product, 0},
	    {"MaxPool", make_pooling, 4},
	    {"AveragePool", make_pooling, 4},
	    {"GlobalAveragePool", make_pooling, 4},
	    {"Softmax", make_distribution, 0},
	};
	auto l = std::make_unique<layer>();

	describe(l->in, r.in);
	describe(l->out, r.out);
	for (const auto &o : operators) {
		if (r.steps[0].type != o.type)
			continue;
		if (o.rank != 0 && r.in.size() != o.rank)
			refuse("rank is " + std::to_string(r.in.size())
			    + ", not " + std::to_string(o.rank));
		o.make(*l, r);
		if (!l->in.info()->padding().empty()
		    || !l->out.info()->padding().empty())
			refuse("the library wants room around its tensors");
		l->prepare();
		return l;
	}
	refuse(r.steps[0].type + " is none of ours");
}

static void
free_unused(Tensor &t, bool there)
{
	if (there && !t.is_used())
		t.allocator()->free();
}

void
layer::prepare()
{
	function->prepare();
	free_unused(weights, has_weights);
	free_unused(bias, has_bias);
}

void
layer::run(const void *from, void *to)
{
	if (in.buffer() != from)
		need(in.allocator()->import_memory(const_cast<void *>(from)));
	if (out.buffer() != to)
		need(out.allocator()->import_memory(to));
	function->run();
}
