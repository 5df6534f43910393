/* com.microsoft: weights in blocks of 4 or 8 bits, two of 4 in a byte, the low
 * one first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/expand/writers.h"

/* Bytes `from` become their nibbles, as many again along the last axis, of the
 * shape given. */
static void
nibbles(struct writer *w, const char *from, const char *to, const char *shape)
{
	say(w, "%s_low = BitwiseAnd(%s, 15~%s)", to, from, from);
	say(w, "%s_high = BitShift(%s, 4~%s){direction=\"RIGHT\"}", to, from,
	    from);
	say(w, "%s_l = Unsqueeze(%s_low, [-1])", to, to);
	say(w, "%s_h = Unsqueeze(%s_high, [-1])", to, to);
	say(w, "%s_p = Concat(%s_l, %s_h){axis=-1}", to, to, to);
	say(w, "%s = Reshape(%s_p, %s)", to, to, shape);
}

struct blocked {
	int64_t n, k, size, blocks, bits;
};

/* Zero points as floats [n, blocks, 1]. */
static void
zero_points(struct writer *w, const struct blocked *b)
{
	const int64_t row = (b->blocks + 1) / 2 * 2;

	if (!has_in(w, 3)) {
		say(w, "zero = CastLike(%d, i2)", b->bits == 4 ? 8 : 128);
		return;
	}
	if (dtype_in(w, 3) != DT_UINT8) {
		say(w, "zero = Reshape(i3, [%lld, %lld, 1])", (long long)b->n,
		    (long long)b->blocks);
		return;
	}
	if (b->bits == 4) {
		char shape[64];

		snprintf(shape, sizeof shape, "[%lld, %lld]", (long long)b->n,
		    (long long)row);
		say(w, "packed = Reshape(i3, [%lld, %lld])", (long long)b->n,
		    (long long)row / 2);
		nibbles(w, "packed", "zn", shape);
		say(w, "zs = Slice(zn, [0], [%lld], [1])",
		    (long long)b->blocks);
	} else {
		say(w, "zs = Identity(i3)");
	}
	say(w, "zc = CastLike(zs, i2)");
	say(w, "zero = Reshape(zc, [%lld, %lld, 1])", (long long)b->n,
	    (long long)b->blocks);
}

void
write_matmul_nbits(struct writer *w)
{
	struct blocked b = {.n = int_of(w, "N", 0),
	    .k = int_of(w, "K", 0),
	    .size = int_of(w, "block_size", 0),
	    .bits = int_of(w, "bits", 4)};
	char shape[96];

	if (b.n < 1 || b.k < 1 || b.size < 1 || b.n > INT32_MAX
	    || b.k > INT32_MAX || b.size > INT32_MAX || has_in(w, 4)
	    || (b.bits != 4 && b.bits != 8)) {
		refuse_form(w, "bits other than 4 and 8, or g_idx");
		return;
	}
	b.blocks = (b.k + b.size - 1) / b.size;
	snprintf(shape, sizeof shape, "[%lld, %lld, %lld]", (long long)b.n,
	    (long long)b.blocks, (long long)b.size);
	if (b.bits == 4)
		nibbles(w, "i1", "codes", shape);
	else
		say(w, "codes = Reshape(i1, %s)", shape);
	zero_points(w, &b);
	say(w, "cf = CastLike(codes, i2)");
	say(w, "centred = Sub(cf, zero)");
	say(w, "scales = Reshape(i2, [%lld, %lld, 1])", (long long)b.n,
	    (long long)b.blocks);
	say(w, "scaled = Mul(centred, scales)");
	say(w, "padded = Reshape(scaled, [%lld, %lld])", (long long)b.n,
	    (long long)(b.blocks * b.size));
	say(w, "rows = Slice(padded, [0], [%lld], [1])", (long long)b.k);
	say(w, "weights = Transpose(rows){perm=[1, 0]}");
	say(w, "x = CastLike(i0, weights)");
	say(w, "y = MatMul(x, weights)");
	if (has_in(w, 5))
		say(w, "o0 = Add(y, i5)");
	else
		say(w, "o0 = CastLike(y, i0)");
}

/* Blocks lie along quantize_axis; of packed bytes that is the last one. */
void
write_gather_blocks(struct writer *w)
{
	const struct type *t = type_in(w, 0);
	const int64_t axis = int_of(w, "quantize_axis", 1);
	const int64_t size = int_of(w, "block_size", 128);
	const int64_t bits = int_of(w, "bits", 4);
	const char *zero = has_in(w, 3) ? "i3" : "_";

	if (!t || t->rank == RANK_UNKNOWN) {
		refuse_form(w, "data of unknown rank");
		return;
	}
	if (t->dtype != DT_UINT8) {
		say(w, "codes = Identity(i0)");
	} else if (bits == 8) {
		say(w, "codes = Identity(i0)");
		say(w, "middle = CastLike(128, i0)");
	} else {
		char shape[200] = "[";

		for (uint32_t i = 0; i < t->rank && i < RANK_MAX; i++)
			snprintf(shape + strlen(shape),
			    sizeof shape - strlen(shape), "%s%lld",
			    i ? ", " : "",
			    (long long)t->dim[i] * (i + 1 == t->rank ? 2 : 1));
		snprintf(
		    shape + strlen(shape), sizeof shape - strlen(shape), "]");
		if (strlen(shape) > 150 || !type_is_static(t)) {
			refuse_form(w, "packed data of unknown shape");
			return;
		}
		nibbles(w, "i0", "codes", shape);
		say(w, "middle = CastLike(8, i0)");
		zero = "_";
	}
	if (t->dtype == DT_UINT8 && has_in(w, 3)) {
		refuse_form(w, "zero points of packed data");
		return;
	}
	if (t->dtype == DT_UINT8) {
		say(w, "scale_shape = Shape(i2)");
		say(w, "zeros = Expand(middle, scale_shape)");
		zero = "zeros";
	}
	say(w,
	    "rows = DequantizeLinear(codes, i2, %s){axis=%lld, "
	    "block_size=%lld}",
	    zero, (long long)axis, (long long)size);
	say(w, "o0 = Gather(rows, i1){axis=%lld}",
	    (long long)int_of(w, "gather_axis", 0));
}
