#include "targets/bounded.h"

#include "targets/convert.h"

struct bounded {
	struct kernel inner;
	struct bounding bounds;
	size_t count;
};

static float
bound(float x, float low, float high)
{
	x = x < low ? low : x; /* NaN is neither */
	return x > high ? high : x;
}

#define LANES 16u /* a fixed inner loop becomes SIMD */

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct bounded *b = k->state;
	const float low = b->bounds.low, high = b->bounds.high;
	float *y = out[0];
	size_t i = 0;

	b->inner.fault = k->fault;
	b->inner.run(&b->inner, in, out);
	for (; i + LANES <= b->count; i += LANES)
		for (uint32_t j = 0; j < LANES; j++)
			y[i + j] = bound(y[i + j], low, high);
	for (; i < b->count; i++)
		y[i] = bound(y[i], low, high);
}

static void
release(struct kernel *k)
{
	struct bounded *b = k->state;

	if (b->inner.release)
		b->inner.release(&b->inner);
}

void
bound_kernel(struct kernel *k, const struct target *t, const struct graph *g,
    const struct bounding *b, struct arena *a)
{
	const struct port *p = &k->candidate->output[0];
	struct bounded *state = arena_new(a, struct bounded, 1);

	*state = (struct bounded){.inner = *k,
	    .bounds = *b,
	    .count = format_bytes(t->formats->format[p->format],
	                 &graph_value(g, p->value)->type)
	        / sizeof(float)};
	k->run = run;
	k->release = release;
	k->state = state;
}
