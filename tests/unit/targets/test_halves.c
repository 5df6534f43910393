/* What is done to float16 around a library's kernel: bounds, guards, layouts. */
#include "tests/support/found.h"

#include <math.h>

#include "targets/bounded.h"
#include "targets/convert.h"
#include "targets/guarded.h"
#include "targets/threads.h"
#include "tests/support/support.h"

#define ALL 65536

/* A kernel that hands out what it is told to. */
static void
hand_out(struct kernel *k, const void *const *in, void *const *out)
{
	(void)in;
	memcpy(out[0], k->state, ALL * sizeof(uint16_t));
}

/* y = Relu(x) of all halves there are, as the host has it. */
static struct kernel
kernel_of_relu(uint16_t *gives)
{
	value_id x = make_input(&m, DIMS(256, 256));
	struct kernel k = {.run = hand_out, .state = gives};

	make_output(&m, MAKE(&m, RELU, x));
	make_halves(&m);
	find("host");
	for (uint32_t i = 0; i < found.n; i++)
		k.candidate = &found.candidate[i];
	assert_non_null(k.candidate);
	return k;
}

static void
run(struct kernel *k, const uint16_t *x, uint16_t *y)
{
	struct err err = {.kind = ERR_NONE};

	k->fault = &err;
	k->run(k, (const void *const[]){x}, (void *const[]){y});
	assert_int_equal(err.kind, ERR_NONE);
}

static void
check_bounds(struct kernel k, const uint16_t *all, float low, float high)
{
	const struct bounding b = {true, low, high};
	static uint16_t got[ALL];

	bound_kernel(&k, &mix.target[k.candidate->target], m.graph, &b, &arena);
	run(&k, all, got);
	for (uint32_t i = 0; i < ALL; i++) {
		const float x = f16_to_f32(all[i]), y = f16_to_f32(got[i]);
		const float want = x < low ? low : x > high ? high : x;

		if (isnan(x))
			assert_int_equal(got[i], all[i]);
		else if (y != f16_to_f32(f32_to_f16(want)))
			fail_msg("%g between %g and %g: %g", (double)x,
			    (double)low, (double)high, (double)y);
	}
}

static void
test_bounds(void **state)
{
	static uint16_t all[ALL];
	struct kernel k = kernel_of_relu(all);

	(void)state;
	target_threads_set(3);
	for (uint32_t i = 0; i < ALL; i++)
		all[i] = (uint16_t)i;
	check_bounds(k, all, 0, (float)INFINITY);
	check_bounds(k, all, 0, 6);
	check_bounds(k, all, -(float)INFINITY, 0.5f);
	check_bounds(k, all, -1.25f, 3);
	target_threads_set(1);
	check_bounds(k, all, -1.25f, 3);
}

/* The kernel gives ones; the host computes where some number is none. */
static void
check_guard(struct kernel *k, const uint16_t *ones, uint32_t odd_at)
{
	static const uint16_t odd[] = {0x7c00, 0xfc00, 0x7e00, 0xfe01};
	static uint16_t x[ALL], y[ALL];

	memset(x, 0, sizeof x);
	x[7] = 0xfbff; /* the lowest number is one */
	run(k, x, y);
	assert_memory_equal(y, ones, sizeof y);
	for (uint32_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		x[odd_at] = odd[i];
		run(k, x, y);
		assert_int_equal(y[7], 0);
		if (isnan(f16_to_f32(odd[i])))
			assert_true(isnan(f16_to_f32(y[odd_at])));
	}
}

static void
test_guard(void **state)
{
	static uint16_t ones[ALL];
	struct kernel k = kernel_of_relu(ones);

	(void)state;
	for (uint32_t i = 0; i < ALL; i++)
		ones[i] = 0x3c00;
	guard_kernel(&k, &mix.target[k.candidate->target], m.graph, &arena);
	for (uint32_t threads = 1; threads <= 3; threads++) {
		target_threads_set(threads);
		check_guard(&k, ones, 0);
		check_guard(&k, ones, ALL / 2);
		check_guard(&k, ones, ALL - 1);
	}
	target_threads_set(1);
	k.release(&k);
}

/* There and back, each number where it belongs. */
static void
check_layouts(enum dtype dtype)
{
	const int64_t dim[] = {2, 21, 5, 9};
	const struct type t = {
	    .kind = TYPE_TENSOR, .dtype = dtype, .rank = 4, .dim = dim};
	const struct format plain = {SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED};
	const struct format last = {SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED};
	const size_t width = dtype_bits(dtype) / 8, n = 2 * 21 * 5 * 9;
	const size_t area = 5 * 9;
	uint8_t *a = arena_alloc(&arena, n * width + 64);
	uint8_t *b = arena_alloc(&arena, n * width + 64);
	uint8_t *c = arena_alloc(&arena, n * width + 64);
	struct err err = {.kind = ERR_NONE};
	struct converter there, back;

	for (size_t i = 0; i < n * width; i++)
		a[i] = (uint8_t)(i * 7 + i / 251);
	assert_true(converter_new(&there,
	    &(struct format_change){plain, last, &t, NULL}, &arena, &err));
	assert_true(converter_new(&back,
	    &(struct format_change){last, plain, &t, NULL}, &arena, &err));
	there.run(&there, a, b);
	back.run(&back, b, c);
	assert_memory_equal(a, c, n * width);
	for (size_t i = 0; i < n; i++) {
		const size_t p = i % area, ch = i / area % (size_t)dim[1];
		const size_t at =
		    (i / area / (size_t)dim[1] * area + p) * (size_t)dim[1]
		    + ch;

		assert_memory_equal(a + i * width, b + at * width, width);
	}
}

/* Held as floats, in whatever layout, they are the numbers they were; so are
 * those that come back. */
static void
check_held(enum dtype dtype, enum layout x, enum layout y, int64_t channels)
{
	const int64_t dim[] = {2, channels, 5, 9};
	const struct type t = {
	    .kind = TYPE_TENSOR, .dtype = dtype, .rank = 4, .dim = dim};
	const struct format way[] = {{SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED},
	    {SPACE_HOST, x, DT_FLOAT}, {SPACE_HOST, y, DT_FLOAT},
	    {SPACE_HOST, LAYOUT_PLAIN, DT_FLOAT},
	    {SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED}};
	const size_t n = (size_t)(2 * channels * 5 * 9);
	uint16_t *first = arena_alloc(&arena, 2 * n + 64), h;
	const void *at = first;
	struct err err = {.kind = ERR_NONE};

	for (size_t i = 0; i < n; i++)
		first[i] = (uint16_t)(i * 7 % 0x7c00 + i % 2 * 0x8000);
	for (uint32_t i = 0; i < 4; i++) {
		void *to =
		    arena_alloc(&arena, format_bytes(way[i + 1], &t) + 64);
		struct converter c;

		assert_true(converter_new(&c,
		    &(struct format_change){way[i], way[i + 1], &t, NULL},
		    &arena, &err));
		c.run(&c, at, to);
		if (c.release)
			c.release(&c);
		at = to;
		for (size_t k = 0; i == 2 && k < n; k++) {
			const float f = ((const float *)at)[k];

			h = dtype == DT_FLOAT16 ? f32_to_f16(f)
			                        : f32_to_bf16(f);
			assert_int_equal(h, first[k]);
		}
	}
	assert_memory_equal(at, first, 2 * n);
}

static void
test_held(void **state)
{
	(void)state;
	for (enum layout x = LAYOUT_PLAIN; x <= LAYOUT_BLK16; x++)
		for (enum layout y = LAYOUT_PLAIN; y <= LAYOUT_BLK16; y++) {
			check_held(DT_FLOAT16, x, y, 21);
			check_held(DT_BFLOAT16, x, y, 32);
			check_held(DT_FLOAT16, x, y, 1);
		}
}

static void
test_layouts(void **state)
{
	(void)state;
	check_layouts(DT_UINT8);
	check_layouts(DT_FLOAT16);
	check_layouts(DT_FLOAT);
	check_layouts(DT_DOUBLE);
}

int
main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_bounds),
	    TEST(test_guard),
	    TEST(test_layouts),
	    TEST(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
