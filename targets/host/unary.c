/* One operand, element by element: a table of scalar functions. */
#include <math.h>
#include <stdlib.h>

#include "targets/host/kernels.h"
#include "targets/host/map.h"

#define PI 3.14159265358979323846

/* a and b are the operator's two float attributes, when it has them. */
typedef double real_fn(double x, double a, double b);
typedef int64_t int_fn(int64_t x);

#define REAL_FN(name, expression) \
	static double name(double x, double a, double b) \
	{ \
		(void)a, (void)b; \
		return expression; \
	}

REAL_FN(f_abs, fabs(x))
REAL_FN(f_acos, acos(x))
REAL_FN(f_acosh, acosh(x))
REAL_FN(f_asin, asin(x))
REAL_FN(f_asinh, asinh(x))
REAL_FN(f_atan, atan(x))
REAL_FN(f_atanh, atanh(x))
REAL_FN(f_ceil, ceil(x))
REAL_FN(f_celu, x < 0 ? fmin(0, a *expm1(x / a)) : x)
REAL_FN(f_cos, cos(x))
REAL_FN(f_cosh, cosh(x))
REAL_FN(f_elu, x < 0 ? a * expm1(x) : x)
REAL_FN(f_erf, erf(x))
REAL_FN(f_exp, exp(x))
REAL_FN(f_floor, floor(x))
REAL_FN(f_gelu, 0.5 * x * (1 + erf(x * sqrt(0.5))))
REAL_FN(f_gelu_tanh,
    0.5 * x * (1 + tanh(sqrt(2 / PI) * (x + 0.044715 * x * x * x))))
REAL_FN(f_hardsigmoid, bounded(a *x + b, 0, 1))
REAL_FN(f_hardswish, x *fmax(0, fmin(1, x / 6 + 0.5)))
REAL_FN(f_isnan, isnan(x) ? 1 : 0)
REAL_FN(f_isinf, isinf(x) && (x < 0 ? b : a) != 0 ? 1 : 0)
REAL_FN(f_leakyrelu, x < 0 ? a * x : x)
REAL_FN(f_log, log(x))
REAL_FN(f_neg, -x)
REAL_FN(f_reciprocal, 1 / x)
REAL_FN(f_relu, x < 0 ? 0 : x)
REAL_FN(f_round, rint(x))
REAL_FN(f_selu, x > 0 ? b * x : b * a * expm1(x))
REAL_FN(f_shrink, x<-a ? x + b : x> a ? x - b : 0)
REAL_FN(f_sigmoid, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)))
REAL_FN(f_sign, isnan(x) ? x : (x > 0) - (x < 0))
REAL_FN(f_sin, sin(x))
REAL_FN(f_sinh, sinh(x))
REAL_FN(f_softplus, fmax(x, 0) + log1p(exp(-fabs(x))))
REAL_FN(f_mish, x *tanh(f_softplus(x, 0, 0)))
REAL_FN(f_softsign, x / (1 + fabs(x)))
REAL_FN(f_sqrt, sqrt(x))
REAL_FN(f_swish, x / (1 + exp(-a * x)))
REAL_FN(f_tan, tan(x))
REAL_FN(f_tanh, tanh(x))
REAL_FN(f_thresholdedrelu, x > a ? x : 0)

static int64_t
i_abs(int64_t x)
{
	return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}

static int64_t
i_neg(int64_t x)
{
	return (int64_t)(0 - (uint64_t)x);
}

static int64_t
i_relu(int64_t x)
{
	return x < 0 ? 0 : x;
}

static int64_t
i_sign(int64_t x)
{
	return (x > 0) - (x < 0);
}

static int64_t
i_not(int64_t x)
{
	return ~x;
}

static int64_t
i_logical_not(int64_t x)
{
	return !x;
}

struct unary {
	real_fn *real;
	int_fn *ints;
	const char *name[2]; /* of attributes a and b */
	float otherwise[2];
};

/* SOURCE: the ONNX operator schemas for names and defaults. */
static const struct unary unary[NOP] = {
    [OP_ABS] = {.real = f_abs, .ints = i_abs},
    [OP_ACOS] = {.real = f_acos},
    [OP_ACOSH] = {.real = f_acosh},
    [OP_ASIN] = {.real = f_asin},
    [OP_ASINH] = {.real = f_asinh},
    [OP_ATAN] = {.real = f_atan},
    [OP_ATANH] = {.real = f_atanh},
    [OP_BITWISENOT] = {.ints = i_not},
    [OP_CEIL] = {.real = f_ceil},
    [OP_CELU] = {.real = f_celu, .name = {"alpha"}, .otherwise = {1}},
    [OP_COS] = {.real = f_cos},
    [OP_COSH] = {.real = f_cosh},
    [OP_ELU] = {.real = f_elu, .name = {"alpha"}, .otherwise = {1}},
    [OP_ERF] = {.real = f_erf},
    [OP_EXP] = {.real = f_exp},
    [OP_FLOOR] = {.real = f_floor},
    [OP_GELU] = {.real = f_gelu},
    [OP_HARDSIGMOID] = {.real = f_hardsigmoid,
        .name = {"alpha", "beta"},
        .otherwise = {0.2f, 0.5f}},
    [OP_HARDSWISH] = {.real = f_hardswish},
    [OP_LEAKYRELU] = {.real = f_leakyrelu,
        .name = {"alpha"},
        .otherwise = {0.01f}},
    [OP_LOG] = {.real = f_log},
    [OP_MISH] = {.real = f_mish},
    [OP_NEG] = {.real = f_neg, .ints = i_neg},
    [OP_NOT] = {.ints = i_logical_not},
    [OP_RECIPROCAL] = {.real = f_reciprocal},
    [OP_RELU] = {.real = f_relu, .ints = i_relu},
    [OP_ROUND] = {.real = f_round},
    [OP_SELU] = {.real = f_selu,
        .name = {"alpha", "gamma"},
        .otherwise = {1.67326319217681884765625f, 1.05070102214813232421875f}},
    [OP_SHRINK] = {.real = f_shrink,
        .name = {"lambd", "bias"},
        .otherwise = {0.5f, 0}},
    [OP_SIGMOID] = {.real = f_sigmoid},
    [OP_SIGN] = {.real = f_sign, .ints = i_sign},
    [OP_SIN] = {.real = f_sin},
    [OP_SINH] = {.real = f_sinh},
    [OP_SOFTPLUS] = {.real = f_softplus},
    [OP_SOFTSIGN] = {.real = f_softsign},
    [OP_SQRT] = {.real = f_sqrt},
    [OP_SWISH] = {.real = f_swish, .name = {"alpha"}, .otherwise = {1}},
    [OP_TAN] = {.real = f_tan},
    [OP_TANH] = {.real = f_tanh},
    [OP_THRESHOLDEDRELU] = {.real = f_thresholdedrelu,
        .name = {"alpha"},
        .otherwise = {1}},
};

struct unary_fn {
	real_fn *real;
	int_fn *ints;
	double a, b;
};

static void
apply_real(double *z, const double *const *x, size_t n, const void *p)
{
	const struct unary_fn *j = p;

	for (size_t i = 0; i < n; i++)
		z[i] = j->real(x[0][i], j->a, j->b);
}

static void
apply_ints(int64_t *z, const int64_t *const *x, size_t n, const void *p)
{
	const struct unary_fn *j = p;

	for (size_t i = 0; i < n; i++)
		z[i] = j->ints(x[0][i]);
}

static bool
apply(struct call *c, const struct unary_fn *j, enum dtype out, struct err *err)
{
	struct elementwise f = {
	    .real = j->real ? apply_real : NULL,
	    .ints = j->ints ? apply_ints : NULL,
	    .p = j,
	};

	return map_run(c, &f, c->in, 1, lane_of(c->in[0]->dtype), out, err);
}

bool
unary_run(struct call *c, struct err *err)
{
	const struct unary *u = &unary[c->node->op];
	struct unary_fn j = {u->real, u->ints, 0, 0};

	if (u->name[0])
		j.a =
		    (double)attr_float_or(c->node, u->name[0], u->otherwise[0]);
	if (u->name[1])
		j.b =
		    (double)attr_float_or(c->node, u->name[1], u->otherwise[1]);
	if (c->node->op == OP_GELU
	    && attr_is(c->node, "approximate", "none", "tanh"))
		j.real = f_gelu_tanh;
	return apply(c, &j, c->in[0]->dtype, err);
}

bool
isnan_run(struct call *c, struct err *err)
{
	struct unary_fn j = {f_isnan, NULL, 0, 0};

	return apply(c, &j, DT_BOOL, err);
}

bool
isinf_run(struct call *c, struct err *err)
{
	struct unary_fn j = {f_isinf, NULL,
	    (double)attr_int_or(c->node, "detect_positive", 1),
	    (double)attr_int_or(c->node, "detect_negative", 1)};

	return apply(c, &j, DT_BOOL, err);
}
