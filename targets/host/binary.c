/* Two broadcast operands, element by element: a table of scalar functions. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"

#include "targets/host/map.h"
#include "targets/host/strings.h"

typedef double real_fn(double x, double y);
typedef int64_t int_fn(int64_t x, int64_t y);
typedef uint64_t uint_fn(uint64_t x, uint64_t y);

#define FN(type, name, expression) \
	static type name(type x, type y) \
	{ \
		return expression; \
	}

FN(double, f_add, x + y)
FN(double, f_sub, x - y)
FN(double, f_mul, x *y)
FN(double, f_div, x / y)
FN(double, f_pow, pow(x, y))
FN(double, f_fmod, fmod(x, y))
FN(double, f_prelu, x < 0 ? x * y : x)
FN(double, f_equal, x == y)
FN(double, f_greater, x > y)
FN(double, f_greater_equal, x >= y)
FN(double, f_less, x < y)
FN(double, f_less_equal, x <= y)

/* Integers wrap modulo 2^64, then to the dtype when stored. */
FN(uint64_t, u_add, x + y)
FN(uint64_t, u_sub, x - y)
FN(uint64_t, u_mul, x *y)
FN(uint64_t, u_div, y ? x / y : 0) /* ONNX leaves x / 0 open */
FN(uint64_t, u_mod, y ? x % y : 0)
FN(uint64_t, u_and, x &y)
FN(uint64_t, u_or, x | y)
FN(uint64_t, u_xor, x ^ y)
FN(uint64_t, u_left, y < 64 ? x << y : 0)
FN(uint64_t, u_right, y < 64 ? x >> y : 0)
FN(uint64_t, u_equal, x == y)
FN(uint64_t, u_greater, x > y)
FN(uint64_t, u_greater_equal, x >= y)
FN(uint64_t, u_less, x < y)
FN(uint64_t, u_less_equal, x <= y)
FN(int64_t, i_greater, x > y)
FN(int64_t, i_greater_equal, x >= y)
FN(int64_t, i_less, x < y)
FN(int64_t, i_less_equal, x <= y)
FN(int64_t, i_prelu, x < 0 ? (int64_t)((uint64_t)x * (uint64_t)y) : x)

static int64_t
i_div(int64_t x, int64_t y)
{
	if (y == -1)
		return (int64_t)(0 - (uint64_t)x); /* INT64_MIN wraps */
	return y ? x / y : 0;
}

/* Of the dividend's sign, as C has it (fmod = 1). */
static int64_t
i_fmod(int64_t x, int64_t y)
{
	return y == 0 || y == -1 ? 0 : x % y;
}

/* Of the divisor's sign, as Python has it. */
static int64_t
i_mod(int64_t x, int64_t y)
{
	int64_t r = i_fmod(x, y);

	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double
f_mod(double x, double y)
{
	double r = fmod(x, y);

	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static uint64_t
u_pow(uint64_t x, uint64_t y)
{
	uint64_t z = 1;

	for (; y; y >>= 1, x *= x)
		if (y & 1)
			z *= x;
	return z;
}

/* A negative power is 0 except of 1 and -1. */
static int64_t
i_pow(int64_t x, int64_t y)
{
	if (y >= 0)
		return (int64_t)u_pow((uint64_t)x, (uint64_t)y);
	if (x == 1)
		return 1;
	return x == -1 ? (y % 2 ? -1 : 1) : 0;
}

/* uints serves uint64, and every integer when there is no ints. */
struct binary {
	real_fn *real;
	int_fn *ints;
	uint_fn *uints;
};

static const struct binary binary[NOP] = {
    [OP_ADD] = {f_add, NULL, u_add},
    [OP_SUB] = {f_sub, NULL, u_sub},
    [OP_MUL] = {f_mul, NULL, u_mul},
    [OP_DIV] = {f_div, i_div, u_div},
    [OP_MOD] = {f_mod, i_mod, u_mod},
    [OP_PRELU] = {f_prelu, i_prelu, u_mul},
    [OP_AND] = {NULL, NULL, u_and},
    [OP_OR] = {NULL, NULL, u_or},
    [OP_XOR] = {NULL, NULL, u_xor},
    [OP_BITWISEAND] = {NULL, NULL, u_and},
    [OP_BITWISEOR] = {NULL, NULL, u_or},
    [OP_BITWISEXOR] = {NULL, NULL, u_xor},
    [OP_EQUAL] = {f_equal, NULL, u_equal},
    [OP_GREATER] = {f_greater, i_greater, u_greater},
    [OP_GREATEROREQUAL] = {f_greater_equal, i_greater_equal, u_greater_equal},
    [OP_LESS] = {f_less, i_less, u_less},
    [OP_LESSOREQUAL] = {f_less_equal, i_less_equal, u_less_equal},
};

static void
apply_real(double *z, const double *const *x, size_t n, const void *p)
{
	const struct binary *b = p;

	for (size_t i = 0; i < n; i++)
		z[i] = b->real(x[0][i], x[1][i]);
}

static void
apply_ints(int64_t *z, const int64_t *const *x, size_t n, const void *p)
{
	const struct binary *b = p;

	for (size_t i = 0; i < n; i++)
		z[i] = b->ints(x[0][i], x[1][i]);
}

static void
apply_uints(int64_t *z, const int64_t *const *x, size_t n, const void *p)
{
	const struct binary *b = p;

	for (size_t i = 0; i < n; i++)
		z[i] = (int64_t)b->uints((uint64_t)x[0][i], (uint64_t)x[1][i]);
}

/* Operand 1 as opsets 1 to 6 had it: `axis` says where its dims stand under
 * broadcast = 1, and a slope a channel stands at the channels. */
static bool
legacy_operand(struct call *c, struct tensor *y, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool slope = c->node->op == OP_PRELU && c->in[1]->rank == 1
	    && c->in[1]->count > 1;
	int64_t axis = attr_int_or(c->node, "axis", 1), *dim;
	uint32_t rank;

	*y = *c->in[1];
	if (c->node->opset >= 7
	    || (!slope
	        && (!node_attr(c->node, "axis")
	            || !attr_int_or(c->node, "broadcast", 0))))
		return true;
	if (axis < 0)
		axis += x->rank;
	if (axis < 0 || axis + y->rank > x->rank)
		return err_set(err, ERR_INPUT, "axis %lld", (long long)axis);
	rank = x->rank - (uint32_t)axis;
	dim = arena_new(c->scratch, int64_t, rank);
	for (uint32_t i = 0; i < rank; i++)
		dim[i] = i < y->rank ? y->dim[i] : 1;
	y->rank = rank;
	y->dim = dim;
	return true;
}

static bool
apply(struct call *c, const struct binary *b, enum dtype out, struct err *err)
{
	struct tensor y;
	const struct tensor *operand[2] = {c->in[0], &y};
	enum lane lane = lane_of(c->in[0]->dtype);
	bool unsign = c->in[0]->dtype == DT_UINT64 || !b->ints;
	struct elementwise f = {.real = b->real ? apply_real : NULL, .p = b};

	if (unsign && b->uints)
		f.ints = apply_uints;
	else if (b->ints)
		f.ints = apply_ints;
	return legacy_operand(c, &y, err)
	    && map_run(c, &f, operand, 2, lane, out, err);
}

bool
binary_run(struct call *c, struct err *err)
{
	return apply(c, &binary[c->node->op], c->in[0]->dtype, err);
}

bool
compare_run(struct call *c, struct err *err)
{
	return apply(c, &binary[c->node->op], DT_BOOL, err);
}

static bool
equal_strings(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *y = c->in[1];
	struct shape s = shape_of(x);
	struct sink to;
	ptrdiff_t stride[RANK_MAX];
	struct walk w;
	bool *z;

	if (y->kind != TENSOR_STRINGS || x->kind != TENSOR_STRINGS)
		return err_set(err, ERR_INPUT, "strings and numbers");
	if (!shape_broadcast(&s, y->rank, y->dim))
		return err_set(err, ERR_INPUT, "shapes do not broadcast");
	if (!host_out(c, 0, DT_BOOL, &s, &to, err))
		return false;
	z = to.data;
	walk_init(&w, s.rank, s.dim);
	broadcast_strides(x->rank, x->dim, s.rank, s.dim, stride);
	walk_operand(&w, stride);
	broadcast_strides(y->rank, y->dim, s.rank, s.dim, stride);
	walk_operand(&w, stride);
	for (walk_start(&w); !w.done; walk_next(&w))
		for (size_t i = 0; i < w.n; i++)
			*z++ =
			    string_order(
			        x->string[w.at[0] + (ptrdiff_t)i * w.step[0]],
			        y->string[w.at[1] + (ptrdiff_t)i * w.step[1]])
			    == 0;
	return true;
}

bool
equal_run(struct call *c, struct err *err)
{
	return c->in[0]->kind == TENSOR_STRINGS ? equal_strings(c, err)
	                                        : compare_run(c, err);
}

bool
mod_run(struct call *c, struct err *err)
{
	static const struct binary truncating = {f_fmod, i_fmod, u_mod};

	if (attr_int_or(c->node, "fmod", 0) == 0)
		return binary_run(c, err);
	return apply(c, &truncating, c->in[0]->dtype, err);
}

bool
bitshift_run(struct call *c, struct err *err)
{
	static const struct binary left = {NULL, NULL, u_left};
	static const struct binary right = {NULL, NULL, u_right};

	return apply(c,
	    attr_is(c->node, "direction", "", "LEFT") ? &left : &right,
	    c->in[0]->dtype, err);
}

/* Base and exponent may differ in dtype; the result has the base's. */
bool
pow_run(struct call *c, struct err *err)
{
	static const struct binary power = {f_pow, i_pow, u_pow};
	bool mixed = lane_of(c->in[0]->dtype) == LANE_INT
	    && lane_of(c->in[1]->dtype) == LANE_REAL;
	struct elementwise f = {.real = apply_real, .p = &power};

	if (!mixed)
		return apply(c, &power, c->in[0]->dtype, err);
	return map_run(c, &f, c->in, 2, LANE_REAL, c->in[0]->dtype, err);
}
