/* Measuring: real timings of a kernel that waits, and candidates that crash,
 * hang, blow up, compute nonsense or refuse cost one candidate each. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/machine_facts.h"
#include "costmodel/measure.h"
#include "ir/base/buf.h"
#include "ir/base/clock.h"
#include "ir/base/sanitized.h"
#include "targets/host/host.h"
#include "tests/support/make.h"

enum way {
	GOOD,
	WAITS, /* 2 ms */
	GARBAGE,
	SEGFAULT,
	SPIN,
	MEMORY, /* 30 GB */
	REFUSE,
	EXIT,
	ABORT,
	TARDY, /* once: computes on and off beyond its limit of wall time */
	DOZE, /* for good */
	NWAYS
};

#define ELEMENTS 1000

static void
relu(const void *const *in, void *const *out)
{
	const float *x = in[0];
	float *y = out[0];

	for (uint32_t i = 0; i < ELEMENTS; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}

static void
grab(void)
{
	for (uint32_t i = 0; i < 30; i++) {
		char *p = malloc((size_t)1 << 30);

		for (size_t k = 0; k < (size_t)1 << 30; k += 4096)
			((volatile char *)p)[k] = 1;
	}
}

/* As on a machine that does other things as well: half of the time at most goes
 * to this process, and that for longer than its limit. */
static uint64_t limit_ns;
static uint64_t *had_ns; /* of the processors meanwhile, told to the test */

static void
be_tardy(void)
{
	static bool was;
	const struct timespec nap = {.tv_nsec = 10000000};
	const uint64_t end = clock_ns() + limit_ns / 4 * 5;
	const uint64_t begin = clock_cpu_ns();

	while (!was && clock_ns() < end) {
		uint64_t cpu = clock_cpu_ns();

		while ((*had_ns = clock_cpu_ns() - begin)
		    < cpu - begin + 10000000u)
			;
		nanosleep(&nap, NULL);
	}
	was = true;
}

static void
fake_run(struct kernel *k, const void *const *in, void *const *out)
{
	volatile const char *nowhere = NULL;
	volatile bool always = true;
	struct timespec wait = {0, 2000000};

	relu(in, out);
	switch ((enum way)k->candidate->implementation) {
	case WAITS:
		nanosleep(&wait, NULL);
		break;
	case GARBAGE:
		memset(out[0], 0x3f, ELEMENTS * sizeof(float));
		break;
	case SEGFAULT:
		(void)*nowhere;
		break;
	case SPIN:
		while (always)
			;
		break;
	case MEMORY:
		grab();
		break;
	case TARDY:
		be_tardy();
		break;
	case DOZE:
		while (always)
			pause();
		break;
	case EXIT:
		exit(3);
	case ABORT:
		fprintf(stderr, "fake: giving up\n");
		abort();
	default:
		break;
	}
}

static bool
fake_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	(void)g, (void)a;
	if (c->implementation == REFUSE)
		return err_set(err, ERR_UNSUPPORTED, "not today");
	*out =
	    (struct kernel){.kind = t->kind, .candidate = c, .run = fake_run};
	return true;
}

static uint32_t
fake_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m, (void)f;
	assert_true(max >= NWAYS);
	for (uint32_t i = 0; i < NWAYS; i++)
		out[i] = (struct implementation){.name = "", .number = i};
	return NWAYS;
}

static const struct rule fake_rules[] = {
    {.name = "fake.relu", .pattern = NODE(RELU, ANY)}};
static const struct target_kind fake = {
    .name = "fake",
    .rule = fake_rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .implementations = fake_ways,
    .compile = fake_compile,
};

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;
static struct sample result[NWAYS + 8];
static uint32_t ndone;
static atomic_bool stop;

static int
setup(void **state)
{
	struct target *t;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	make_output(&m, MAKE(&m, RELU, make_input(&m, DIMS(1, 10, 10, 10))));
	make_end(&m);
	t = arena_new(&arena, struct target, 1);
	*t = (struct target){.kind = &fake, .text = "fake"};
	mix = (struct mix){.target = t, .n = 1};
	formats_init(&mix.formats);
	t->formats = &mix.formats;
	ndone = 0;
	memset(result, 0, sizeof result);
	atomic_store(&stop, false);
	return candidates_find(&found, m.graph, &mix, NULL, &arena, &err) ? 0
	                                                                  : -1;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void
take(void *context, uint32_t job, const struct sample *r)
{
	(void)context;
	result[job] = *r;
	ndone++;
}

static void
take_and_stop(void *context, uint32_t job, const struct sample *r)
{
	take(context, job, r);
	atomic_store(&stop, true);
}

static struct measurer *
open_limited(uint64_t timeout_ns)
{
	struct measure_options o = {
	    .graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .reference = host_eval,
	    .timeout_ns = timeout_ns,
	    .memory_bytes = (uint64_t)1 << 30,
	    .stop = &stop,
	};
	struct err err = {.kind = ERR_NONE};
	struct measurer *x;

	assert_true(measurer_open(&x, &o, &arena, &err));
	return x;
}

static struct measurer *
open_measurer(void)
{
	return open_limited(
	    UINT64_C(20000000000)); /* loaded machines are slow */
}

static void
run(struct measurer *x, const enum way *way, uint32_t n)
{
	struct err err = {.kind = ERR_NONE};
	struct measure_job job[NWAYS + 8];

	assert_true(n <= NWAYS + 8);
	for (uint32_t i = 0; i < n; i++)
		job[i] = (struct measure_job){.candidate = way[i]};
	assert_true(measurer_run(x, job, n, take, NULL, &err));
	assert_int_equal(ndone, n);
}

static void
test_good_and_waiting(void **state)
{
	struct measurer *x = open_measurer();

	(void)state;
	run(x, (const enum way[]){GOOD, WAITS}, 2);
	measurer_close(x);
	assert_true(result[0].outcome == OUTCOME_OK
	    || result[0].outcome == OUTCOME_NOISY);
	assert_true(result[0].max_error == 0);
	assert_true(result[0].min > 0 && result[0].min <= result[0].low);
	assert_true(result[0].low <= result[0].median);
	assert_true(result[0].median <= result[0].high);
	assert_true(result[1].low >= 2000000);
	assert_true(result[0].low < result[1].low);
	assert_true(result[0].span_ns > 0);
}

static void
test_each_fault_costs_one_candidate(void **state)
{
	static const enum way way[] = {
	    GOOD, SEGFAULT, GARBAGE, SPIN, GOOD, REFUSE, EXIT, ABORT, GOOD};
	static const enum outcome want[] = {OUTCOME_OK, OUTCOME_CRASH,
	    OUTCOME_WRONG, OUTCOME_TIMEOUT, OUTCOME_OK, OUTCOME_UNSUPPORTED,
	    OUTCOME_CRASH, OUTCOME_CRASH, OUTCOME_OK};
	struct measurer *x = open_measurer();

	(void)state;
	run(x, way, 9);
	measurer_close(x);
	for (uint32_t i = 0; i < 9; i++) {
		if (want[i] == OUTCOME_OK && result[i].outcome == OUTCOME_NOISY)
			continue;
		if (result[i].outcome != want[i])
			fail_msg("way %d: outcome %d (%s)", way[i],
			    result[i].outcome, result[i].detail);
		if (want[i] != OUTCOME_OK)
			assert_true(result[i].detail[0] != '\0');
	}
	assert_non_null(strstr(result[7].detail, "giving up"));
	assert_non_null(strstr(result[5].detail, "not today"));
}

/* Who computes has as long again, who sleeps has not. A machine that gives the
 * worker next to nothing is asked again, with more time; if that never is twice of
 * what counts as computing, there is nothing to see on it. */
static void
test_limit_is_of_processor_time(void **state)
{
	static const enum way way[] = {TARDY, DOZE};
	struct measurer *x;

	(void)state;
	had_ns = mmap(NULL, sizeof *had_ns, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(had_ns, MAP_FAILED);
	limit_ns = 1000000000;
	for (uint32_t i = 0; i < 4; i++, limit_ns *= 2) {
		ndone = 0;
		x = open_limited(limit_ns);
		run(x, way, 2);
		measurer_close(x);
		assert_int_equal(result[1].outcome, OUTCOME_TIMEOUT);
		if (result[0].outcome != OUTCOME_TIMEOUT)
			break;
		if (i == 3 && *had_ns < limit_ns / 8)
			skip();
	}
	munmap(had_ns, sizeof *had_ns);
	assert_true(result[0].outcome == OUTCOME_OK
	    || result[0].outcome == OUTCOME_NOISY);
}

/* A probe is quick, unchecked and sees what crashes. */
static void
test_probe(void **state)
{
	static const enum way way[] = {WAITS, GARBAGE, SEGFAULT, GOOD};
	struct err err = {.kind = ERR_NONE};
	struct measurer *x = open_measurer();
	struct measure_job job[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		job[i] =
		    (struct measure_job){.candidate = way[i], .probe = true};
	assert_true(measurer_run(x, job, 4, take, NULL, &err));
	measurer_close(x);
	assert_int_equal(ndone, 4);
	assert_true(result[0].min >= 2000000 && result[0].n <= 10);
	assert_true(result[1].outcome == OUTCOME_OK
	    || result[1].outcome == OUTCOME_NOISY);
	assert_int_equal(result[2].outcome, OUTCOME_CRASH);
	assert_true(result[3].min > 0 && result[3].min < result[0].min);
}

static void
test_pair(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct measurer *x = open_measurer();
	const struct measure_job job[2] = {
	    {.candidate = WAITS, .is_pair = true, .second = WAITS},
	    {.candidate = WAITS, .is_pair = true, .second = GOOD},
	};

	(void)state;
	assert_true(measurer_run(x, job, 2, take, NULL, &err));
	measurer_close(x);
	assert_int_equal(ndone, 2);
	assert_in_range(result[0].median, 500000, 2000000);
	assert_true(result[1].high < 500000);
	assert_true(result[0].low <= result[0].high);
}

static void
test_memory_blow_up(void **state)
{
	struct measurer *x;

	(void)state;
	if (SANITIZED) {
		printf("skipped: sanitizers reserve address space\n");
		skip();
	}
	x = open_measurer();
	run(x, (const enum way[]){MEMORY, GOOD}, 2);
	measurer_close(x);
	assert_int_equal(result[0].outcome, OUTCOME_OOM);
	assert_true(result[1].outcome == OUTCOME_OK
	    || result[1].outcome == OUTCOME_NOISY);
}

static void
test_stop_ends_early(void **state)
{
	struct measure_job job[17];
	struct err err = {.kind = ERR_NONE};
	struct measurer *x = open_measurer();

	(void)state;
	for (uint32_t i = 0; i < 17; i++)
		job[i] = (struct measure_job){.candidate = WAITS};
	assert_true(measurer_run(x, job, 17, take_and_stop, NULL, &err));
	measurer_close(x);
	assert_true(ndone >= 1 && ndone < 17);
}

static void
test_conversion(void **state)
{
	struct err err = {.kind = ERR_NONE};
	format_id last = format_intern(&mix.formats,
	    (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	struct measure_job job = {.candidate = UINT32_MAX,
	    .value = m.graph->input[0],
	    .from = FORMAT_PLAIN,
	    .to = last};
	struct measurer *x = open_measurer();

	(void)state;
	assert_true(measurer_run(x, &job, 1, take, NULL, &err));
	measurer_close(x);
	assert_int_equal(ndone, 1);
	assert_true(result[0].low > 0);
}

static void
test_environment_says_what_matters(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	measure_environment(&b, 3);
	assert_non_null(strstr(b.data, "threads=3\n"));
	assert_non_null(strstr(b.data, "protocol="));
	assert_non_null(strstr(b.data, "cpu."));
	assert_non_null(strstr(b.data, "isa="));
	buf_release(&b);
}

static void
test_too_many_threads(void **state)
{
	struct measure_options o = {.graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .threads = 100000};
	struct err err = {.kind = ERR_NONE};
	struct measurer *x;

	(void)state;
	assert_false(measurer_open(&x, &o, &arena, &err));
	assert_int_equal(err.kind, ERR_USAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_good_and_waiting),
	    TEST(test_each_fault_costs_one_candidate),
	    TEST(test_limit_is_of_processor_time),
	    TEST(test_probe),
	    TEST(test_pair),
	    TEST(test_memory_blow_up),
	    TEST(test_stop_ends_early),
	    TEST(test_conversion),
	    TEST(test_environment_says_what_matters),
	    TEST(test_too_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
