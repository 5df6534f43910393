/* com.microsoft: what the ONNX Runtime optimiser fuses. */
#include <stdio.h>
#include <string.h>

#include "ir/expand/writers.h"

void
write_gelu(struct writer *w)
{
	const char *type = w->call->op_type;
	const char *x = "i0";

	if (has_in(w, 1)) {
		say(w, "x = Add(i0, i1)");
		x = "x";
	}
	if (strcmp(type, "QuickGelu") == 0)
		say(w, "o0 = Swish(%s){alpha=%#.9g}", x,
		    real_of(w, "alpha", 1.702));
	else if (strcmp(type, "FastGelu") == 0)
		say(w, "o0 = Gelu(%s){approximate=\"tanh\"}", x);
	else
		say(w, "o0 = Gelu(%s)", x);
}

void
write_split_gelu(struct writer *w)
{
	say(w, "x = Add(i0, i1)");
	say(w, "left, right = Split(x){axis=-1, num_outputs=2}");
	say(w, "gate = Gelu(right)");
	say(w, "o0 = Mul(left, gate)");
}

void
write_bias_add(struct writer *w)
{
	say(w, "x = Add(i0, i1)");
	say(w, "o0 = Add(x, i2)");
}

/* The named activation of x as output 0. */
static void
activate(struct writer *w)
{
	const Onnx__AttributeProto *p = attr_of(w, "activation_params");
	const double a = p && p->n_floats > 0
	    ? (double)p->floats[0]
	    : real_of(w, "activation_alpha", 0);
	const double b = p && p->n_floats > 1
	    ? (double)p->floats[1]
	    : real_of(w, "activation_beta", 0);

	if (!attr_of(w, "activation"))
		say(w, "o0 = Identity(x)");
	else if (text_is(w, "activation", "Relu"))
		say(w, "o0 = Relu(x)");
	else if (text_is(w, "activation", "Tanh"))
		say(w, "o0 = Tanh(x)");
	else if (text_is(w, "activation", "Sigmoid"))
		say(w, "o0 = Sigmoid(x)");
	else if (text_is(w, "activation", "LeakyRelu"))
		say(w, "o0 = LeakyRelu(x){alpha=%#.9g}", a);
	else if (text_is(w, "activation", "HardSigmoid"))
		say(w, "o0 = HardSigmoid(x){alpha=%#.9g, beta=%#.9g}", a, b);
	else if (text_is(w, "activation", "Clip"))
		say(w, "o0 = Clip(x, %#.9g~x, %#.9g~x)", a, b);
	else
		refuse_form(w, "this activation");
}

void
write_fused_conv(struct writer *w)
{
	say(w,
	    "c = Conv(i0, i1, i2){auto_pad=@auto_pad, dilations=@dilations, "
	    "group=@group, kernel_shape=@kernel_shape, pads=@pads, "
	    "strides=@strides}");
	if (has_in(w, 3))
		say(w, "x = Add(c, i3)");
	else
		say(w, "x = Identity(c)");
	activate(w);
}

void
write_fused_gemm(struct writer *w)
{
	say(w,
	    "x = Gemm(i0, i1, i2){alpha=@alpha, beta=@beta, transA=@transA, "
	    "transB=@transB}");
	activate(w);
}

/* Images are NHWC, weights as Conv has them. */
void
write_nhwc_conv(struct writer *w)
{
	if (rank_in(w, 1) != 4)
		refuse_form(w, "weights of a rank other than 4");
	say(w, "x = Transpose(i0){perm=[0, 3, 1, 2]}");
	say(w,
	    "y = Conv(x, i1, i2){auto_pad=@auto_pad, dilations=@dilations, "
	    "group=@group, kernel_shape=@kernel_shape, pads=@pads, "
	    "strides=@strides}");
	say(w, "o0 = Transpose(y){perm=[0, 2, 3, 1]}");
}

/* The operand with its last two dimensions exchanged, and before that its first
 * put before the last, where that is asked for; NULL: of unknown rank. */
static const char *
operand(struct writer *w, uint32_t i, bool matrix, bool batch)
{
	static const char *const as[][2] = {{"i0", "a"}, {"i1", "b"}};
	const uint32_t rank = rank_in(w, i);
	uint32_t at[8];
	char perm[64];
	int n = 0;

	if ((!matrix && !batch) || rank == 1)
		return as[i][0];
	if (rank < 2 || rank > 8)
		return NULL;
	for (uint32_t d = 0; d < rank; d++)
		at[d] = !batch || d == rank - 1 ? d : (d + 1) % (rank - 1);
	for (uint32_t d = 0; d < rank; d++)
		n += snprintf(perm + n, sizeof perm - (size_t)n, ", %u",
		    (unsigned)at[!matrix || d + 2 < rank ? d
		            : d + 1 < rank               ? d + 1
		                                         : d - 1]);
	say(w, "%s = Transpose(%s){perm=[%s]}", as[i][1], as[i][0], perm + 2);
	return as[i][1];
}

void
write_fused_matmul(struct writer *w)
{
	const double alpha = real_of(w, "alpha", 1);
	const char *a = operand(w, 0, int_of(w, "transA", 0) != 0,
	    int_of(w, "transBatchA", 0) != 0);
	const char *b = operand(w, 1, int_of(w, "transB", 0) != 0,
	    int_of(w, "transBatchB", 0) != 0);

	if (a && b)
		say(w, "y = MatMul(%s, %s)", a, b);
	else
		refuse_form(w, "a transposed operand of unknown rank");
	if (alpha < 1 || alpha > 1)
		say(w, "o0 = Mul(y, %#.9g~y)", alpha);
	else
		say(w, "o0 = Identity(y)");
}

/* ---- normalisation ---- */

void
write_layer_norm(struct writer *w)
{
	say(w,
	    "o0, %s, %s = LayerNormalization(i0, i1, i2){axis=@axis, "
	    "epsilon=@epsilon, stash_type=@stash_type}",
	    wants(w, 1) ? "o1" : "_", wants(w, 2) ? "o2" : "_");
}

/* 1 / root mean square of x over `axes`, all that are left from one on: `to`. */
static void
say_inverse(struct writer *w, const char *x, const char *to, const char *axes,
    double epsilon)
{
	say(w, "squares = Mul(%s, %s)", x, x);
	say(w, "mean = ReduceMean(squares, %s){keepdims=1}", axes);
	say(w, "more = Add(mean, %#.9g~%s)", epsilon, x);
	say(w, "root = Sqrt(more)");
	say(w, "%s = Reciprocal(root)", to);
}

/* x and the scale may differ in type; computed is in float, and the result has
 * the scale's. SOURCE: ONNX Runtime. */
void
write_rms_norm(struct writer *w)
{
	const uint32_t rank = rank_in(w, 0);
	const int64_t axis = int_of(w, "axis", -1);
	const bool mixed = dtype_in(w, 0) != dtype_in(w, 1);
	char axes[128] = "";

	if (wants(w, 1)
	    && (rank > 16 || axis < -(int64_t)rank || axis >= rank)) {
		refuse_form(w, "the second output over unknown axes");
		return;
	}
	say(w, mixed ? "x = Cast(i0){to=1}" : "x = Identity(i0)");
	say(w, mixed ? "scale = Cast(i1){to=1}" : "scale = Identity(i1)");
	say(w,
	    "y = RMSNormalization(x, scale){axis=@axis, epsilon=@epsilon, "
	    "stash_type=@stash_type}");
	say(w, mixed ? "o0 = CastLike(y, i1)" : "o0 = Identity(y)");
	if (!wants(w, 1))
		return;
	for (int64_t i = axis < 0 ? axis + rank : axis, n = 0; i < rank; i++)
		n += snprintf(axes + n, sizeof axes - (size_t)n, "%s%d",
		    n ? ", " : "[", (int)i);
	say(w, "wide = Cast(i0){to=1}");
	say_inverse(w, "wide", "o1", axes[0] ? strcat(axes, "]") : "[-1]",
	    real_of(w, "epsilon", 1e-5));
}

/* Output 3 is the sum that is normalised. */
void
write_skip_norm(struct writer *w)
{
	const bool simple = strncmp(w->call->op_type, "SkipS", 5) == 0;
	const uint32_t bias = simple ? 3 : 4;
	const double epsilon = real_of(w, "epsilon", simple ? 1e-5 : 1e-12);

	say(w, "s0 = Add(i0, i1)");
	if (has_in(w, bias))
		say(w, "s = Add(s0, i%u)", (unsigned)bias);
	else
		say(w, "s = Identity(s0)");
	if (wants(w, 3))
		say(w, "o3 = Identity(s)");
	if (simple && (wants(w, 1) || wants(w, 2)))
		say(w, "wide = Cast(s){to=1}");
	if (simple && wants(w, 2))
		say_inverse(w, "wide", "o2", "[-1]", epsilon);
	if (simple && wants(w, 1)) { /* there is no mean: zeros */
		say(w, "row = ReduceMax(wide, [-1]){keepdims=1}");
		say(w, "size = Shape(row)");
		say(w, "o1 = Expand(0.0, size)");
	}
	if (simple)
		say(w, "o0 = RMSNormalization(s, i2){axis=-1, epsilon=%#.9g}",
		    epsilon);
	else
		say(w,
		    "o0, %s, %s = LayerNormalization(s, i2, i3){axis=-1, "
		    "epsilon=%#.9g}",
		    wants(w, 1) ? "o1" : "_", wants(w, 2) ? "o2" : "_",
		    epsilon);
}

/* Rows of a table, which the quantiser's form holds in 8 bits: of all its tables
 * the scales and then the zero points are behind the mask. */
static void
rows_of(struct writer *w, const char *name, uint32_t table, const char *at)
{
	const bool quantised = w->call->op_type[0] == 'Q';

	say(w, "%s%s = Gather(i%u, %s)", name, quantised ? "_q" : "",
	    (unsigned)table, at);
	if (quantised)
		say(w, "%s = DequantizeLinear(%s_q, i%u, i%u)", name, name,
		    (unsigned)table + 6, (unsigned)table + 11);
}

/* Words, positions and segments; the mask becomes its lengths. */
void
write_embedding(struct writer *w)
{
	const bool quantised = w->call->op_type[0] == 'Q';

	rows_of(w, "words", 2, "i0");
	if (has_in(w, 8) && !quantised) {
		say(w, "at = Identity(i8)");
	} else {
		say(w, "length = Shape(i0){start=1, end=2}");
		say(w, "count = Squeeze(length, [0])");
		say(w, "at = Range(0, count, 1)");
	}
	rows_of(w, "places", 3, "at");
	say(w, "s1 = Add(words, places)");
	if (has_in(w, 1) && has_in(w, 4)) {
		rows_of(w, "segments", 4, "i1");
		say(w, "s2 = Add(s1, segments)");
	} else {
		say(w, "s2 = Identity(s1)");
	}
	if (quantised) {
		say(w, "scale = DequantizeLinear(i5, i11, i16)");
		say(w, "shift = DequantizeLinear(i6, i12, i17)");
	}
	say(w, "o0 = LayerNormalization(s2, %s){axis=-1, epsilon=%#.9g}",
	    quantised ? "scale, shift" : "i5, i6",
	    real_of(w, "epsilon", 1e-12));
	if (wants(w, 2))
		say(w, "o2 = Identity(s2)");
	if (!wants(w, 1))
		return;
	if (has_in(w, 7))
		say(w, "ones = Cast(i7){to=6}");
	else {
		say(w, "whole = Cast(i0){to=6}");
		say(w, "ones = Mul(whole, 0~whole)");
	}
	say(w, "o1 = ReduceSum(ones, [1]){keepdims=0}");
}

/* Between each row of one and each of the other. */
void
write_distances(struct writer *w)
{
	const bool root = text_is(w, "metric", "euclidean");

	if (!root && attr_of(w, "metric")
	    && !text_is(w, "metric", "sqeuclidean"))
		refuse_form(w, "metric other than euclidean, sqeuclidean");
	say(w, "a = Unsqueeze(i0, [1])");
	say(w, "d = Sub(a, i1)");
	say(w, "d2 = ReduceSumSquare(d, [-1]){keepdims=0}");
	say(w, "o0 = %s(d2)", root ? "Sqrt" : "Identity");
}
