/* What is set up before a plan's first run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "exec/executor.h"
#include "tests/support/denormals.h"
#include "tests/support/plans.h"

#define THREADS 3u

/* A library's threads may be older than the plan, with the mode of who needed them. */
static void
denormals_are_zeros_in_all_threads(void **state)
{
	const struct executor_options o = {.threads = THREADS};
	const uint32_t mode = float_mode();
	struct graph g = {0};
	const struct plan p = {.graph = &g};
	struct err err = {.kind = ERR_NONE};
	struct executor *x;
	struct arena a;

	(void)state;
	if (FLOAT_ZEROS == 0 || !dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
		skip();
	assert_int_equal(threads_of_zeros(THREADS), 0);
	arena_init(&a);
	assert_true(executor_open(&x, &p, &o, &a, &err));
	assert_true(executor_run(x, NULL, NULL, &err));
	assert_int_equal(threads_of_zeros(THREADS), THREADS - 1);
	assert_int_equal(float_mode(), mode);
	executor_close(x);
	arena_release(&a);
}

#define COMPILED_MOST 32u

static size_t compiled[COMPILED_MOST]; /* bytes of each one's constants */
static uint32_t ncompiled;

static bool
note_weights(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	size_t bytes = 0;

	(void)t, (void)a, (void)err;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (node_in(g, n, k) && node_in(g, n, k)->constant)
				bytes += node_in(g, n, k)->constant->bytes;
	}
	assert_true(ncompiled < COMPILED_MOST);
	compiled[ncompiled++] = bytes;
	*out = (struct kernel){.candidate = c};
	return true;
}

/* Two targets that can compile anything. */
static void
make_able(struct mix *mix, struct target target[2], struct target_kind kind[2])
{
	for (uint32_t i = 0; i < 2; i++) {
		target[i] = mix->target[i];
		kind[i] = *target[i].kind;
		kind[i].compile = note_weights;
		target[i].kind = &kind[i];
	}
	mix->target = target;
}

/* Weights that are being packed are there twice: the most of them beside the least. */
static void
most_weights_are_packed_first(void **state)
{
	const struct executor_options o = {.threads = 1};
	struct err err = {.kind = ERR_NONE};
	struct target target[2];
	struct target_kind kind[2];
	struct small_plan s;
	struct executor *x;
	struct arena a;

	(void)state;
	arena_init(&a);
	small_plan_init(&s, false, &a);
	assert_int_equal(s.mix.n, 2);
	make_able(&s.mix, target, kind);
	ncompiled = 0;
	assert_true(executor_open(&x, &s.plan, &o, &a, &err));
	assert_int_equal(ncompiled, s.plan.ncomposites);
	assert_true(ncompiled > 3 && compiled[0] > compiled[1]);
	for (uint32_t i = 1; i < ncompiled; i++)
		assert_true(compiled[i - 1] >= compiled[i]);
	executor_close(x);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(denormals_are_zeros_in_all_threads),
	    cmocka_unit_test(most_weights_are_packed_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
