/* Changes of dtype, and facts of shapes. */
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/map.h"

static void
same_real(double *z, const double *const *x, size_t n, const void *p)
{
	(void)p;
	memcpy(z, x[0], n * sizeof *z);
}

static void
same_ints(int64_t *z, const int64_t *const *x, size_t n, const void *p)
{
	(void)p;
	memcpy(z, x[0], n * sizeof *z);
}

/* float8 with saturate = 0: too large becomes infinity or NaN. */
static bool
cast_unsaturated(struct call *c, enum dtype to, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct sink sink;
	uint8_t *code;

	if (!host_out(c, 0, to, &s, &sink, err))
		return false;
	code = sink.data;
	for (size_t i = 0; i < x->count; i++)
		code[i] = small_float_code(to, load_one(x, i), false);
	return true;
}

static bool
is_float8(enum dtype t)
{
	return t >= DT_FLOAT8E4M3FN && t <= DT_FLOAT8E5M2FNUZ;
}

static bool
cast_to(struct call *c, enum dtype to, struct err *err)
{
	static const struct elementwise f = {
	    .real = same_real, .ints = same_ints};
	enum dtype from = c->in[0]->dtype;
	/* To the narrow integers reals go by way of int64, whose low bits are
	 * kept, as C compilers and numpy do. (A bool is a comparison with 0.) */
	bool narrow = dtype_is_integer(to) && dtype_bits(to) < 32;
	bool real =
	    lane_of(to) == LANE_REAL || (lane_of(from) == LANE_REAL && !narrow);

	if (to == DT_STRING || dtype_bits(to) == 0 || to == DT_COMPLEX64
	    || to == DT_COMPLEX128)
		return refuse(err, "a cast to %s", dtype_name(to));
	if (to == DT_FLOAT8E8M0 && !attr_is(c->node, "round_mode", "up", "up"))
		return refuse(err, "another round_mode than up");
	if (is_float8(to) && attr_int_or(c->node, "saturate", 1) == 0)
		return cast_unsaturated(c, to, err);
	return map_run(c, &f, c->in, 1, real ? LANE_REAL : LANE_INT, to, err);
}

/* The dtype of opset 1's words: "FLOAT", "INT64". */
static enum dtype
dtype_of_word(struct string_view word)
{
	static const char *const words[NDTYPE] = {
#define DTYPE(name, number, bits, text) [number] = #name,
#include "ir/dtype.def"
#undef DTYPE
	};

	for (unsigned t = 0; t < NDTYPE; t++)
		if (words[t] && strlen(words[t]) == word.n
		    && memcmp(words[t], word.s, word.n) == 0)
			return (enum dtype)t;
	return DT_UNDEFINED;
}

bool
cast_run(struct call *c, struct err *err)
{
	const struct attr *to = node_attr(c->node, "to");

	if (to && to->kind == ATTR_STRING && to->n == 1)
		return cast_to(c, dtype_of_word(to->strings[0]), err);
	return cast_to(
	    c, (enum dtype)attr_int_or(c->node, "to", DT_UNDEFINED), err);
}

bool
castlike_run(struct call *c, struct err *err)
{
	return cast_to(c, c->in[1]->dtype, err);
}

/* The same bits under another dtype of the same width. */
bool
bitcast_run(struct call *c, struct err *err)
{
	struct tensor x = *c->in[0];
	enum dtype to = (enum dtype)attr_int_or(c->node, "to", DT_UNDEFINED);
	struct shape s = shape_of(&x);

	if (dtype_bits(to) != dtype_bits(x.dtype) || dtype_bits(to) > 64)
		return refuse(err, "a bit cast to %s", dtype_name(to));
	x.dtype = to;
	return host_out_as(c, 0, &x, &s, err);
}

/* Clamp to 0..rank, as Python slices a list of dimensions. */
static int64_t
bound(int64_t i, uint32_t rank)
{
	if (i < 0)
		i += rank;
	return i < 0 ? 0 : i > rank ? rank : i;
}

bool
shape_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	int64_t from = bound(attr_int_or(c->node, "start", 0), x->rank);
	int64_t to = bound(attr_int_or(c->node, "end", x->rank), x->rank);
	struct shape s = {.rank = 1};
	struct sink sink;

	s.dim[0] = to > from ? to - from : 0;
	if (!host_out(c, 0, DT_INT64, &s, &sink, err))
		return false;
	store_int(&sink, 0, 1, (size_t)s.dim[0], x->dim + from);
	return true;
}

bool
size_run(struct call *c, struct err *err)
{
	struct shape s = {.rank = 0};
	struct sink sink;
	int64_t n = (int64_t)c->in[0]->count;

	if (!host_out(c, 0, DT_INT64, &s, &sink, err))
		return false;
	store_int(&sink, 0, 1, 1, &n);
	return true;
}
