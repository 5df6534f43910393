#include "targets/dnnl/nan.h"

#include <float.h>

#include "targets/dnnl/accept.h"
#include "targets/dnnl/depthwise.h"
#include "targets/dnnl/ways.h"
#include "targets/guarded.h"

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
	if (s->beta != FLT_MAX) {
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
	    || (s->kind == STEP_CLIP && (s->alpha == 0 || s->alpha == -FLT_MAX)
	        && (s->beta == FLT_MAX || (s->beta > 0 && s->beta <= HIGHEST)));
}

bool
nan_kept(struct fused *f)
{
	struct step step[STEPS_MAX + 4];
	uint32_t n = 0;

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

static bool
steps_keep(const struct fused *f)
{
	for (uint32_t i = 0; i < f->nsteps; i++)
		if (!keeps(f->step[i].kind, f->step[i].alpha))
			return false;
	return true;
}

/* Operators whose own kernel loses it. Of maxima over windows and dimensions
 * ONNX leaves open what NaN does. */
static bool
anchor_loses(const struct fused *f)
{
	if (f->anchor == NULL)
		return false;
	switch (f->anchor->op) {
	case OP_SOFTMAX:
	case OP_LOGSOFTMAX:
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		return true;
	default:
		return false;
	}
}

/* A chain as one primitive takes it, NaN kept. */
static bool
is_possible(struct fused *f)
{
	struct why why;
	const bool alone = f->anchor == NULL && f->nsteps > 0
	    && !step_is_binary(f->step[0].kind);

	why_init(&why, NULL);
	/* a function by itself takes no others behind it */
	return nan_kept(f) && (!alone || f->nsteps == 1)
	    && need_distinct_algorithms(&why, f->step, f->nsteps);
}

/* Does the match lose NaN as it is (*loses), and can it be put otherwise? */
static bool
can_keep(const struct match_in *m, bool *loses)
{
	struct fused f[2];
	const char *fault;
	bool ok = true;
	uint32_t n = 1;

	*loses = false;
	if (depthwise_read(f, m->graph, m->match))
		n = 2;
	else if (!fused_read(&f[0], m->graph, m->match, &fault))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		*loses |= anchor_loses(&f[i]) || !steps_keep(&f[i]);
		ok = ok && !anchor_loses(&f[i]) && is_possible(&f[i]);
	}
	return ok;
}

void
nan_mark(const struct match_in *m, struct implementation *way, uint32_t n)
{
	bool loses;
	const uint32_t number = can_keep(m, &loses) ? WAY_KEEPS_NAN
	    : loses && guard_suffices(m)            ? WAY_GUARDED
	                                            : 0;

	for (uint32_t i = 0; loses && i < n; i++)
		if (m->keep_nan && number && !way[i].in_place) {
			way[i].name = way_get(way[i].number)->nan_name;
			way[i].number += number;
		} else {
			way[i].loses_nan = true;
		}
}
