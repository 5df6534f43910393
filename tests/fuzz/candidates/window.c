/* Makers of what slides a window: convolutions and pooling. */
#include "tests/fuzz/candidates/generate.h"

struct lists {
	int64_t kernel[3], stride[3], dilation[3], pad[6];
};

/* `wide`: padding may pass the kernel, as it may not where a window of padding
 * alone has no value. */
static int64_t
any_padding(struct generator *g, int64_t kernel, bool wide)
{
	const int64_t more = wide && one_in(g, 10) ? 4 : 0;

	return rng_below(&g->r, (uint32_t)(kernel + more));
}

static void
add_lists(struct generator *g, struct attributes *at, uint32_t n, bool dilated,
    bool wide, struct lists *l)
{
	const uint32_t most = one_in(g, 5) ? one_in(g, 5) ? 11 : 5 : 3;

	for (uint32_t i = 0; i < n; i++) {
		l->kernel[i] = upto(g, most);
		l->stride[i] = one_in(g, 2) ? 1 : upto(g, 3);
		l->dilation[i] = one_in(g, 4) && dilated ? upto(g, 3) : 1;
		l->pad[i] = any_padding(g, l->kernel[i], wide);
		l->pad[n + i] = one_in(g, 2)
		    ? l->pad[i]
		    : any_padding(g, l->kernel[i], wide);
	}
	if (!one_in(g, 3))
		add_ints(g, at, "strides", l->stride, n);
	if (dilated && one_in(g, 3))
		add_ints(g, at, "dilations", l->dilation, n);
	if (one_in(g, 6)) {
		static const char *const mode[] = {
		    "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"};

		add_text(g, at, "auto_pad", mode[rng_below(&g->r, 4)]);
	} else if (!one_in(g, 3)) {
		add_ints(g, at, "pads", l->pad, 2 * n);
	}
}

static value_id
image(struct generator *g)
{
	return take(g, one_in(g, 6) ? one_in(g, 2) ? 3 : 5 : 4);
}

/* A convolution of x: its attributes and what its weights' dimensions are. */
static void
convolution_of(
    struct generator *g, value_id x, struct attributes *at, int64_t *dim)
{
	const struct type t = *type_of(g, x);
	const uint32_t n = t.rank - 2;
	const bool depthwise = one_in(g, 5);
	int64_t group = 1, out = any_channels(g);
	struct lists l;

	if (depthwise)
		group = t.dim[1];
	else if (one_in(g, 4))
		for (group = upto(g, 8); t.dim[1] % group != 0;)
			group--;
	if (group > 1)
		out = group * (depthwise ? upto(g, 2) : upto(g, 16));
	if (!depthwise && group > 1 && t.dim[1] / group % 16 == 0)
		out = group * 16;
	add_lists(g, at, n, true, true, &l);
	if (l.kernel[0] > 3 && l.kernel[0] < 6 && t.dim[1] % 16 == 0)
		for (uint32_t i = 0; i < n; i++) /* windows of other ways */
			l.kernel[i] = t.dim[2 + i] >= 5 ? 5 : l.kernel[i];
	dim[0] = out;
	dim[1] = t.dim[1] / group;
	for (uint32_t i = 0; i < n; i++)
		dim[2 + i] = l.kernel[i];
	dim[2 + n] = 0;
	if (group > 1)
		add_int(g, at, "group", group);
	if (one_in(g, 2))
		add_ints(g, at, "kernel_shape", l.kernel, n);
}

static void
convolution(struct generator *g)
{
	struct attributes at = {.n = 0};
	value_id x = image(g), w, b;
	const uint32_t rank = type_of(g, x)->rank;
	int64_t dim[6];

	convolution_of(g, x, &at, dim);
	w = one_in(g, 12) ? new_input(g, dim, rank)
	                  : new_constant(g, dim, rank, -0.5f, 0.5f);
	b = one_in(g, 12) ? new_input(g, dim, 1)
	                  : new_constant(g, dim, 1, -0.5f, 0.5f);
	add_node(g, OP_CONV,
	    (const value_id[]){x, w, one_in(g, 2) ? VALUE_LAST : b, VALUE_LAST},
	    &at);
}

/* A convolution of integers x of zero point z to sums, made floats. */
static void
sums_of_convolution(struct generator *g, value_id x, value_id z,
    const int64_t *dim, const struct attributes *at)
{
	struct attributes to = {.n = 0};

	x = make_node(&g->m, OP_CONVINTEGER,
	    (const value_id[]){x, make_int8(&g->m, dim), z, VALUE_LAST},
	    at->item, at->n);
	add_int(g, &to, "to", DT_FLOAT);
	add_node(g, OP_CAST, (const value_id[]){x, VALUE_LAST}, &to);
}

/* The same of x quantised by its own range, times the scales of both sides. */
static void
dynamic_convolution(struct generator *g, value_id x, value_id wz,
    const int64_t *dim, const struct attributes *at)
{
	struct maker *m = &g->m;
	struct attributes to = {.n = 0};
	value_id s, z, y = MAKE(m, DYNAMICQUANTIZELINEAR, x);

	s = make_more(m);
	z = make_more(m);
	y = make_node(m, OP_CONVINTEGER,
	    (const value_id[]){y, make_int8(m, dim), z, wz, VALUE_LAST},
	    at->item, at->n);
	add_int(g, &to, "to", DT_FLOAT);
	y = make_node(
	    m, OP_CAST, (const value_id[]){y, VALUE_LAST}, to.item, to.n);
	y = NODE_OF(g, MUL, y, MAKE(m, MUL, s, make_scalar(m, 0.01f)));
	if (one_in(g, 2))
		NODE_OF(g, ADD, y,
		    new_constant(
		        g, (const int64_t[]){1, dim[0], 1, 1}, 4, -1, 1));
}

/* A convolution of integers, between a quantiser and its inverse. */
static void
integer_convolution(struct generator *g)
{
	static const int64_t scalar[] = {0};
	struct maker *m = &g->m;
	struct attributes at = {.n = 0};
	value_id x = take(g, 4), s, z, ws, wz;
	int64_t dim[6];

	if (m->opset < 10)
		return;
	convolution_of(g, x, &at, dim);
	s = make_scalar(m, 0.02f);
	z = make_int8(m, scalar);
	ws = one_in(g, 2) ? new_constant(g, dim, 1, 0.001f, 0.02f)
	                  : make_scalar(m, 0.01f);
	wz = make_int8(m, one_in(g, 2) ? scalar : (const int64_t[]){dim[0], 0});
	if (m->opset >= 11 && dim[0] % 3 == 1) { /* no number is drawn */
		dynamic_convolution(g, x, wz, dim, &at);
		return;
	}
	x = make_node(m, OP_QUANTIZELINEAR,
	    (const value_id[]){x, s, z, VALUE_LAST}, NULL, 0);
	if (dim[0] % 3 == 0) { /* the sums as they are; no number is drawn */
		sums_of_convolution(g, x, z, dim, &at);
		return;
	}
	x = make_node(m, OP_QLINEARCONV,
	    (const value_id[]){x, s, z, make_int8(m, dim), ws, wz,
	        make_scalar(m, 0.05f), z, VALUE_LAST},
	    at.item, at.n);
	NODE_OF(g, DEQUANTIZELINEAR, x, make_scalar(m, 0.05f), z);
}

static void
transposed(struct generator *g)
{
	struct attributes at = {.n = 0};
	value_id x = image(g), w;
	const struct type t = *type_of(g, x);
	const uint32_t n = t.rank - 2;
	int64_t group = 1, dim[5], more[3], bias;
	struct lists l;

	if (one_in(g, 3))
		for (group = upto(g, 8); t.dim[1] % group != 0;)
			group--;
	add_lists(g, &at, n, true, false, &l);
	dim[0] = t.dim[1];
	dim[1] = upto(g, 9);
	for (uint32_t i = 0; i < n; i++) {
		dim[2 + i] = l.kernel[i];
		more[i] = rng_below(&g->r, (uint32_t)l.stride[i]);
	}
	bias = dim[1] * group;
	if (group > 1)
		add_int(g, &at, "group", group);
	if (one_in(g, 3))
		add_ints(g, &at, "output_padding", more, n);
	if (one_in(g, 2))
		add_ints(g, &at, "kernel_shape", l.kernel, n);
	if (one_in(g, 6)) {
		for (uint32_t i = 0; i < n; i++)
			more[i] = t.dim[2 + i] * l.stride[i];
		add_ints(g, &at, "output_shape", more, n);
	}
	w = new_constant(g, dim, t.rank, -0.5f, 0.5f);
	if (one_in(g, 2))
		add_node(g, OP_CONVTRANSPOSE,
		    (const value_id[]){x, w, VALUE_LAST}, &at);
	else
		add_node(g, OP_CONVTRANSPOSE,
		    (const value_id[]){
		        x, w, new_constant(g, &bias, 1, -1, 1), VALUE_LAST},
		    &at);
}

static void
pooling(struct generator *g)
{
	struct attributes at = {.n = 0};
	value_id x = image(g);
	const uint32_t n = type_of(g, x)->rank - 2;
	const enum op op = one_in(g, 2) ? OP_MAXPOOL : OP_AVERAGEPOOL;
	struct lists l;

	add_lists(g, &at, n,
	    op == OP_MAXPOOL ? g->m.opset >= 10 : g->m.opset >= 19, false, &l);
	add_ints(g, &at, "kernel_shape", l.kernel, n);
	add_from_table(g, &at, op);
	add_node(g, op, (const value_id[]){x, VALUE_LAST}, &at);
	if (op == OP_MAXPOOL && g->m.opset >= 8 && one_in(g, 10))
		make_more(&g->m);
}

void
make_window(struct generator *g)
{
	switch (rng_below(&g->r, 11)) {
	case 0:
	case 1:
		pooling(g);
		break;
	case 2:
		transposed(g);
		break;
	case 3:
		integer_convolution(g);
		break;
	case 4:
		add_node(g,
		    one_in(g, 2) ? OP_GLOBALAVERAGEPOOL : OP_GLOBALMAXPOOL,
		    (const value_id[]){image(g), VALUE_LAST}, NULL);
		break;
	default:
		convolution(g);
	}
}
