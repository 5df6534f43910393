/* Calibration recovers the parameters that synthetic measurements were made
 * with, with and without noise, and leaves alone what they do not determine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/mrvl/probe.h"
#include "tests/support/support.h"

static struct arena arena;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct tool_sample
conv(int64_t hw, int64_t c, int64_t o, uint32_t tiles, bool int8, bool pinned)
{
	double size = int8 ? 1 : 2;
	struct tool_sample s = {.kind = SAMPLE_LAYER,
	    .tiles = tiles,
	    .int8 = int8,
	    .pinned = pinned};

	s.work = (struct mrvl_work){.dense_factor = 1,
	    .channels_in = c,
	    .channels_out = o,
	    .pixels = hw * hw,
	    .macs = (double)(hw * hw * c * o),
	    .weight_bytes = size * (double)(c * o),
	    .in_bytes = size * (double)(hw * hw * c),
	    .out_bytes = size * (double)(hw * hw * o)};
	return s;
}

static struct tool_sample
pool(int64_t hw, int64_t c)
{
	struct tool_sample s = conv(hw, c, c, 8, false, true);

	s.work.macs = s.work.weight_bytes = 0;
	s.work.vector_bytes = 10 * s.work.out_bytes;
	return s;
}

/* The sweeps of a calibration, timed by a simulator with known parameters. */
static struct board_samples
sweep(const struct setting *truth, double noise, bool with_cpu)
{
	static const uint32_t tiles[] = {1, 2, 4, 8};
	struct tool_sample *s = arena_new(&arena, struct tool_sample, 400);
	struct board_samples out = {.board = "synthetic", .sample = s};
	struct rng r = rng_seeded(7);

	for (int64_t c = 8; c <= 512; c += c < 64 ? 8 : 64)
		for (uint32_t t = 0; t < 4; t++)
			s[out.n++] =
			    conv(28, c, c, tiles[t], c % 128 == 0, t != 3);
	for (int64_t hw = 7; hw <= 112; hw += 7) {
		s[out.n++] = pool(hw, 64);
		s[out.n++] = conv(hw, 3, 32, 8, false, true);
	}
	for (int64_t c = 256; c <= 4096; c += 256)
		s[out.n++] = conv(1, c, 1000, 8, false, false);
	for (uint32_t i = 0; i < 4; i++)
		s[out.n++] =
		    (struct tool_sample){.kind = SAMPLE_JOB, .tiles = 8};
	for (uint32_t i = 1; with_cpu && i < 8; i++)
		s[out.n++] = (struct tool_sample){.kind = SAMPLE_QUANTIZE,
		    .tiles = 8,
		    .elements = 1000.0 * i};
	for (uint32_t i = 0; i < out.n; i++) {
		double wobble =
		    noise * ((double)rng_below(&r, 2001) / 1000 - 1);

		s[i].ns = sample_ns(&s[i], truth) * (1 + wobble);
	}
	return out;
}

static struct setting
other_truth(void)
{
	struct params p;
	struct setting s;

	params_default(&p);
	s = setting_of(&p);
	s.value[PARAM_int8_tops] = 13;
	s.value[PARAM_fp16_ratio] = 0.31;
	s.value[PARAM_granularity] = 16;
	s.value[PARAM_vector_gbps] = 90;
	s.value[PARAM_layer_ns] = 1300;
	s.value[PARAM_dma_gbps] = 31;
	s.value[PARAM_job_ns] = 4200;
	s.value[PARAM_quant_gbps] = 9.5;
	return s;
}

static void
assert_near(const struct fit *f, const struct setting *truth, double tolerance)
{
	for (uint32_t i = 0; i < NPARAM; i++) {
		double ratio = f->params.param[i].value / truth->value[i];

		if (truth->value[i] > 0 && fabs(log(ratio)) > tolerance)
			fail_msg("%s: %g, was %g",
			    param_info((enum param)i)->name,
			    f->params.param[i].value, truth->value[i]);
	}
}

static void
test_recovers_exact(void **state)
{
	struct setting truth = other_truth();
	struct board_samples s = sweep(&truth, 0, true);
	struct params from;
	struct err err = {.kind = ERR_NONE};
	struct fit fit;

	(void)state;
	params_default(&from);
	assert_true(calibrate(&fit, &s, &from, &arena, &err));
	assert_true(fit.before > 0.1);
	assert_true(fit.after < 1e-4);
	assert_near(&fit, &truth, 1e-3);
	assert_int_equal(
	    fit.params.param[PARAM_dma_gbps].provenance, PROVENANCE_CALIBRATED);
	assert_int_equal(
	    fit.params.param[PARAM_tiles].provenance, PROVENANCE_PUBLISHED);
}

static void
test_recovers_from_noise(void **state)
{
	struct setting truth = other_truth();
	struct board_samples s = sweep(&truth, 0.05, true);
	struct params from;
	struct err err = {.kind = ERR_NONE};
	struct fit fit;
	uint32_t nsure = 0;

	(void)state;
	params_default(&from);
	assert_true(calibrate(&fit, &s, &from, &arena, &err));
	assert_true(fit.after < 0.05);
	for (uint32_t i = 0; i < NPARAM; i++) {
		const struct param_value *v = &fit.params.param[i];

		assert_true(v->low <= v->value && v->value <= v->high);
		if (!fit.moved[i])
			continue;
		nsure++;
		assert_true(
		    fabs(v->value - truth.value[i]) < 0.1 * truth.value[i]);
	}
	assert_true(nsure >= 7);
}

static void
test_undetermined_stays_assumed(void **state)
{
	struct setting truth = other_truth();
	struct board_samples s = sweep(&truth, 0, false);
	struct params from;
	struct err err = {.kind = ERR_NONE};
	struct fit fit;

	(void)state;
	params_default(&from);
	assert_true(calibrate(&fit, &s, &from, &arena, &err));
	assert_false(fit.moved[PARAM_quant_gbps]);
	assert_int_equal(
	    fit.params.param[PARAM_quant_gbps].provenance, PROVENANCE_ASSUMED);
	assert_true(fit.moved[PARAM_job_ns]);
}

static void
test_nothing_to_fit(void **state)
{
	struct board_samples none = {.board = "none"};
	struct params from;
	struct err err = {.kind = ERR_NONE};
	struct fit fit;

	(void)state;
	params_default(&from);
	assert_false(calibrate(&fit, &none, &from, &arena, &err));
	assert_int_equal(err.kind, ERR_INPUT);
}

static void
test_too_few(void **state)
{
	struct setting truth = other_truth();
	struct board_samples s = sweep(&truth, 0, true);
	struct params from;
	struct err err = {.kind = ERR_NONE};
	struct fit fit;

	(void)state;
	params_default(&from);
	s.n = 3;
	assert_false(calibrate(&fit, &s, &from, &arena, &err));
	assert_non_null(strstr(err.text, "cannot determine"));
}

/* What the board would print: the simulator at hidden parameters, with 3 % of
 * noise. */
static const char *
board(const struct setting *truth, bool int8)
{
	const char *path = arena_printf(&arena, "stats-%d.txt", int8);
	FILE *f = fopen(path, "w");
	struct rng r = rng_seeded(11);
	uint32_t n;
	const struct probe *p = probes(&n, &arena);

	assert_non_null(f);
	fprintf(f, " ML Device Extended Statistics\n");
	fprintf(f, " %-64s = 12345\n", "resnet50-Avg-HW-Latency-ns");
	for (uint32_t i = 0; i < n; i++) {
		struct tool_sample s = probe_sample(&p[i]);
		const char *name = probe_name(&p[i], &arena), *line;

		for (uint32_t kind = 0; kind < 2 && (int8 || !p[i].int8);
		     kind++) {
			double wobble =
			    0.03 * ((double)rng_below(&r, 2001) / 1000 - 1);

			s.kind = kind ? SAMPLE_JOB : SAMPLE_LAYER;
			line = arena_printf(&arena, "%s-Avg-%s-Latency-ns",
			    name, kind ? "FW" : "HW");
			fprintf(f, " %-64s = %.0f\n", line,
			    sample_ns(&s, truth) * (1 + wobble));
		}
	}
	fclose(f);
	return path;
}

static void
test_recovers_a_board(void **state)
{
	static const enum param sure[] = {PARAM_int8_tops, PARAM_fp16_ratio,
	    PARAM_granularity, PARAM_vector_gbps, PARAM_layer_ns,
	    PARAM_dma_gbps, PARAM_job_ns, PARAM_depthwise_as_dense};
	struct setting truth = other_truth();
	struct params from;
	struct board_samples s;
	struct fit fit;
	uint32_t others;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	params_default(&from);
	truth.value[PARAM_depthwise_as_dense] = 0;
	assert_true(
	    probes_stats(&s, &others, board(&truth, true), &arena, &err));
	assert_int_equal(others, 1);
	assert_true(calibrate(&fit, &s, &from, &arena, &err));
	for (size_t i = 0; i < sizeof sure / sizeof sure[0]; i++)
		if (!fit.moved[sure[i]])
			fail_msg("%s is not identified: %g",
			    param_info(sure[i])->name, fit.spread[sure[i]]);
	for (uint32_t i = 0; i < NPARAM; i++) {
		double want = truth.value[i], have = fit.params.param[i].value;

		if (fit.moved[i] && fabs(have - want) > 0.1 * want)
			fail_msg("%s: %g, was %g",
			    param_info((enum param)i)->name, have, want);
	}
	assert_false(fit.moved[PARAM_quant_gbps]);
	assert_false(fit.moved[PARAM_scratch_floor]);
	assert_false(fit.one_type);
}

/* Without int8 the two rates are known as a product. */
static void
test_one_type_is_said(void **state)
{
	struct setting truth = other_truth();
	struct params from;
	struct board_samples s;
	struct fit fit;
	uint32_t others;
	struct err err = {.kind = ERR_NONE};
	double product;

	(void)state;
	params_default(&from);
	assert_true(
	    probes_stats(&s, &others, board(&truth, false), &arena, &err));
	assert_true(calibrate(&fit, &s, &from, &arena, &err));
	assert_true(fit.one_type);
	assert_false(fit.moved[PARAM_fp16_ratio]);
	product = fit.params.param[PARAM_int8_tops].value
	    * fit.params.param[PARAM_fp16_ratio].value;
	assert_true(fabs(product - 13 * 0.31) < 0.1 * 13 * 0.31);
}

static void
test_stats_that_cannot_be(void **state)
{
	static const struct {
		const char *line, *said;
	} bad[] = {
	    {"fc_h1w1c256o1024k1g1_t8_fp16_stream-Avg-HW-Latency-cycles = 7",
	        "cycles"},
	    {"fc_h1w1c256o1024k1g1_t8_fp16_stream-Avg-HW-Latency-ns = x",
	        "no number"},
	    {"fc_h1w1c256o1024k1g1_t8_fp16_stream-Avg-HW-Latency-ns", "no '='"},
	    {"resnet-Avg-HW-Latency-ns = 7", "no latency of a probe"},
	    {"fc_h0w1c256o1024k1g1_t8_fp16_stream-Avg-HW-Latency-ns = 7",
	        "no latency of a probe"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = {.kind = ERR_NONE};
		FILE *f = fopen("bad-stats.txt", "w");
		struct board_samples s;
		uint32_t others;

		assert_non_null(f);
		fprintf(f, "%s\n", bad[i].line);
		fclose(f);
		assert_false(
		    probes_stats(&s, &others, "bad-stats.txt", &arena, &err));
		assert_int_equal(err.kind, ERR_INPUT);
		assert_non_null(strstr(err.text, bad[i].said));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recovers_exact),
	    cmocka_unit_test(test_recovers_from_noise),
	    cmocka_unit_test(test_undetermined_stays_assumed),
	    cmocka_unit_test(test_nothing_to_fit),
	    cmocka_unit_test(test_too_few),
	    cmocka_unit_test(test_recovers_a_board),
	    cmocka_unit_test(test_one_type_is_said),
	    cmocka_unit_test(test_stats_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
