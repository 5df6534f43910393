/* Marvell's tools through command templates, played by stand-ins that work,
 * fail, hang, are missing and write garbage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "targets/mrvl/legacy.h"
#include "targets/mrvl/tools.h"
#include "tests/support/make.h"
#include "tests/support/scratch.h"

#define ELEMENTS 100

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct legacy legacy;
static char work[4096], header[8192];

static void
put(unsigned char *p, uint64_t x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(x >> (8 * i));
}

static void
good_header(unsigned char *p)
{
	memset(p, 0, 512);
	memcpy(p, "MRVL", 4);
	p[4] = 2;
	put(p + 140, 128, 4);
	put(p + 324, 1000, 4);
	put(p + 328, 2000, 4);
	p[343] = 7;
	p[344] = 1;
	p[345] = 1;
	p[346] = 1;
	put(p + 348, 2 * ELEMENTS, 4);
	put(p + 360, 1, 4);
	put(p + 368, 0xf0000, 8);
	put(p + 384, 4095, 8);
}

static void
write_header(const unsigned char *p, size_t n)
{
	FILE *f = fopen(header, "wb");

	assert_non_null(f);
	fwrite(p, 1, n, f);
	fclose(f);
}

/* One convolution whose output has as many elements as its input. */
static int
setup(void **state)
{
	const char *text = "mrvl:num_tiles=4";
	struct err err = {.kind = ERR_NONE};
	unsigned char bytes[512];
	value_id x, w;

	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	x = make_input(&m, DIMS(1, 4, 5, 5));
	w = make_constant(&m, DIMS(4, 4, 1, 1), -1, 1);
	make_output(&m, MAKE(&m, CONV, x, w));
	make_end(&m);
	snprintf(work, sizeof work, "%s/tools", scratch_folder());
	if (!mix_open(&mix, &text, 1, &arena, &err)
	    || !mrvl_legacy(&legacy, m.graph, &arena, &err)
	    || mkdir(work, 0777) != 0)
		return -1;
	snprintf(header, sizeof header, "%s/header", work);
	good_header(bytes);
	write_header(bytes, sizeof bytes);
	return 0;
}

static int
teardown(void **state)
{
	int status = system(arena_printf(&arena, "rm -r '%s'", work));

	(void)state;
	arena_release(&arena);
	return status;
}

static struct tool_result
run_with(const struct mrvl_tools *t, float *out)
{
	static float in[ELEMENTS];
	const float *const inputs[] = {in};
	float *const outputs[] = {out};
	struct tool_job job = {t, &mix.target[0], &legacy.region[0]};
	struct err err = {.kind = ERR_NONE};
	struct tool_session *s;
	struct tool_result r;

	for (int i = 0; i < ELEMENTS; i++)
		in[i] = (float)i;
	if (!tool_session_open(&s, &r, &job, &arena, &err)
	    || (r.outcome == TOOL_OK && out
	        && !tool_session_run(s, &r, inputs, outputs, &err)))
		fail_msg("%s", err.text);
	tool_session_close(s, &r);
	return r;
}

static struct tool_result
run(const char *compiler, const char *simulator, uint32_t timeout_ms,
    float *out)
{
	struct mrvl_tools t = {.compiler = compiler,
	    .simulator = simulator,
	    .work = work,
	    .timeout_ms = timeout_ms ? timeout_ms : 60000};

	return run_with(&t, out);
}

static const char *
compiler(void)
{
	return arena_printf(&arena,
	    "grep -q tvmgen_mrvl_main_1_const_ {consts} && "
	    "grep -q Conv2D {nodes} && mkdir bin_{symbol} && cp '%s' {bin} && "
	    "echo {opts} -b {batch}",
	    header);
}

static void
test_compiled_and_simulated(void **state)
{
	float out[ELEMENTS] = {0};
	struct tool_result r =
	    run(compiler(), "cp {in} {out}-0.bin && test -s {bin}", 0, out);

	(void)state;
	assert_int_equal(r.outcome, TOOL_OK);
	assert_null(r.folder);
	assert_true(out[99] > 98.5f);
	assert_int_equal(r.binary.bytes, 512);
	assert_int_equal(r.binary.code_bytes, 1000);
	assert_int_equal(r.binary.data_bytes, 2000);
	assert_int_equal(r.binary.last_tile, 7);
	assert_int_equal(r.binary.input_bytes, 200);
	assert_int_equal(r.binary.scratch_floor, 0xf0000);
	assert_int_equal(r.binary.wb_last, 4095);
	/* nothing but the header is left in the work folder */
	assert_int_equal(
	    system(arena_printf(&arena, "test \"$(ls '%s')\" = header", work)),
	    0);
}

static void
test_failing(void **state)
{
	struct tool_result r = run("echo no such layer; exit 3", NULL, 0, NULL);

	(void)state;
	assert_int_equal(r.outcome, TOOL_FAILED);
	assert_non_null(strstr(r.detail, "status 3: no such layer"));
	assert_int_equal(
	    system(arena_printf(
	        &arena, "grep -q 'no such layer' '%s/compiler.log'", r.folder)),
	    0);
}

static void
test_missing(void **state)
{
	struct tool_result r = run("no-such-program {nodes}", NULL, 0, NULL);

	(void)state;
	assert_int_equal(r.outcome, TOOL_MISSING);
	assert_null(r.folder);
}

static void
test_hanging(void **state)
{
	time_t start = time(NULL);
	struct tool_result r = run("sleep 100 & sleep 100", NULL, 100, NULL);

	(void)state;
	assert_int_equal(r.outcome, TOOL_TIMEOUT);
	assert_true(time(NULL) - start < 20);
}

static void
test_killed(void **state)
{
	struct tool_result r = run("kill -SEGV $$", NULL, 0, NULL);

	(void)state;
	assert_int_equal(r.outcome, TOOL_CRASHED);
	assert_non_null(strstr(r.detail, "status 139"));
}

static void
test_nothing_left(void **state)
{
	(void)state;
	assert_int_equal(run("true", NULL, 0, NULL).outcome, TOOL_GARBAGE);
}

static void
test_garbage_binaries(void **state)
{
	static const struct {
		size_t at;
		unsigned char byte;
		const char *says;
	} bad[] = {{0, 'X', "MRVL"}, {140, 1, "architecture"},
	    {4, 9, "version"}, {343, 8, "tiles"}, {345, 2, "2 inputs"}};
	unsigned char bytes[512];
	struct tool_result r;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		good_header(bytes);
		bytes[bad[i].at] = bad[i].byte;
		write_header(bytes, sizeof bytes);
		r = run(compiler(), NULL, 0, NULL);
		assert_int_equal(r.outcome, TOOL_GARBAGE);
		if (!strstr(r.detail, bad[i].says))
			fail_msg("%s", r.detail);
	}
	write_header(bytes, 100);
	r = run(compiler(), NULL, 0, NULL);
	assert_int_equal(r.outcome, TOOL_GARBAGE);
}

static void
test_short_output(void **state)
{
	float out[ELEMENTS];
	struct tool_result r =
	    run(compiler(), "head -c 40 {in} > {out}-0.bin", 0, out);

	(void)state;
	assert_int_equal(r.outcome, TOOL_GARBAGE);
	assert_non_null(strstr(r.detail, "40 bytes, 400 are right"));
}

/* Weights of half a tile's memory and scratch of a little more. */
static void
test_too_large_to_load(void **state)
{
	unsigned char bytes[512];
	struct tool_result r;

	(void)state;
	good_header(bytes);
	put(bytes + 384, 0x80000 - 1, 8);
	put(bytes + 368, 0x80000, 8);
	write_header(bytes, sizeof bytes);
	assert_int_equal(run(compiler(), NULL, 0, NULL).outcome, TOOL_OK);
	put(bytes + 368, 0x80000 - 1, 8);
	write_header(bytes, sizeof bytes);
	r = run(compiler(), NULL, 0, NULL);
	assert_int_equal(r.outcome, TOOL_FAILED);
	assert_non_null(strstr(r.detail, "1064960 bytes of each tile"));
}

static void
test_latency(void **state)
{
	struct mrvl_tools t = {.compiler = compiler(),
	    .simulator = "cp {in} {out}-0.bin; echo total cycles=12; "
	                 "echo; echo total cycles=1250",
	    .timeout_ms = 60000,
	    .latency = "^total cycles=([0-9]+)$"};
	float out[ELEMENTS];
	struct tool_result r = run_with(&t, out);

	(void)state;
	assert_int_equal(r.outcome, TOOL_OK);
	assert_int_equal((int)r.latency, 1250);
	t.latency = "^latency ([0-9]+)$";
	r = run_with(&t, out);
	assert_int_equal(r.outcome, TOOL_GARBAGE);
	assert_non_null(strstr(r.detail, "no latency"));
}

static void
expect_refused(const struct mrvl_tools *t, const char *says)
{
	struct err err = {.kind = ERR_NONE};

	assert_false(mrvl_tools_check(t, &arena, &err));
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.text, says))
		fail_msg("%s", err.text);
}

static void
test_bad_templates(void **state)
{
	(void)state;
	expect_refused(&(struct mrvl_tools){.compiler = "cc {nose}"}, "{nose}");
	expect_refused(&(struct mrvl_tools){.compiler = "cc {in}"}, "{in}");
	expect_refused(&(struct mrvl_tools){.simulator = "a\nb"}, "one line");
	expect_refused(&(struct mrvl_tools){.latency = "("}, "latency");
	expect_refused(&(struct mrvl_tools){.latency = "[0-9]+"}, "no group");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_compiled_and_simulated),
	    TEST(test_failing),
	    TEST(test_missing),
	    TEST(test_hanging),
	    TEST(test_killed),
	    TEST(test_nothing_left),
	    TEST(test_garbage_binaries),
	    TEST(test_short_output),
	    TEST(test_too_large_to_load),
	    TEST(test_latency),
	    TEST(test_bad_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
