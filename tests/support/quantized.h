/* Values of 8 bits for tests of kinds that compute with them. */
#ifndef TESTS_SUPPORT_QUANTIZED_H
#define TESTS_SUPPORT_QUANTIZED_H

#include "tests/support/found.h"

static inline value_id
codes(const int64_t *dim)
{
	return make_uint8(&m, dim);
}

static inline value_id
of_type(value_id v, enum dtype dtype)
{
	graph_value(m.graph, v)->type.dtype = dtype;
	return v;
}

static inline enum dtype
byte_type(bool is_unsigned)
{
	return is_unsigned ? DT_UINT8 : DT_INT8;
}

static inline value_id
byte_codes(const int64_t *dim, bool is_unsigned)
{
	return is_unsigned ? codes(dim) : make_int8(&m, dim);
}

/* An input in 8 bits, zero somewhere in the middle. */
static inline value_id
quantized(const int64_t *dim, bool is_unsigned)
{
	value_id zero = byte_codes(DIMS(1), is_unsigned);

	return of_type(MAKE(&m, QUANTIZELINEAR, make_input(&m, dim),
	                   make_scalar(&m, 0.01f), zero),
	    byte_type(is_unsigned));
}

/* The same with a scale and a zero of the run; the zero is the value's
 * second neighbour. */
static inline value_id
quantized_now(const int64_t *dim, value_id *zero)
{
	value_id x = MAKE(&m, DYNAMICQUANTIZELINEAR, make_input(&m, dim));

	make_more(&m);
	*zero = of_type(make_more(&m), DT_UINT8);
	return of_type(x, DT_UINT8);
}

static inline value_id
whole_numbers(const int64_t *dim)
{
	const struct tensor *bytes =
	    graph_value(m.graph, make_int8(&m, dim))->constant;
	struct tensor *t = arena_new(&arena, struct tensor, 1);
	int32_t *to = arena_new(&arena, int32_t, bytes->count);

	for (size_t i = 0; i < bytes->count; i++)
		to[i] = ((const int8_t *)bytes->data)[i] * 4321;
	*t = tensor_view(DT_INT32, bytes->rank, bytes->dim, to);
	return graph_add_constant(
	    m.graph, arena_printf(&arena, "i%u", (unsigned)m.seed), t);
}

/* A constant byte. */
static inline value_id
byte_of(uint8_t x, bool is_unsigned)
{
	uint8_t *data = arena_alloc(&arena, 1);
	struct tensor *t = arena_new(&arena, struct tensor, 1);

	*data = x;
	*t = tensor_view(is_unsigned ? DT_UINT8 : DT_INT8, 0, NULL, data);
	return graph_add_constant(m.graph,
	    arena_printf(&arena, "b%u", (unsigned)m.graph->nvalues), t);
}

struct qconv {
	const int64_t *dim, *kernel; /* [K, C / group, ...] */
	int64_t group;
	bool is_unsigned, by_filter; /* a scale for all or for each */
	bool any_zero; /* of the weights; else the middle of their type */
	bool unsigned_weights, plain; /* plain: no padding, strides of 1 */
	bool padded; /* strides of 1 */
};

static inline value_id
qconv_weights(const struct qconv *q, value_id *zero)
{
	const bool u = q->any_zero ? !q->is_unsigned : q->unsigned_weights;

	*zero = q->any_zero ? byte_codes(DIMS(1), u) : byte_of(u ? 128 : 0, u);
	return byte_codes(q->kernel, u);
}

static inline void
make_qlinearconv(const struct qconv *q)
{
	const struct attr attr[] = {ATTR_OF_INT("group", q->group),
	    ATTR_OF_INTS("pads", 1, 0, 2, 1), ATTR_OF_INTS("strides", 2, 1),
	    ATTR_OF_INTS("dilations", 1, 2)};
	value_id y, in[10];

	in[0] = quantized(q->dim, q->is_unsigned);
	in[1] = make_scalar(&m, 0.02f);
	in[2] = byte_codes(DIMS(1), q->is_unsigned);
	in[3] = qconv_weights(q, &in[5]);
	in[4] = q->by_filter
	    ? make_constant(&m, DIMS(q->kernel[0]), 0.001f, 0.03f)
	    : make_scalar(&m, 0.004f);
	in[6] = make_scalar(&m, 0.3f);
	in[7] = byte_codes(DIMS(1), q->is_unsigned);
	in[8] = whole_numbers(DIMS(q->kernel[0]));
	in[9] = VALUE_LAST;
	y = make_node(&m, OP_QLINEARCONV, in, attr,
	    q->plain        ? 1
	        : q->padded ? 2
	                    : 4);
	make_output(&m, of_type(y, byte_type(q->is_unsigned)));
}

/* Between quantisers: a Gemm with a bias of the sums' own scale, or a MatMul with a
 * scale for each column. */
static inline void
make_byte_product(const int64_t *dim, uint32_t rank, int64_t columns,
    bool turned, bool is_unsigned)
{
	const bool is_gemm = rank == 2, u = is_unsigned;
	const int64_t depth = dim[rank - 1];
	const struct attr gemm[] = {ATTR_OF_INT("transB", turned)};
	const struct attr axis[] = {ATTR_OF_INT("axis", 1)};
	value_id x = MAKE(&m, DEQUANTIZELINEAR, quantized(dim, u),
	    make_scalar(&m, 0.02f), byte_codes(DIMS(1), u));
	value_id w = byte_codes(
	    turned ? DIMS(columns, depth) : DIMS(depth, columns), false);
	value_id y;

	w = MAKE_WITH(&m, DEQUANTIZELINEAR, axis, w,
	    is_gemm ? make_scalar(&m, 0.004f)
	            : make_constant(&m, DIMS(columns), 0.001f, 0.01f));
	y = is_gemm ? MAKE_WITH(&m, GEMM, gemm, x, w,
	        MAKE(&m, DEQUANTIZELINEAR, whole_numbers(DIMS(columns)),
	            make_scalar(&m, 0.02f * 0.004f)))
	            : MAKE(&m, MATMUL, x, w);
	y = MAKE(&m, QUANTIZELINEAR, y, make_scalar(&m, 0.3f),
	    byte_codes(DIMS(1), !u));
	make_output(&m, of_type(y, byte_type(!u)));
}

static inline void
make_qlinearmatmul(const int64_t *dim, int64_t columns, bool is_unsigned)
{
	const bool u = is_unsigned;
	const value_id y =
	    MAKE(&m, QLINEARMATMUL, quantized(dim, u), make_scalar(&m, 0.02f),
	        byte_codes(DIMS(1), u), byte_codes(DIMS(dim[1], columns), !u),
	        make_constant(&m, DIMS(columns), 0.001f, 0.01f),
	        byte_of(u ? 0 : 128, !u), make_scalar(&m, 0.3f),
	        byte_codes(DIMS(1), u));

	make_output(&m, of_type(y, byte_type(u)));
}

static inline void
make_byte_products(void)
{
	make_byte_product(DIMS(1, 1), 2, 1, false, true);
	make_byte_product(DIMS(7, 33), 2, 19, true, false);
	make_byte_product(DIMS(64, 128), 2, 96, false, true);
	make_byte_product(DIMS(2, 5, 67), 3, 33, false, true);
	make_byte_product(DIMS(1, 3, 2, 16), 4, 48, false, false);
	make_qlinearmatmul(DIMS(9, 65), 31, true);
	make_qlinearmatmul(DIMS(1, 320), 100, false);
}

/* Sums made floats, with a bias and without; a scale for all columns or for each.
 * zero: of the weights; NONE leaves it out, EACH has one of each column. */
enum weight_zero { ZERO_NONE = -129, ZERO_EACH = 256 };

static inline value_id
weight_zero(int32_t zero, int64_t columns, bool is_unsigned)
{
	return zero == ZERO_NONE ? VALUE_NONE
	    : zero == ZERO_EACH  ? byte_codes(DIMS(columns), is_unsigned)
	                         : byte_of((uint8_t)zero, is_unsigned);
}

/* Sums made floats, times the scales of both sides. */
static inline value_id
scaled_sums(value_id sums, value_id scale, value_id scales)
{
	const struct attr to[] = {ATTR_OF_INT("to", DT_FLOAT)};
	value_id y = MAKE_WITH(&m, CAST, to, of_type(sums, DT_INT32));

	return MAKE(
	    &m, MUL, of_type(y, DT_FLOAT), MAKE(&m, MUL, scale, scales));
}

static inline void
make_dynamic_product(const int64_t *dim, int64_t columns, bool biased,
    bool unsigned_weights, int32_t weights_around)
{
	const int64_t depth = dim[1];
	value_id zero, x = MAKE(&m, DYNAMICQUANTIZELINEAR, make_input(&m, dim));
	value_id scale = make_more(&m), scales, y;

	zero = of_type(make_more(&m), DT_UINT8);
	scales = biased ? make_constant(&m, DIMS(columns), 0.001f, 0.03f)
	                : make_scalar(&m, 0.004f);
	y = MAKE(&m, MATMULINTEGER, of_type(x, DT_UINT8),
	    byte_codes(DIMS(depth, columns), unsigned_weights), zero,
	    weight_zero(weights_around, columns, unsigned_weights));
	y = scaled_sums(y, scale, scales);
	if (biased)
		y = MAKE(&m, ADD, make_constant(&m, DIMS(columns), -1, 1), y);
	make_output(&m, y);
}

static inline void
make_dynamic_products(void)
{
	make_dynamic_product(DIMS(1, 1), 1, true, false, 0);
	make_dynamic_product(DIMS(7, 33), 19, true, true, 128);
	make_dynamic_product(DIMS(64, 128), 96, true, false, 0);
	make_dynamic_product(DIMS(3, 257), 130, false, false, 0);
}

/* Zeros that are not in the middle. */
static inline void
make_dynamic_products_around(void)
{
	make_dynamic_product(DIMS(5, 31), 17, false, true, ZERO_NONE);
	make_dynamic_product(DIMS(64, 128), 96, true, true, 119);
	make_dynamic_product(DIMS(9, 65), 33, true, false, -7);
	make_dynamic_product(DIMS(3, 257), 130, false, true, ZERO_EACH);
	make_dynamic_product(DIMS(2, 48), 19, false, false, ZERO_EACH);
	make_dynamic_product(DIMS(1, 1), 1, true, true, 255);
}

/* x [N, C, (H,) W], w [K, C / group, (kh,) kw]; `plain`: no padding, strides or
 * dilations. Biased ones have a scale and a bias of each filter. */
struct dynamic_conv_form {
	const int64_t *x, *w;
	int64_t group;
	int32_t zero; /* of the weights */
	bool is_line, unsigned_weights, biased, plain;
};

static inline void
make_dynamic_conv(const struct dynamic_conv_form *f)
{
	const struct attr line[] = {ATTR_OF_INT("group", f->group),
	    ATTR_OF_INTS("strides", 2), ATTR_OF_INTS("pads", 1, 2),
	    ATTR_OF_INTS("dilations", 2)};
	const struct attr plane[] = {ATTR_OF_INT("group", f->group),
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 1, 0, 2, 1),
	    ATTR_OF_INTS("dilations", 1, 2)};
	const int64_t filters = f->w[0];
	const int64_t *each =
	    f->is_line ? DIMS(filters, 1) : DIMS(1, filters, 1, 1);
	value_id x = MAKE(&m, DYNAMICQUANTIZELINEAR, make_input(&m, f->x));
	value_id scale = make_more(&m), zero = make_more(&m), y;

	y = make_node(&m, OP_CONVINTEGER,
	    (const value_id[]){of_type(x, DT_UINT8),
	        byte_codes(f->w, f->unsigned_weights), of_type(zero, DT_UINT8),
	        weight_zero(f->zero, filters, f->unsigned_weights), VALUE_LAST},
	    f->is_line ? line : plane, f->plain ? 1 : 4);
	y = scaled_sums(y, scale,
	    f->biased ? make_constant(&m, each, 0.001f, 0.03f)
	              : make_scalar(&m, 0.004f));
	if (f->biased)
		y = MAKE(&m, ADD, y, make_constant(&m, each, -1, 1));
	make_output(&m, y);
}

static inline void
make_dynamic_convs(void)
{
	const struct dynamic_conv_form form[] = {
	    {DIMS(1, 1, 1), DIMS(1, 1, 1), 1, 0, .is_line = true,
	        .plain = true},
	    {DIMS(2, 7, 33), DIMS(19, 7, 3), 1, 119, .is_line = true,
	        .unsigned_weights = true, .biased = true},
	    {DIMS(1, 32, 130), DIMS(48, 32, 3), 1, 0, .is_line = true},
	    {DIMS(1, 3, 15, 17), DIMS(16, 3, 3, 3), 1, ZERO_NONE,
	        .unsigned_weights = true},
	    {DIMS(2, 16, 9, 70), DIMS(24, 16, 3, 3), 1, ZERO_EACH,
	        .unsigned_weights = true, .biased = true},
	    {DIMS(1, 16, 9, 9), DIMS(16, 1, 3, 3), 16, -5, .biased = true},
	    {DIMS(1, 12, 8, 5), DIMS(8, 6, 3, 2), 2, 3, .biased = true},
	    {DIMS(1, 64, 7, 7), DIMS(32, 64, 1, 1), 1, 128,
	        .unsigned_weights = true, .biased = true, .plain = true},
	};

	for (size_t i = 0; i < sizeof form / sizeof *form; i++)
		make_dynamic_conv(&form[i]);
}

#endif
