#include "targets/native/steps.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NEED why_need

/* The powers that are products, quotients and roots. */
static bool
is_easy_power(float power)
{
	return power == -1 || power == -2 || power == 3 || power == 4
	    || power == 0.5f || power == -0.5f;
}

bool
native_has_step(const struct step *s)
{
	switch (s->kind) {
	case STEP_POW:
		return is_easy_power(s->beta);
	case STEP_EXP:
	case STEP_LOG:
	case STEP_SQRT:
	case STEP_SOFTPLUS:
	case STEP_ELU:
	case STEP_RELU:
	case STEP_CLIP:
	case STEP_LINEAR:
	case STEP_SIGMOID:
	case STEP_TANH:
	case STEP_HARDSWISH:
	case STEP_SWISH:
	case STEP_GELU_ERF:
	case STEP_GELU_TANH:
	case STEP_ABS:
	case STEP_SQUARE:
	case STEP_ADD:
	case STEP_SUB:
	case STEP_MUL:
	case STEP_DIV:
		return true;
	default:
		return false;
	}
}

static bool
is_constant(const struct graph *g, value_id v)
{
	return graph_value(g, v)->constant != NULL;
}

static bool
takes_operand(const struct match_in *m, const struct fused *f, value_id v)
{
	const struct type *t = matched_type(m, v);
	const struct type *out = matched_type(m, f->end);

	if (is_constant(m->graph, v))
		return form_of(t, out) == FORM_CHANNEL;
	return same_shape(t, out);
}

bool
native_step_has_exp(const struct step *s)
{
	switch (s->kind) {
	case STEP_SIGMOID:
	case STEP_SWISH:
	case STEP_TANH:
	case STEP_GELU_ERF:
	case STEP_GELU_TANH:
	case STEP_EXP:
	case STEP_SOFTPLUS:
	case STEP_ELU:
		return true;
	default:
		return false;
	}
}

bool
need_native_steps(
    const struct match_in *m, struct why *why, const struct fused *f)
{
	bool known = true, operands = true;

	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];

		known = known && native_has_step(s);
		if (step_is_binary(s->kind))
			operands = operands && takes_operand(m, f, s->other);
	}
	known = NEED(why, known, "functions", "of the kernels' table", "%s",
	    known ? "they are" : "another function");
	return NEED(why, operands, "operands",
	           "of the result's shape, or constants of a channel", "%s",
	           operands ? "they are" : "another operand")
	    && known;
}

static const float *
padded(const struct graph *g, value_id v, size_t channels, struct arena *a)
{
	const struct tensor *t = graph_value(g, v)->constant;
	float *to = arena_new(a, float, channels);

	assert(t->dtype == DT_FLOAT && t->count <= channels);
	for (size_t i = 0; i < t->count; i++)
		to[i] = (float)tensor_real(t, i);
	return to;
}

void
native_steps_of(struct native_steps *out, const struct fused *f,
    const struct graph *g, const struct candidate *c, size_t channels,
    struct arena *a)
{
	*out = (struct native_steps){.n = f->nsteps};
	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];
		struct native_step *to = &out->step[i];

		*to = (struct native_step){
		    s->kind, s->alpha, s->beta, s->swapped, -1, NULL};
		if (!step_is_binary(s->kind))
			continue;
		if (is_constant(g, s->other))
			to->channel = padded(g, s->other, channels, a);
		else
			to->port = candidate_input(c, s->other);
		assert(to->channel || to->port >= 0);
	}
}

void
native_bounds_of(struct native_steps *s, float *low, float *high)
{
	const struct native_step first = s->step[0];
	const bool relu = first.kind == STEP_RELU && first.alpha == 0;

	*low = -INFINITY;
	*high = INFINITY;
	if (s->n == 0 || (!relu && first.kind != STEP_CLIP))
		return;
	*low = relu ? 0 : first.alpha;
	if (!relu)
		*high = first.beta;
	s->n--;
	for (uint32_t i = 0; i < s->n; i++)
		s->step[i] = s->step[i + 1];
}
