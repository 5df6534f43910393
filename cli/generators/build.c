#include "cli/generators/build.h"

#include <math.h>
#include <string.h>

struct model_builder
gen_begin(struct arena *a, const char *name, bool constant)
{
	return (struct model_builder){
	    .g = graph_new(a, name),
	    .arena = a,
	    .scale_base = 1,
	    .dtype = DT_FLOAT,
	    .opset = 13,
	    .constant = constant,
	};
}

static void
append(struct model_builder *b, const value_id **list, uint32_t *n, value_id v)
{
	value_id *longer = arena_new(b->arena, value_id, *n + 1);

	if (*n)
		memcpy(longer, *list, *n * sizeof *longer);
	longer[(*n)++] = v;
	*list = longer;
}

value_id
gen_input(struct model_builder *b, const char *name, enum dtype dtype,
    uint32_t rank, const int64_t *dim)
{
	struct type type = {
	    .kind = TYPE_TENSOR,
	    .dtype = dtype,
	    .rank = rank,
	    .dim = arena_copy(b->arena, dim, rank * sizeof *dim),
	};
	value_id v = graph_add_value(b->g, name, &type);

	graph_value(b->g, v)->flags |= VALUE_INPUT;
	append(b, &b->g->input, &b->g->ninputs, v);
	return v;
}

void
gen_output(struct model_builder *b, value_id v, const char *name)
{
	struct value *value = graph_value(b->g, v);

	value->name = name;
	value->flags |= VALUE_OUTPUT;
	/* the shape is inferred by whoever reads the model */
	if (value->type.kind == TYPE_UNKNOWN)
		value->type = (struct type){
		    .kind = TYPE_TENSOR,
		    .dtype = b->dtype,
		    .rank = RANK_UNKNOWN,
		};
	append(b, &b->g->output, &b->g->noutputs, v);
}

float
gen_uniform(uint32_t index, uint32_t salt)
{
	uint32_t h = index * 2654435761u + salt * 40503u + 12345u;

	h ^= h >> 16;
	h *= 0x7feb352du;
	h ^= h >> 15;
	h *= 0x846ca68bu;
	h ^= h >> 16;
	return (float)(h >> 8) * 0x1p-23f - 1.0f;
}

static float
weight_value(float u, enum weight_role role, float bound, float base)
{
	switch (role) {
	case WEIGHT_KERNEL:
		return u * bound;
	case WEIGHT_SCALE:
		return base + 0.25f * u * base;
	case WEIGHT_VARIANCE:
		return 1.0f + 0.5f * u;
	default:
		return 0.1f * u;
	}
}

/* Inputs one output element sums over: all but the first dimension of a
 * convolution's kernel, the first of a matrix. */
static int64_t
fan_in(uint32_t rank, const int64_t *dim)
{
	int64_t n = 1;

	if (rank == 2)
		return dim[0];
	for (uint32_t i = 1; i < rank; i++)
		n *= dim[i];
	return n;
}

value_id
gen_weight(struct model_builder *b, const char *name, enum weight_role role,
    uint32_t rank, const int64_t *dim)
{
	float base =
	    role == WEIGHT_SCALE || role == WEIGHT_VARIANCE ? 1.0f : 0.01f;
	struct tensor *t = arena_new(b->arena, struct tensor, 1);
	const int64_t *shape = arena_copy(b->arena, dim, rank * sizeof *dim);
	float bound = sqrtf(6.0f / (float)fan_in(rank, dim)), *data;

	*t = tensor_fill(DT_FLOAT, rank, shape, &base);
	if (!b->constant) {
		data = arena_new(b->arena, float, t->count);
		for (size_t i = 0; i < t->count; i++)
			data[i] =
			    weight_value(gen_uniform((uint32_t)i, b->salt),
			        role, bound, b->scale_base);
		*t = tensor_view(DT_FLOAT, rank, shape, data);
	}
	b->salt++;
	return graph_add_constant(b->g, name, t);
}

value_id
gen_tensor(struct model_builder *b, const char *name, const struct tensor *t)
{
	return graph_add_constant(
	    b->g, name, arena_copy(b->arena, t, sizeof *t));
}

value_id
gen_ints(
    struct model_builder *b, const char *name, uint32_t n, const int64_t *value)
{
	struct tensor *t = arena_new(b->arena, struct tensor, 1);
	int64_t count = n;

	*t =
	    tensor_view(DT_INT64, 1, arena_copy(b->arena, &count, sizeof count),
	        arena_copy(b->arena, value, n * sizeof *value));
	return graph_add_constant(b->g, name, t);
}

value_id
gen_scalar(struct model_builder *b, const char *name, float value)
{
	struct tensor *t = arena_new(b->arena, struct tensor, 1);

	*t = tensor_fill(DT_FLOAT, 0, NULL, &value);
	return graph_add_constant(b->g, name, t);
}

value_id
gen_node(struct model_builder *b, enum op op, uint32_t ninputs,
    const value_id *input, uint32_t nattrs, const struct attr *attr)
{
	const char *type = op_get(op)->type;
	const bool own = op_find_in("", type) == op;
	const char *name = arena_printf(b->arena, "%s_%u", type, b->counter++);
	value_id *io = arena_new(b->arena, value_id, ninputs + 1);
	struct node n = {
	    .op = op,
	    .op_type = type,
	    .domain = own ? "" : "com.microsoft",
	    .opset = own ? b->opset : 1,
	    .name = name,
	    .ninputs = ninputs,
	    .noutputs = 1,
	    .input = io,
	    .output = io + ninputs,
	    .nattrs = nattrs,
	    .attr = arena_copy(b->arena, attr, nattrs * sizeof *attr),
	};

	memcpy(io, input, ninputs * sizeof *input);
	io[ninputs] =
	    graph_add_value(b->g, arena_printf(b->arena, "%s_out", name), NULL);
	graph_add_node(b->g, &n);
	return io[ninputs];
}

struct attr
gen_attr_ints(
    struct model_builder *b, const char *name, uint32_t n, const int64_t *value)
{
	return (struct attr){
	    .name = name,
	    .kind = ATTR_INTS,
	    .n = n,
	    .ints = arena_copy(b->arena, value, n * sizeof *value),
	};
}

struct attr
gen_attr_int(struct model_builder *b, const char *name, int64_t value)
{
	struct attr a = gen_attr_ints(b, name, 1, &value);

	a.kind = ATTR_INT;
	return a;
}

struct attr
gen_attr_float(struct model_builder *b, const char *name, float value)
{
	return (struct attr){
	    .name = name,
	    .kind = ATTR_FLOAT,
	    .n = 1,
	    .floats = arena_copy(b->arena, &value, sizeof value),
	};
}

/* Name of a weight of the node about to be added: "Conv_3_weight". */
const char *
gen_weight_name(struct model_builder *b, enum op op, const char *what)
{
	return arena_printf(
	    b->arena, "%s_%u_%s", op_get(op)->type, b->counter, what);
}

value_id
gen_conv(struct model_builder *b, value_id x, struct conv_shape s, bool bias)
{
	const int64_t shape[] = {s.out, s.in / s.groups, s.kernel, s.kernel};
	const int64_t kernel[] = {s.kernel, s.kernel};
	const int64_t strides[] = {s.stride, s.stride};
	const int64_t pads[] = {s.pad, s.pad, s.pad, s.pad};
	const struct attr attr[] = {
	    gen_attr_ints(b, "kernel_shape", 2, kernel),
	    gen_attr_ints(b, "strides", 2, strides),
	    gen_attr_ints(b, "pads", 4, pads),
	    gen_attr_int(b, "group", s.groups),
	};
	value_id in[3] = {x};

	in[1] = gen_weight(
	    b, gen_weight_name(b, OP_CONV, "weight"), WEIGHT_KERNEL, 4, shape);
	if (bias)
		in[2] = gen_weight(b, gen_weight_name(b, OP_CONV, "bias"),
		    WEIGHT_BIAS, 1, shape);
	return gen_node(b, OP_CONV, bias ? 3 : 2, in, 4, attr);
}

value_id
gen_batch_norm(struct model_builder *b, value_id x, int64_t channels)
{
	const struct attr attr[] = {gen_attr_float(b, "epsilon", 1e-5f)};
	static const struct {
		const char *name;
		enum weight_role role;
	} weight[] = {
	    {"scale", WEIGHT_SCALE},
	    {"bias", WEIGHT_BIAS},
	    {"mean", WEIGHT_BIAS},
	    {"variance", WEIGHT_VARIANCE},
	};
	value_id in[5] = {x};

	for (unsigned i = 0; i < 4; i++)
		in[i + 1] = gen_weight(b,
		    gen_weight_name(b, OP_BATCHNORMALIZATION, weight[i].name),
		    weight[i].role, 1, &channels);
	return gen_node(b, OP_BATCHNORMALIZATION, 5, in, 1, attr);
}

value_id
gen_relu(struct model_builder *b, value_id x)
{
	return gen_node(b, OP_RELU, 1, &x, 0, NULL);
}

value_id
gen_add(struct model_builder *b, value_id x, value_id y)
{
	const value_id in[] = {x, y};

	return gen_node(b, OP_ADD, 2, in, 0, NULL);
}

value_id
gen_max_pool(struct model_builder *b, value_id x, int64_t kernel,
    int64_t stride, int64_t pad)
{
	const int64_t kernels[] = {kernel, kernel};
	const int64_t strides[] = {stride, stride};
	const int64_t pads[] = {pad, pad, pad, pad};
	const struct attr attr[] = {
	    gen_attr_ints(b, "kernel_shape", 2, kernels),
	    gen_attr_ints(b, "strides", 2, strides),
	    gen_attr_ints(b, "pads", 4, pads),
	};

	return gen_node(b, OP_MAXPOOL, 1, &x, 3, attr);
}

value_id
gen_linear(struct model_builder *b, value_id x, int64_t in, int64_t out)
{
	const int64_t shape[] = {in, out};
	value_id io[2] = {x}, bias;

	io[1] = gen_weight(b, gen_weight_name(b, OP_MATMUL, "weight"),
	    WEIGHT_KERNEL, 2, shape);
	bias = gen_weight(
	    b, gen_weight_name(b, OP_MATMUL, "bias"), WEIGHT_BIAS, 1, &out);
	return gen_add(b, gen_node(b, OP_MATMUL, 2, io, 0, NULL), bias);
}

value_id
gen_reshape(
    struct model_builder *b, value_id x, uint32_t n, const int64_t *shape)
{
	value_id in[2] = {x};

	in[1] = gen_ints(b, gen_weight_name(b, OP_RESHAPE, "shape"), n, shape);
	return gen_node(b, OP_RESHAPE, 2, in, 0, NULL);
}
