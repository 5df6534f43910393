/* Weights of bytes in quads: what of them is multiplied twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/native/integer_quads.h"
#include "tests/support/support.h"

enum { OUTPUTS = 37, CHANNELS = 11, TAPS = 3, PAIR = 16 };
#define DEPTH ((size_t)CHANNELS * TAPS)
#define COUNT (OUTPUTS * DEPTH)

static int8_t codes[COUNT];
static struct tensor weights;
static const struct codes_at at = {
    .codes = &weights, .output = DEPTH, .step = 1, .taps = TAPS};

static void
make(int32_t most, struct rng *r)
{
	static const int64_t dim[] = {OUTPUTS, CHANNELS, TAPS, 1};

	for (size_t i = 0; i < COUNT; i++)
		codes[i] = (int8_t)((int32_t)rng_below(r, (uint32_t)(2 * most))
		    - most);
	weights = tensor_view(DT_INT8, 4, dim, codes);
}

static void
check_pairs(const int8_t *quads, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		const int32_t a = quads[i], b = quads[i + 1];
		const int32_t above = (a > 0 ? a : 0) + (b > 0 ? b : 0);
		const int32_t below = (a < 0 ? a : 0) + (b < 0 ? b : 0);

		assert_in_range(above, 0, 128);
		assert_in_range(-below, 0, 128);
	}
}

/* The weight that the kernel's depth has at i, beyond it 0. */
static int32_t
expected(size_t output, size_t i)
{
	return output < OUTPUTS && i < DEPTH
	    ? codes[output * DEPTH + i % CHANNELS * TAPS + i / CHANNELS]
	    : 0;
}

/* Both parts add up to the weights, no pair is too large, and each panel has its own. */
static void
parts_add_up(void **state)
{
	struct integer_form f = {
	    .depth = DEPTH, .outputs = OUTPUTS, .filters = 48};
	struct rng r = rng_seeded(3);
	struct arena a;

	(void)state;
	arena_init(&a);
	for (uint32_t round = 0; round < 50; round++) {
		const struct byte_quads *q;
		const int8_t *kept, *more;

		make(round % 2 ? 128 : 80, &r);
		q = quads_pack(&f, &at, PAIR, &a);
		assert_int_equal(q->quads, (DEPTH + 3) / 4);
		kept = (const int8_t *)q->at;
		more = (const int8_t *)q->more;
		check_pairs(kept, f.filters * q->quads * 4);
		check_pairs(more, q->start[f.filters / PAIR] * PAIR * 4);
		for (size_t k = 0; k < f.filters; k++) {
			const size_t panel = k / PAIR;
			int32_t sum = 0;

			for (size_t i = 0; i < q->quads * 4; i++) {
				int32_t w =
				    kept[((panel * q->quads + i / 4) * PAIR
				             + k % PAIR)
				            * 4
				        + i % 4];

				for (uint32_t x = q->start[panel];
				     x < q->start[panel + 1]; x++)
					if (q->quad[x] == i / 4)
						w += more[(x * PAIR + k % PAIR)
						        * 4
						    + i % 4];
				assert_int_equal(w, expected(k, i));
				sum += w;
			}
			assert_int_equal(q->sum[k], sum);
		}
		arena_release(&a);
		arena_init(&a);
	}
	arena_release(&a);
}

static void
small_signed_weights_fit(void **state)
{
	const int8_t one = 1;
	const struct tensor none = tensor_fill(DT_INT8, 0, NULL, &(int8_t){0});
	const struct tensor some = tensor_view(DT_INT8, 0, NULL, &one);
	struct rng r = rng_seeded(4);

	(void)state;
	make(64, &r);
	assert_true(quads_fit(&at, NULL, OUTPUTS, DEPTH));
	assert_true(quads_fit(&at, &none, OUTPUTS, DEPTH));
	assert_false(quads_fit(&at, &some, OUTPUTS, DEPTH));
	weights.dtype = DT_UINT8;
	assert_false(quads_fit(&at, NULL, OUTPUTS, DEPTH));
	make(128, &r);
	assert_false(quads_fit(&at, NULL, OUTPUTS, DEPTH));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts_add_up),
	    cmocka_unit_test(small_signed_weights_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
