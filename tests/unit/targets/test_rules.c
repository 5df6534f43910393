/* Backends declared in a file: rules, conditions, costs, faults. */
#include <stdio.h>

#include "tests/support/found.h"
#include "tests/support/scratch.h"

#define HEAD \
	"{\"format\":\"marquetry-rules\",\"version\":1,\"summary\":\"npu\","
#define CONV "{\"name\":\"c\",\"pattern\":\"Relu?(conv:Conv(x:var, const))\","

/* A rule with one condition. */
#define WHERE(condition) \
	HEAD "\"rules\":[" CONV "\"where\":[{" condition \
	     "}],\"cost\":{\"ns\":1}}]}"

static bool
open_file(const char *json, struct err *err)
{
	const char *path = scratch_path("rules.json", &arena);
	const char *text = arena_printf(&arena, "rules:file=%s", path);
	FILE *f = fopen(path, "w");
	bool ok;

	assert_non_null(f);
	fputs(json, f);
	fclose(f);
	ok = mix_open(&mix, &text, 1, &arena, err);
	remove(path);
	return ok;
}

static void
conv_relu(int64_t batch)
{
	value_id x = make_input(&m, DIMS(batch, 2, 4, 4));
	value_id w = make_constant(&m, DIMS(3, 2, 1, 1), -1, 1);

	make_output(&m, MAKE(&m, RELU, MAKE(&m, CONV, x, w)));
	make_end(&m);
}

static void
test_rules_are_candidates(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct estimate e;
	uint32_t n = 0;

	(void)state;
	assert_true(
	    open_file(HEAD "\"launch_ns\":70,\"rules\":[" CONV
	                   "\"where\":[{\"of\":\"x\",\"dim\":0,\"max\":8}],"
	                   "\"cost\":{\"ns\":100,\"ns_per_element\":0.5}}]}",
	        &err));
	conv_relu(2);
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].target == 0) {
			const struct candidate *c = &found.candidate[i];
			const struct region r =
			    region_of(&mix.target[0], m.graph, &c, 1);

			n++;
			assert_true(mix.target[0].kind->simulate(&r, &e));
			assert_int_equal(e.ns, 100 + 96 / 2);
		}
	assert_int_equal(n, 2);
	assert_int_equal(mix.target[0].launch.ns, 70);
}

/* Of a composite of `rate` for each of 96 elements; COST_NEVER: it has none. */
static cost_ns
price_of(const char *ns, const char *rate)
{
	struct err err = {.kind = ERR_NONE};
	struct estimate e;
	const struct candidate *c;
	struct region r;

	assert_true(
	    open_file(arena_printf(&arena,
	                  HEAD "\"launch_ns\":%s,\"rules\":[" CONV
	                       "\"cost\":{\"ns\":%s,\"ns_per_element\":%s}}]}",
	                  ns, ns, rate),
	        &err));
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	c = found.candidate;
	assert_int_equal(c->target, 0);
	r = region_of(&mix.target[0], m.graph, &c, 1);
	return mix.target[0].kind->simulate(&r, &e) ? e.ns : COST_NEVER;
}

static void
test_costs_are_exact(void **state)
{
	(void)state;
	conv_relu(2);
	assert_true(
	    price_of("9007199254740993", "0") == UINT64_C(9007199254740993));
	assert_true(mix.target[0].launch.ns == UINT64_C(9007199254740993));
	assert_true(price_of("4611686018427387808", "1") == COST_MAX);
	assert_true(price_of("4611686018427387809", "1") == COST_NEVER);
	assert_true(price_of("4611686018427387904", "0") == COST_MAX);
	assert_true(price_of("0", "1e300") == COST_NEVER);
}

static void
test_conditions_refuse_with_words(void **state)
{
	struct candidate_options o = {.keep_refusals = true};
	struct err err = {.kind = ERR_NONE};
	const struct reason *r;

	(void)state;
	assert_true(open_file(HEAD
	    "\"rules\":[" CONV "\"where\":[{\"of\":\"x\",\"dim\":0,\"max\":8},"
	    "{\"of\":\"conv\",\"attribute\":\"group\",\"default\":1,"
	    "\"equals\":2},{\"of\":\"x\",\"dtype\":\"float32\"}],"
	    "\"cost\":{\"ns\":1}}]}",
	    &err));
	conv_relu(9);
	assert_true(candidates_find(&found, m.graph, &mix, &o, &arena, &err));
	assert_int_equal(found.nrefusals, 2);
	r = found.refusal[0].reason;
	assert_string_equal(r[0].actual, "x.dim0 = 9");
	assert_string_equal(r[0].required, "<= 8");
	assert_string_equal(r[1].actual, "conv.group = 1");
	assert_false(r[1].holds);
	assert_true(r[2].holds);
}

static void
test_faults_name_the_place(void **state)
{
	static const struct {
		const char *json, *says;
	} bad[] = {
	    {"{", "rules.json"},
	    {"{\"format\":\"x\",\"version\":1,\"summary\":\"\",\"rules\":[]}",
	        "'x' version 1"},
	    {HEAD "\"rules\":[{\"name\":\"a\",\"pattern\":\"Foo(*)\"}]}",
	        "rule 0"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":-1}}]}",
	        "'ns' is not an integer from 0 to 2^62"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":1.5}}]}",
	        "'ns' is not an integer"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":4611686018427387905}}]}",
	        "'ns' is not an integer"},
	    {HEAD "\"rules\":[" CONV
	          "\"cost\":{\"ns\":1,\"ns_per_element\":-1}}]}",
	        "'ns_per_element' is negative"},
	    {HEAD "\"rules\":[" CONV "\"where\":[{\"of\":\"x\"}],"
	          "\"cost\":{\"ns\":1}}]}",
	        "condition 0"},
	    {HEAD "\"rules\":[" CONV "\"where\":[{\"of\":\"x\",\"dtype\":"
	          "\"f33\"}],\"cost\":{\"ns\":1}}]}",
	        "f33"},
	    {HEAD "\"rules\":[" CONV "\"oops\":1,\"cost\":{\"ns\":1}}]}",
	        "oops"},
	    {HEAD "\"oops\":1,\"rules\":[]}", "oops"},
	    {HEAD "\"launch_ns\":null,\"rules\":[]}", "launch_ns"},
	    {HEAD "\"launch_ns\":1e19,\"rules\":[]}",
	        "'launch_ns' is not an integer from 0 to 2^62"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":1,\"oops\":1}}]}",
	        "oops"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":5e18}}]}", "2^62"},
	    {HEAD "\"rules\":[" CONV "\"taps\":1,\"cost\":{\"ns\":1}}]}",
	        "taps"},
	    {HEAD "\"rules\":[" CONV "\"cost\":{\"ns\":1}}," CONV
	          "\"cost\":{\"ns\":1}}]}",
	        "two rules 'c'"},
	    {HEAD "\"rules\":[{\"name\":\"a b\",\"pattern\":\"Relu(*)\"}]}",
	        "name 'a b'"},
	    {HEAD "\"rules\":[{\"name\":\"\",\"pattern\":\"Relu(*)\"}]}",
	        "name ''"},
	    {HEAD "\"rules\":[{\"name\":\"a\",\"pattern\":\"x:var\"}]}",
	        "no operator"},
	    {WHERE("\"of\":\"z\",\"rank\":4"), "'z'"},
	    {WHERE("\"of\":\"x\",\"rank\":-1"), "rank -1"},
	    {WHERE("\"of\":\"x\",\"rank\":4,\"dtype\":\"float32\""),
	        "unknown key 'dtype'"},
	    {WHERE("\"of\":\"x\",\"dim\":0,\"min\":2,\"max\":1"), "above"},
	    {WHERE("\"of\":\"x\",\"dim\":0,\"min\":2,\"equals\":3"), "beside"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = {.kind = ERR_NONE};

		assert_false(open_file(bad[i].json, &err));
		assert_int_equal(err.kind, ERR_INPUT);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s", err.text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_rules_are_candidates),
	    TEST(test_costs_are_exact),
	    TEST(test_conditions_refuse_with_words),
	    TEST(test_faults_name_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
