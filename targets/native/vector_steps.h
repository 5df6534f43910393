/* The table of operations: each over a block of vectors, so that what is done to
 * choose one is done once a block. */
#ifndef TARGETS_NATIVE_VECTOR_STEPS_H
#define TARGETS_NATIVE_VECTOR_STEPS_H

#include "targets/native/steps.h"
#include "targets/native/vector_functions.h"

#define ROOT_2_OVER_PI 0.7978845608f
#define ROOT_HALF 0.7071067812f

/* x / (1 + e^-2 sqrt(2 / pi) (x + 0.044715 x^3)) */
ALWAYS vec
vec_gelu_tanh(vec x)
{
	const vec cubic = x * x * x * vec_all(0.044715f) + x;

	return vec_gated(x, cubic * vec_all(2 * ROOT_2_OVER_PI));
}

/* x / 2 (1 + erf(x / sqrt(2))), or max(x, 0) - |x| / 2 erfc(|x| / sqrt(2)), which cancels
 * nothing; from 10 on that is nothing. SOURCE: Abramowitz and Stegun, 7.1.26. */
ALWAYS vec
vec_gelu_erf(vec x)
{
	const vec half = vec_all(0.5f), size = vec_abs(x);
	const vec y = vec_ceil_at(size, 10);
	const vec t =
	    vec_all(1) / (y * vec_all(0.3275911f * ROOT_HALF) + vec_all(1));
	const vec e = vec_exp2(y * y * vec_all(-0.5f * LOG2_E));
	vec p =
	    t * vec_all(0.5f * 1.061405429f) + vec_all(0.5f * -1.453152027f);

	p = p * t + vec_all(0.5f * 1.421413741f);
	p = p * t + vec_all(0.5f * -0.284496736f);
	p = p * t + vec_all(0.5f * 0.254829592f);
	return (x * half + size * half) - p * t * (y * e);
}

ALWAYS vec
vec_hard_swish(vec x)
{
	vec factor = x * vec_all(1 / 6.f) + vec_all(0.5f);

	factor = vec_floor_at(factor, 0);
	return x * vec_ceil_at(factor, 1);
}

/* log(1 + e^x) */
ALWAYS vec
vec_softplus(vec x)
{
	return vec_log(vec_all(1) + vec_exp(-vec_abs(x))) + vec_floor_at(x, 0);
}

ALWAYS vec
vec_elu(vec x, vec alpha)
{
	const vec below = (vec_exp_whole(x) - vec_all(1)) * alpha;

	return vec_choose(x < vec_all(0), below, x);
}

/* x^power, of the powers that native_has_step() knows. */
ALWAYS vec
vec_power(vec x, float power)
{
	const vec y = x * x;
	vec root;

	if (power == -1)
		return vec_all(1) / x;
	if (power == -2)
		return vec_all(1) / y;
	if (power == 3)
		return y * x;
	if (power == 4)
		return y * y;
	root =
	    vec_choose(x == vec_all(-INFINITY), vec_all(INFINITY), vec_sqrt(x));
	return power > 0 ? root : vec_all(1) / root;
}

#define OVER(expression) \
	for (size_t i = 0; i < n; i++) { \
		const vec v = x[i]; \
		vec_store(to + i * step, expression); \
	} \
	break

/* A function of one tensor, to vectors `step` apart. */
static inline void
step_function_to(
    const struct native_step *s, const vec *x, size_t n, float *to, size_t step)
{
	const vec a = vec_all(s->alpha), b = vec_all(s->beta);

	switch (s->kind) {
	case STEP_RELU:
		if (s->alpha
		    == 0) { /* 0 * -infinity is NaN, and 0 * -1 is -0 */
			OVER(vec_floor_at(v, 0));
		}
		OVER(vec_choose(v < vec_all(0), v * a, v));
	case STEP_CLIP:
		OVER(vec_ceil_at(vec_floor_at(v, s->alpha), s->beta));
	case STEP_LINEAR:
		OVER(v * a + b);
	case STEP_SIGMOID:
		OVER(vec_gated(vec_all(1), v));
	case STEP_TANH:
		OVER(vec_tanh(v));
	case STEP_HARDSWISH:
		OVER(vec_hard_swish(v));
	case STEP_SWISH:
		OVER(vec_gated(v, v * a));
	case STEP_GELU_ERF:
		OVER(vec_gelu_erf(v));
	case STEP_GELU_TANH:
		OVER(vec_gelu_tanh(v));
	case STEP_ABS:
		OVER(vec_abs(v));
	case STEP_SQUARE:
		OVER(v * v);
	case STEP_EXP:
		OVER(vec_exp_whole(v));
	case STEP_LOG:
		OVER(vec_log(v));
	case STEP_SQRT:
		OVER(vec_sqrt(v));
	case STEP_POW:
		OVER(a * vec_power(v, s->beta));
	case STEP_SOFTPLUS:
		OVER(vec_softplus(v));
	case STEP_ELU:
		OVER(vec_elu(v, a));
	default:
		break;
	}
}

#undef OVER

/* May the last step write where results belong? */
ALWAYS bool
steps_end_in_function(const struct native_steps *s)
{
	const struct native_step *last = &s->step[s->n ? s->n - 1 : 0];

	return s->n && !last->channel && last->port < 0;
}

static inline void
step_function(const struct native_step *s, vec *x, size_t n)
{
	step_function_to(s, x, n, (float *)x, NATIVE_WIDTH);
}

#define OVER(expression) \
	for (size_t i = 0; i < n; i++) { \
		const vec v = x[i]; \
		x[i] = (expression); \
	} \
	break

/* x op y, or y op x; `stride` 0: y is one vector for all. */
static inline void
step_operation(
    const struct native_step *s, vec *x, const vec *y, size_t n, size_t stride)
{
	switch (s->kind) {
	case STEP_ADD:
		OVER(v + y[i * stride]);
	case STEP_MUL:
		OVER(v * y[i * stride]);
	case STEP_SUB:
		if (s->swapped) {
			OVER(y[i * stride] - v);
		}
		OVER(v - y[i * stride]);
	case STEP_DIV:
		if (s->swapped) {
			OVER(y[i * stride] / v);
		}
		OVER(v / y[i * stride]);
	default:
		break;
	}
}

#undef OVER

#endif
