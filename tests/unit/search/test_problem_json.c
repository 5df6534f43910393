#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/json.h"
#include "search/problem_json.h"
#include "tests/support/problems.h"

static const struct problem_mix everything = {6, 10, 3, 3, .launches = true,
    .limits = true, .marks = true, .taps = true, .resources = true,
    .parts = true, .local = true};

static char *
to_text(const struct problem *p, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	struct json j;

	json_init(&j, f, 1);
	problem_write(p, &j);
	fclose(f);
	return text;
}

/* What is written is read back as a problem that is written the same, and has
 * the same optimum. */
static void
round_trip(void **state)
{
	struct search_options o = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct rng r = rng_seeded(seed);
		struct err err = {0};
		struct search_result x, y;
		struct problem back;
		struct problem *p;
		struct arena a;
		char *one, *two;
		size_t n, m;

		arena_init(&a);
		p = problem_random(&r, &everything, &a);
		one = to_text(p, &n);
		if (!problem_parse(&back, one, n, "p", &a, &err))
			fail_msg("%s", err.text);
		two = to_text(&back, &m);
		assert_string_equal(one, two);
		assert_true(search_exact(&x, p, &o, &a, &err));
		assert_true(search_exact(&y, &back, &o, &a, &err));
		assert_int_equal(x.found, y.found);
		assert_int_equal(x.lower_bound, y.lower_bound);
		free(one);
		free(two);
		arena_release(&a);
	}
}

static void
refuses(const char *text, const char *why)
{
	struct err err = {0};
	struct problem p;
	struct arena a;

	arena_init(&a);
	assert_false(problem_parse(&p, text, strlen(text), "p", &a, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	arena_release(&a);
}

#define DOC(values, nodes, candidates) \
	"{\"schema\":\"marq.problem/1\",\"formats\":[\"f\"]," \
	"\"targets\":[{\"name\":\"t\"}],\"conversions\":[[[0]]]," \
	"\"values\":[" values "],\"nodes\":[" nodes \
	"],\"candidates\":[" candidates "]}"
#define FED "{\"initial\":[0]}"

static void
faults_are_named(void **state)
{
	(void)state;
	refuses("[]", "not an object");
	refuses("{\"schema\":\"marq.problem/9\"}", "want 'marq.problem/1'");
	refuses(DOC("{}", "", ""), "either a producer or initial formats");
	refuses(DOC(FED ",{}", "{\"inputs\":[1],\"outputs\":[1]}", ""),
	    "produced later");
	refuses(DOC(FED ",{}", "{\"outputs\":[1]},{\"outputs\":[1]}", ""),
	    "two producers");
	refuses(DOC(FED ",{}", "{\"inputs\":[0],\"outputs\":[1]}",
	            "{\"target\":0,\"cost\":1,\"nodes\":[0]}"),
	    "candidate 0: value 0 goes in without a port");
	refuses(DOC(FED ",{}", "{\"inputs\":[0],\"outputs\":[1]}",
	            "{\"target\":0,\"cost\":1.5,\"nodes\":[0]}"),
	    "not an integer");
	refuses(DOC(FED ",{}", "{\"inputs\":[0],\"outputs\":[1]}",
	            "{\"target\":3,\"cost\":1,\"nodes\":[0]}"),
	    "target 3 of 1");
	refuses(DOC("{\"initial\":[0],\"colour\":1}", "", ""), "colour");
	refuses(DOC(FED ",{},{},{}",
	            "{\"inputs\":[0],\"outputs\":[1]},"
	            "{\"inputs\":[1],\"outputs\":[2]},"
	            "{\"inputs\":[1,2],\"outputs\":[3]}",
	            "{\"target\":0,\"cost\":1,\"nodes\":[0,2],"
	            "\"inputs\":[[0,0],[2,0]],\"outputs\":[[1,0]]}"),
	    "not convex");
	refuses(DOC(FED "," FED ",{}", "{\"inputs\":[0],\"outputs\":[2]}",
	            "{\"target\":0,\"cost\":1,\"nodes\":[0],"
	            "\"inputs\":[[0,0],[1,0]]}"),
	    "candidate 0: inputs[1]: value 1 is read by none of its nodes");
}

/* A problem with one node and one candidate of this cost. */
#define COST(cost) \
	DOC(FED ",{\"required\":[0]}", "{\"inputs\":[0],\"outputs\":[1]}", \
	    "{\"target\":0,\"cost\":" cost ",\"nodes\":[0]," \
	    "\"inputs\":[[0,0]],\"outputs\":[[1,0]]}")

static void
costs(const char *text, cost_ns want)
{
	struct search_options o = {0};
	struct err err = {0};
	struct search_result r;
	struct problem p;
	struct arena a;

	arena_init(&a);
	if (!problem_parse(&p, text, strlen(text), "p", &a, &err))
		fail_msg("%s", err.text);
	assert_true(search_exact(&r, &p, &o, &a, &err));
	assert_true(r.proven);
	assert_int_equal(r.found, want != COST_NEVER);
	if (r.found)
		assert_int_equal(r.cover.cost, want);
	arena_release(&a);
}

static void
costs_are_exact(void **state)
{
	(void)state;
	costs(COST("0"), 0);
	costs(COST("1e3"), 1000);
	costs(COST("9007199254740991"), UINT64_C(9007199254740991));
	costs(COST("9007199254740992"), UINT64_C(9007199254740992));
	costs(COST("9007199254740993"), UINT64_C(9007199254740993));
	costs(COST("4611686018427387903"), UINT64_C(4611686018427387903));
	costs(COST("4611686018427387904"), UINT64_C(4611686018427387904));
	costs(COST("null"), COST_NEVER);
	refuses(COST("4611686018427387905"), "not an integer from 0 to 2^62");
	refuses(COST("18446744073709551617"), "not an integer from 0 to 2^62");
	refuses(COST("1e19"), "not an integer from 0 to 2^62");
	refuses(COST("-1"), "not an integer from 0 to 2^62");
	refuses(COST("-9007199254740993"), "not an integer from 0 to 2^62");
	refuses(COST("9007199254740993.0"), "not an integer from 0 to 2^62");
	refuses(COST("010"), "no such number");
	refuses(COST("1."), "no such number");
	refuses(COST("1e"), "not valid JSON");
	refuses(COST("+1"), "not valid JSON");
}

#define LAUNCH(launch) \
	"{\"schema\":\"marq.problem/1\",\"formats\":[\"f\"]," \
	"\"targets\":[{\"name\":\"t\"" launch "},{\"name\":\"u\"}]," \
	"\"values\":[{\"initial\":[0]},{\"required\":[0]}]," \
	"\"nodes\":[{\"inputs\":[0],\"outputs\":[1]}],\"candidates\":[" \
	"{\"target\":0,\"cost\":1,\"nodes\":[0]," \
	"\"inputs\":[[0,0]],\"outputs\":[[1,0]]}," \
	"{\"target\":1,\"cost\":9,\"nodes\":[0]," \
	"\"inputs\":[[0,0]],\"outputs\":[[1,0]]}]}"

static void
launch_may_be_impossible(void **state)
{
	(void)state;
	costs(LAUNCH(""), 1);
	costs(LAUNCH(",\"launch\":0"), 1);
	costs(LAUNCH(",\"launch\":5"), 6);
	costs(LAUNCH(",\"launch\":null"), 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip),
	    cmocka_unit_test(faults_are_named),
	    cmocka_unit_test(costs_are_exact),
	    cmocka_unit_test(launch_may_be_impossible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
