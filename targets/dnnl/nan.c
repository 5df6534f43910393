#include "targets/dnnl/nan.h"

#include <math.h>

/* SOURCE: found by tests/fuzz/candidates over NaN and infinities, as SSE4.1,
 * AVX2 and AVX-512: maxima and minima give their second operand, exp() bounds
 * its argument so. What is not known to keep NaN counts as losing it. */
static bool
keeps(enum step_kind kind, float alpha)
{
	switch (kind) {
	case STEP_RELU: /* with a slope it is chosen, not bounded */
		return alpha != 0;
	case STEP_LINEAR:
	case STEP_ABS:
	case STEP_SQUARE:
	case STEP_SQRT:
	case STEP_ROUND:
	case STEP_HARDSWISH:
	case STEP_SWISH:
	case STEP_GELU_ERF:
	case STEP_GELU_TANH:
	case STEP_MISH:
	case STEP_ADD:
	case STEP_SUB:
	case STEP_MUL:
	case STEP_DIV:
		return true;
	default:
		return false;
	}
}

/* 0 * (exp(x) - 1) below 0: exp(NaN) is infinite here, or NaN. */
static const struct step floor_0 = {STEP_ELU, 0, 0, VALUE_NONE, false};

static bool
is_floor(const struct step *s)
{
	return s->kind == STEP_ELU && s->alpha == 0;
}

/* TUNING: what is gained below the bound is lost to rounding above. */
#define HIGHEST 64

/* min(x, high) = high - max(high - x, 0). */
static uint32_t
put_bounds(struct step *to, const struct step *s)
{
	const struct step turn = {STEP_LINEAR, -1, s->beta, VALUE_NONE, false};
	uint32_t n = 0;

	if (s->alpha == 0)
		to[n++] = floor_0;
	if (s->beta != INFINITY) {
		to[n++] = turn;
		to[n++] = floor_0;
		to[n++] = turn;
	}
	return n;
}

static bool
can_be_put(const struct step *s)
{
	return s->kind == STEP_RELU
	    || (s->kind == STEP_CLIP && (s->alpha == 0 || s->alpha == -INFINITY)
	        && (s->beta == INFINITY
	            || (s->beta > 0 && s->beta <= HIGHEST)));
}

/* The last step, where others are before it. */
static void
take_end(struct fused *f, struct bounding *end)
{
	const struct step *s;
	bool relu;

	*end = (struct bounding){.needed = false};
	if (f->nsteps == 0 || (f->nsteps == 1 && f->anchor == NULL))
		return;
	s = &f->step[f->nsteps - 1];
	relu = s->kind == STEP_RELU && s->alpha == 0;
	if (!relu && s->kind != STEP_CLIP)
		return;
	end->low = relu ? 0 : s->alpha;
	end->high = relu ? INFINITY : s->beta;
	end->needed = end->low <= 0 && end->high >= 0;
	f->nsteps -= end->needed;
}

bool
nan_kept(struct fused *f, struct bounding *end)
{
	struct step step[STEPS_MAX + 4];
	uint32_t n = 0;

	if (end)
		take_end(f, end);
	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];

		if (n > STEPS_MAX)
			return false;
		if (keeps(s->kind, s->alpha) || is_floor(s))
			step[n++] = *s;
		else if (!can_be_put(s))
			return false;
		else if (s->kind == STEP_RELU)
			step[n++] = floor_0;
		else
			n += put_bounds(&step[n], s);
	}
	if (n > STEPS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		f->step[i] = step[i];
	f->nsteps = n;
	return true;
}

bool
nan_steps_keep(const struct fused *f)
{
	for (uint32_t i = 0; i < f->nsteps; i++)
		if (!keeps(f->step[i].kind, f->step[i].alpha))
			return false;
	return true;
}
