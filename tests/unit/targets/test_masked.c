/* Softmax over what masks hide: the lowest float or minus infinity is no reason to
 * compute on the host, and each library makes of it what the host does. */
#include "tests/support/found.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "costmodel/trial.h"
#include "targets/guarded.h"
#include "targets/host/host.h"
#include "tests/support/support.h"

#define OUTER 3u
#define AXIS 19u
#define INNER 5u
#define ALL (OUTER * AXIS * INNER)

/* What else lies in a row of ordinary numbers, n times from a place on. */
static const struct content {
	float x;
	uint32_t from, n;
	bool by_host;
} contents[] = {
    {0, 0, 0, false},
    {-FLT_MAX, 3, 4, false},
    {-FLT_MAX, 0, AXIS, false},
    {FLT_MAX, 18, 1, false},
    {-0x1p33f, 0, 18, false},
    {-(float)INFINITY, 0, 1, false},
    {-(float)INFINITY, 1, 18, false},
    {-(float)INFINITY, 0, 18, false},
    {-(float)INFINITY, 0, AXIS, true},
    {(float)INFINITY, 4, 1, true},
    {(float)INFINITY, 0, AXIS, true},
    {(float)NAN, 0, 1, true},
    {-(float)NAN, 18, 1, true},
    {(float)NAN, 0, AXIS, true},
};
#define NCONTENTS (sizeof contents / sizeof *contents)

/* Of a shape [OUTER, AXIS, INNER], or another of as many numbers. */
static const struct form {
	enum op op;
	uint32_t opset;
	int64_t axis, dim[4];
	uint32_t outer, n, inner;
} forms[] = {
    {OP_SOFTMAX, 17, 1, {OUTER, AXIS, INNER}, OUTER, AXIS, INNER},
    {OP_SOFTMAX, 17, -1, {OUTER, INNER, AXIS}, OUTER *INNER, AXIS, 1},
    {OP_SOFTMAX, 13, 0, {AXIS, INNER, OUTER}, 1, AXIS, INNER *OUTER},
    {OP_SOFTMAX, 11, 1, {OUTER * INNER, AXIS, 1}, OUTER *INNER, AXIS, 1},
    {OP_SOFTMAX, 11, -2, {OUTER * INNER, AXIS, 1}, OUTER *INNER, AXIS, 1},
    {OP_LOGSOFTMAX, 17, -1, {OUTER, INNER, AXIS}, OUTER *INNER, AXIS, 1},
};
#define NFORMS (sizeof forms / sizeof *forms)

/* In the last row only, among numbers between -1 and 1. */
static void
fill(float *x, const struct form *f, const struct content *c)
{
	float *row =
	    x + (size_t)(f->outer - 1) * f->n * f->inner + (f->inner - 1);

	for (uint32_t i = 0; i < ALL; i++)
		x[i] = (float)(i * 37 % 101) / 50 - 1;
	for (uint32_t i = c->from; i < c->from + c->n; i++)
		row[(size_t)i * f->inner] = c->x;
}

static void
find_keeping(const char *target, const struct form *f, bool halves)
{
	const struct attr axis[] = {ATTR_OF_INT("axis", f->axis)};
	const struct candidate_options o = {.keep_nan = true};
	const value_id none = VALUE_LAST;
	struct err err = {.kind = ERR_NONE};

	arena_release(&arena);
	arena_init(&arena);
	make_begin(&m, &arena);
	m.opset = f->opset;
	make_output(&m,
	    make_node(&m, f->op,
	        (const value_id[]){make_input(&m, f->dim), none}, axis, 1));
	if (halves)
		make_halves(&m);
	make_end(&m);
	if (!mix_open(&mix, &target, 1, &arena, &err))
		skip();
	assert_true(candidates_find(&found, m.graph, &mix, &o, &arena, &err));
}

static void
mark(struct kernel *k, const void *const *in, void *const *out)
{
	memset(out[0], 0x42, *(const size_t *)k->state);
	(void)in;
}

/* As a half; what is larger than those are is the largest. */
static uint16_t
half_of(float x)
{
	if (isfinite(x))
		x = x > 65504 ? 65504 : x < -65504 ? -65504 : x;
	return f32_to_f16(x);
}

static void
check_paths(const struct form *f, bool halves)
{
	static float x[ALL], y[ALL];
	static uint16_t half[ALL];
	size_t bytes = halves ? sizeof half : sizeof x;
	struct kernel k = {.run = mark, .state = &bytes};
	struct err err = {.kind = ERR_NONE};

	find_keeping("host", f, halves);
	assert_int_equal(found.n, 1);
	k.candidate = &found.candidate[0];
	guard_kernel(&k, &mix.target[k.candidate->target], m.graph, &arena);
	k.fault = &err;
	for (size_t j = 0; j < NCONTENTS; j++) {
		unsigned char first;

		fill(x, f, &contents[j]);
		for (uint32_t i = 0; i < ALL; i++)
			half[i] = half_of(x[i]);
		k.run(&k, (const void *const[]){halves ? (void *)half : x},
		    (void *const[]){y});
		memcpy(&first, y, 1);
		assert_int_equal(err.kind, ERR_NONE);
		assert_int_equal(first != 0x42, contents[j].by_host);
	}
	k.release(&k);
}

static void
only_what_it_must_is_by_the_host(void **state)
{
	(void)state;
	for (size_t i = 0; i < NFORMS; i++) {
		check_paths(&forms[i], false);
		check_paths(&forms[i], true);
	}
}

static bool
is_near(float x, float y)
{
	if (isnan(y) || isinf(y))
		return isnan(y) ? isnan(x) : x == y;
	return fabsf(x - y) <= 1e-5f + 1e-5f * fabsf(y);
}

static void
check_against_host(struct trial *t, const struct form *f)
{
	const struct node *n = graph_node(m.graph, t->candidate->node[0]);
	static float x[ALL];
	struct err err = {.kind = ERR_NONE};

	for (size_t j = 0; j < NCONTENTS; j++) {
		struct tensor in, out;
		void *to;

		fill(x, f, &contents[j]);
		memcpy(&to, &t->in[0], sizeof to);
		memcpy(to, x, sizeof x);
		t->kernel.fault = &err;
		trial_run(t);
		in = tensor_view(DT_FLOAT, 3, f->dim, x);
		assert_true(host_eval(m.graph, n,
		    (const struct tensor *const[]){&in}, &out, &arena, &err));
		for (uint32_t i = 0; i < ALL; i++)
			if (!is_near(((const float *)t->out[0])[i],
			        ((const float *)out.data)[i]))
				fail_msg("%s, content %zu: %g for %g",
				    t->candidate->implementation_name, j,
				    (double)((const float *)t->out[0])[i],
				    (double)((const float *)out.data)[i]);
	}
}

static void
check_library(const char *target)
{
	uint32_t seen = 0;

	for (size_t i = 0; i < NFORMS; i++) {
		find_keeping(target, &forms[i], false);
		for (uint32_t k = 0; k < found.n; k++) {
			struct err err = {.kind = ERR_NONE};
			struct trial t;

			if (found.candidate[k].target != 0)
				continue;
			assert_true(trial_open(&t, m.graph, &mix,
			    &found.candidate[k], &arena, &err));
			check_against_host(&t, &forms[i]);
			trial_close(&t);
			seen++;
		}
	}
	assert_true(seen > 0);
}

static void
dnnl_agrees_with_the_host(void **state)
{
	(void)state;
	check_library("dnnl");
}

static void
xnnpack_agrees_with_the_host(void **state)
{
	(void)state;
	check_library("xnnpack");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        only_what_it_must_is_by_the_host, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        dnnl_agrees_with_the_host, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        xnnpack_agrees_with_the_host, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
