#include "targets/native/integer_quads.h"

#include <stdlib.h>
#include <string.h>

#include "targets/integer.h"

#define QUAD 4

/* SOURCE: 255 * 128 is the most that 16 bits hold of what two bytes are multiplied by. */
#define MOST 128

/* Number i of an output along the kernel's depth; 0 beyond. */
static int8_t
weight_at(const struct codes_at *w, const int8_t *codes, size_t depth,
    size_t output, size_t i)
{
	const size_t channels = depth / w->taps;

	return i < depth ? codes[output * w->output
	           + (i % channels * w->taps + i / channels) * w->step]
	                 : 0;
}

/* What of the second of two is too much beside the first. */
static int8_t
excess(int8_t first, int8_t second)
{
	const int32_t sum = (int32_t)first + second;

	if ((first < 0) != (second < 0) || abs(sum) <= MOST)
		return 0;
	return (int8_t)(sum < 0 ? sum + MOST : sum - MOST);
}

/* The quad of an output less what is too much, which is put into more; false: that is
 * nothing. */
static bool
split(const struct codes_at *w, const int8_t *codes, size_t depth,
    size_t output, size_t quad, int8_t to[QUAD], int8_t more[QUAD])
{
	bool any = false;

	for (size_t i = 0; i < QUAD; i++)
		to[i] = weight_at(w, codes, depth, output, QUAD * quad + i);
	for (size_t i = 0; i < QUAD; i += 2) {
		more[i] = 0;
		more[i + 1] = excess(to[i], to[i + 1]);
		to[i + 1] = (int8_t)(to[i + 1] - more[i + 1]);
		any = any || more[i + 1] != 0;
	}
	return any;
}

/* TUNING: at most one in so many of what is multiplied at once a second time: three
 * instructions of four are gained. */
#define FEW 16
/* TUNING: places that are looked at, and groups of neighbouring outputs at each: a search
 * that knows all prices shall not read the weights. */
#define PLACES 32
#define GROUPS 4
#define SIDE_BY_SIDE 16

static bool
any_twice(const struct codes_at *w, size_t outputs, size_t depth, size_t first,
    size_t end)
{
	int8_t to[QUAD], more[QUAD];
	bool any = false;

	for (size_t k = first; k < end && k < first + SIDE_BY_SIDE; k++)
		any |= split(w, w->codes->data, depth, k % outputs, k / outputs,
		    to, more);
	return any;
}

bool
quads_fit(const struct codes_at *w, const struct tensor *zero, size_t outputs,
    size_t depth)
{
	const size_t all = (depth + QUAD - 1) / QUAD * outputs;
	const size_t run = GROUPS * SIDE_BY_SIDE;
	const size_t step = all / PLACES + run; /* of other outputs each */
	size_t seen = 0, twice = 0;

	if (w->codes->kind != TENSOR_VIEW || w->codes->dtype != DT_INT8
	    || (zero && !integers_are(zero, 0)))
		return false;
	for (size_t i = 0; i < all; i += step)
		for (size_t k = i; k < all && k < i + run; k += SIDE_BY_SIDE) {
			twice += any_twice(w, outputs, depth, k, all);
			seen++;
		}
	return twice * FEW <= seen;
}

/* One quad of the outputs from `first` on. */
static bool
pack_quad(const struct integer_form *f, const struct codes_at *w,
    const int8_t *codes, size_t first, size_t pair, size_t quad, int8_t *to,
    int8_t *more)
{
	bool any = false;

	memset(to, 0, pair * QUAD);
	memset(more, 0, pair * QUAD);
	for (size_t k = 0; k < pair && first + k < f->outputs; k++)
		any |= split(w, codes, f->depth, first + k, quad, to + k * QUAD,
		    more + k * QUAD);
	return any;
}

static const int32_t *
sums_of(const struct integer_form *f, const struct codes_at *w,
    const int8_t *codes, struct arena *a)
{
	int32_t *sum = arena_new(a, int32_t, f->filters);

	for (size_t k = 0; k < f->outputs; k++)
		for (size_t i = 0; i < f->depth; i++)
			sum[k] += codes[k * w->output + i * w->step];
	return sum;
}

/* What is multiplied twice is counted first, then kept. */
const struct byte_quads *
quads_pack(const struct integer_form *f, const struct codes_at *w, size_t pair,
    struct arena *a)
{
	const size_t quads = (f->depth + QUAD - 1) / QUAD;
	const size_t all = f->filters / pair * quads, bytes = pair * QUAD;
	struct byte_quads *q = arena_new(a, struct byte_quads, 1);
	int32_t *at = arena_new(a, int32_t, all * pair), *more;
	uint32_t *start = arena_new(a, uint32_t, f->filters / pair + 1);
	uint32_t *quad, n = 0;
	struct arena scratch;
	const int8_t *codes;
	int8_t *apart;
	bool *twice;

	arena_init(&scratch);
	codes = tensor_data(w->codes, &scratch);
	twice = arena_new(&scratch, bool, all);
	apart = arena_new(&scratch, int8_t, bytes);
	for (size_t i = 0; i < all; i++) {
		twice[i] = pack_quad(f, w, codes, i / quads * pair, pair,
		    i % quads, (int8_t *)(at + i * pair), apart);
		n += twice[i];
		start[i / quads + 1] = n;
	}
	quad = arena_new(a, uint32_t, n);
	more = arena_new(a, int32_t, n * pair);
	n = 0;
	for (size_t i = 0; i < all; i++)
		if (twice[i]) {
			pack_quad(f, w, codes, i / quads * pair, pair,
			    i % quads, (int8_t *)(at + i * pair),
			    (int8_t *)(more + n * pair));
			quad[n++] = (uint32_t)(i % quads);
		}
	*q = (struct byte_quads){.at = at,
	    .sum = sums_of(f, w, codes, a),
	    .quads = quads,
	    .start = start,
	    .quad = quad,
	    .more = more};
	arena_release(&scratch);
	return q;
}
