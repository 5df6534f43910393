#include <assert.h>
#include <math.h>

#include "targets/blas/kernel.h"

static float
clamped(float x, float low, float high)
{
	return x < low ? low : x > high ? high : x;
}

static bool
has_shape_of(const struct graph *g, value_id v, value_id like)
{
	const struct type *a = &graph_value(g, v)->type;
	const struct type *b = &graph_value(g, like)->type;

	if (graph_value(g, v)->constant || a->rank != b->rank)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

/* NULL candidate: only whether it can be done. */
bool
finish_of(struct finish *out, const struct fused *f, const struct graph *g,
    const struct candidate *c)
{
	uint32_t i = 0;

	*out = (struct finish){-1, -INFINITY, INFINITY};
	if (f->nsteps > 0 && f->step[0].kind == STEP_ADD) {
		if (!has_shape_of(g, f->step[0].other, f->end))
			return false;
		if (c)
			out->residual = candidate_input(c, f->step[0].other);
		assert(c == NULL || out->residual >= 0);
		i = 1;
	}
	for (; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];
		float low = 0, high = INFINITY;

		if (s->kind == STEP_CLIP) {
			low = s->alpha;
			high = s->beta;
		} else if (s->kind != STEP_RELU || s->alpha != 0) {
			return false;
		}
		out->low = clamped(out->low, low, high);
		out->high = clamped(out->high, low, high);
	}
	return true;
}

static void
finish_stretch(const struct finish *f, const void *const *in, float *out,
    size_t from, size_t n)
{
	float *to = out + from;

	if (f->residual >= 0) {
		const float *more = (const float *)in[f->residual] + from;

		for (size_t i = 0; i < n; i++)
			to[i] += more[i];
	}
	if (f->low > -INFINITY || f->high < INFINITY)
		for (size_t i = 0; i < n; i++)
			to[i] = clamped(to[i], f->low, f->high);
}

void
finish_run(const struct finish *f, const void *const *in, float *out,
    const struct stretches *s)
{
	if (f->residual < 0 && f->low == -INFINITY && f->high == INFINITY)
		return;
	if (s->floats == s->stride)
		finish_stretch(f, in, out, s->from, s->n * s->floats);
	else
		for (size_t i = 0; i < s->n; i++)
			finish_stretch(
			    f, in, out, s->from + i * s->stride, s->floats);
}
