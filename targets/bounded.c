#include "targets/bounded.h"

#include "targets/convert.h"
#include "targets/lanes.h"

struct bounded {
	struct kernel inner;
	struct bounding bounds;
	size_t count;
	bool halves;
	void *y;
};

static float
bound(float x, float low, float high)
{
	x = x < low ? low : x; /* NaN is neither */
	return x > high ? high : x;
}

#define LANES 16u /* a fixed inner loop becomes SIMD */

static void
bound_floats(const struct bounding *b, float *y, size_t n)
{
	const float low = b->low, high = b->high;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (uint32_t j = 0; j < LANES; j++)
			y[i + j] = bound(y[i + j], low, high);
	for (; i < n; i++)
		y[i] = bound(y[i], low, high);
}

/* Bits of halves, in the order of what they stand for. */
static int16_t
in_order(uint16_t half)
{
	const int16_t x = (int16_t)half;

	return (int16_t)(x < 0 ? x ^ 0x7fff : x);
}

/* NaN is above infinity, or below it with a sign. */
static void
bound_halves(const struct bounding *b, uint16_t *y, size_t n)
{
	const uint16_t low = f32_to_f16(b->low);
	const uint16_t high = f32_to_f16(b->high);
	const int16_t least = in_order(low), most = in_order(high);
	const int16_t end = in_order(0x7c00), start = in_order(0xfc00);

	for (size_t i = 0; i < n; i++) {
		const int16_t x = in_order(y[i]);

		y[i] = x < least && x >= start ? low : y[i];
		y[i] = x > most && x <= end ? high : y[i];
	}
}

static void
bound_part(void *of, size_t first, size_t n)
{
	const struct bounded *b = of;

	if (b->halves)
		bound_halves(&b->bounds, (uint16_t *)b->y + first, n);
	else
		bound_floats(&b->bounds, (float *)b->y + first, n);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct bounded *b = k->state;

	b->inner.fault = k->fault;
	b->inner.run(&b->inner, in, out);
	b->y = out[0];
	lanes_split(b->count, bound_part, b);
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
	const struct type *type = &graph_value(g, p->value)->type;
	const bool halves = type->dtype == DT_FLOAT16;
	struct bounded *state = arena_new(a, struct bounded, 1);

	*state = (struct bounded){.inner = *k,
	    .bounds = *b,
	    .count = format_bytes(t->formats->format[p->format], type)
	        / (halves ? sizeof(uint16_t) : sizeof(float)),
	    .halves = halves};
	k->run = run;
	k->release = release;
	k->state = state;
}
