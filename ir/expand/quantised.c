/* com.microsoft: what the ONNX Runtime quantiser writes. Each is dequantise,
 * compute, quantise, as its documentation has it. */
#include <string.h>

#include "ir/expand/writers.h"

/* Input x with its scale and zero point behind it becomes the float `name`. */
static void
dequantise(struct writer *w, const char *name, uint32_t x)
{
	say(w, "%s = DequantizeLinear(i%u, i%u, i%u)", name, (unsigned)x,
	    (unsigned)x + 1, (unsigned)x + 2);
}

/* y becomes output 0; scale and zero point are inputs s and s + 1. The type
 * without a zero point is that of input `like`. */
static void
quantise(struct writer *w, uint32_t s, uint32_t like)
{
	if (has_in(w, s + 1)) {
		say(w, "o0 = QuantizeLinear(y, i%u, i%u)", (unsigned)s,
		    (unsigned)s + 1);
		return;
	}
	say(w, "zero = CastLike(0, i%u)", (unsigned)like);
	say(w, "o0 = QuantizeLinear(y, i%u, zero)", (unsigned)s);
}

void
write_qlinear_binary(struct writer *w)
{
	dequantise(w, "a", 0);
	dequantise(w, "b", 3);
	say(w, "y = %s(a, b)", w->call->op_type + strlen("QLinear"));
	quantise(w, 6, 0);
}

void
write_qlinear_unary(struct writer *w)
{
	dequantise(w, "x", 0);
	say(w, "y = %s(x){alpha=@alpha}", w->call->op_type + strlen("QLinear"));
	quantise(w, 3, 0);
}

/* Before opset 13 everything from the axis on is one line. */
void
write_qlinear_softmax(struct writer *w)
{
	dequantise(w, "x", 0);
	if (int_of(w, "opset", 13) >= 13) {
		say(w, "y = Softmax(x){axis=@axis}");
	} else {
		say(w, "flat = Flatten(x){axis=%d}",
		    (int)int_of(w, "axis", -1));
		say(w, "soft = Softmax(flat){axis=-1}");
		say(w, "shape = Shape(x)");
		say(w, "y = Reshape(soft, shape)");
	}
	quantise(w, 3, 0);
}

/* `to`: `from`, whose channels are last or become so, where `exchanged`. */
static void
move_channels(struct writer *w, const char *from, const char *to, uint32_t rank,
    bool to_front, bool exchanged)
{
	static const char *const front[] = {
	    "[0, 2, 1]", "[0, 3, 1, 2]", "[0, 4, 1, 2, 3]"};
	static const char *const back[] = {
	    "[0, 2, 1]", "[0, 2, 3, 1]", "[0, 2, 3, 4, 1]"};

	if (!exchanged)
		say(w, "%s = Identity(%s)", to, from);
	else if (rank < 3 || rank > 5)
		refuse_form(w, "channels_last of a rank other than 3 to 5");
	else
		say(w, "%s = Transpose(%s){perm=%s}", to, from,
		    to_front ? front[rank - 3] : back[rank - 3]);
}

/* Weights are as QLinearConv of the default domain has them. */
void
write_qlinear_conv(struct writer *w)
{
	const bool last = int_of(w, "channels_last", 0) != 0;
	const uint32_t rank = rank_in(w, 3);

	move_channels(w, "i0", "x", rank, true, last);
	say(w,
	    "y = QLinearConv(x, i1, i2, i3, i4, i5, i6, i7, i8)"
	    "{auto_pad=@auto_pad, dilations=@dilations, group=@group, "
	    "kernel_shape=@kernel_shape, pads=@pads, strides=@strides}");
	move_channels(w, "y", "o0", rank, false, last);
}

/* Of 8 bits, channels last. */
void
write_nhwc_pool(struct writer *w)
{
	const uint32_t rank = rank_in(w, 0);

	move_channels(w, "i0", "x", rank, true, true);
	say(w,
	    "y = MaxPool(x){auto_pad=@auto_pad, ceil_mode=@ceil_mode, "
	    "dilations=@dilations, kernel_shape=@kernel_shape, pads=@pads, "
	    "strides=@strides}");
	move_channels(w, "y", "o0", rank, false, true);
}

void
write_qlinear_pool(struct writer *w)
{
	const bool last = int_of(w, "channels_last", 0) != 0;

	dequantise(w, "x", 0);
	move_channels(w, "x", "z", rank_in(w, 0), true, last);
	if (strcmp(w->call->op_type, "QLinearAveragePool") == 0)
		say(w,
		    "p = AveragePool(z){auto_pad=@auto_pad, "
		    "ceil_mode=@ceil_mode, "
		    "count_include_pad=@count_include_pad, "
		    "kernel_shape=@kernel_shape, pads=@pads, "
		    "strides=@strides}");
	else
		say(w, "p = GlobalAveragePool(z)");
	move_channels(w, "p", "y", rank_in(w, 0), false, last);
	quantise(w, 3, 0);
}

void
write_qlinear_concat(struct writer *w)
{
	const uint32_t n = (w->call->ninputs - 2) / 3;

	if (w->call->ninputs < 5) {
		refuse_form(w, "no inputs");
		return;
	}
	dequantise(w, "all0", 2);
	for (uint32_t i = 1; i < n; i++) {
		say(w, "x%u = DequantizeLinear(i%u, i%u, i%u)", (unsigned)i,
		    (unsigned)(2 + 3 * i), (unsigned)(3 + 3 * i),
		    (unsigned)(4 + 3 * i));
		say(w, "all%u = Concat(all%u, x%u){axis=%d}", (unsigned)i,
		    (unsigned)i - 1, (unsigned)i, (int)int_of(w, "axis", 1));
	}
	say(w, "y = Identity(all%u)", (unsigned)n - 1);
	quantise(w, 0, 2);
}

void
write_qlinear_where(struct writer *w)
{
	dequantise(w, "a", 1);
	dequantise(w, "b", 4);
	say(w, "y = Where(i0, a, b)");
	quantise(w, 7, 1);
}

void
write_quantize(struct writer *w)
{
	say(w, "o0 = %s(i0, i1, i2){axis=@axis}", w->call->op_type);
}

/* The bias is quantised with the product of the scales. */
void
write_qgemm(struct writer *w)
{
	const bool transposed = int_of(w, "transB", 0) != 0;

	dequantise(w, "a", 0);
	say(w, "b = DequantizeLinear(i3, i4, i5){axis=%d}", transposed ? 0 : 1);
	say(w, "p = Gemm(a, b){alpha=@alpha, transA=@transA, transB=@transB}");
	if (has_in(w, 6)) {
		say(w, "scales = Mul(i1, i4)");
		say(w, "unit = Mul(scales, %#.9g)", real_of(w, "alpha", 1));
		say(w, "cf = CastLike(i6, scales)");
		say(w, "c = Mul(cf, unit)");
		say(w, "y = Add(p, c)");
	} else {
		say(w, "y = Identity(p)");
	}
	if (has_in(w, 7))
		quantise(w, 7, 0);
	else
		say(w, "o0 = Identity(y)");
}

/* Integers a, b with zero points az, bz (or _), scales as, bs, a bias (or _)
 * become output 0. */
struct integer_product {
	const char *a, *b, *az, *bz, *as, *bs;
	uint32_t bias; /* an input, given or not */
};

static void
multiply(struct writer *w, const struct integer_product *p)
{
	say(w, "whole = MatMulInteger(%s, %s, %s, %s)", p->a, p->b, p->az,
	    p->bz);
	say(w, "unit = Mul(%s, %s)", p->as, p->bs);
	say(w, "real = CastLike(whole, unit)");
	if (has_in(w, p->bias)) {
		say(w, "product = Mul(real, unit)");
		say(w, "o0 = Add(product, i%u)", (unsigned)p->bias);
	} else {
		say(w, "o0 = Mul(real, unit)");
	}
}

void
write_dynamic_matmul(struct writer *w)
{
	static const struct integer_product p = {
	    "q", "i1", "z", "i3", "s", "i2", 4};

	say(w, "q, s, z = DynamicQuantizeLinear(i0)");
	multiply(w, &p);
}

void
write_matmul_to_float(struct writer *w)
{
	static const struct integer_product p = {
	    "i0", "i1", "i4", "i5", "i2", "i3", 6};

	multiply(w, &p);
}
