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
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip),
	    cmocka_unit_test(faults_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
