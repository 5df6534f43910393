/* Formats that are local to a run, on problems small enough to add up by hand:
 * bringing a value in costs 10, taking it out 7, a launch 1, every node 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "search/check.h"
#include "search/transfer_sets.h"
#include "search/problem_json.h"

enum { ENTRY = 10, OUT = 7, LAUNCH = 1, EACH = 1 };

#define DEVICE \
	"\"schema\":\"marq.problem/1\",\"formats\":[\"host\",\"device\"]," \
	"\"local\":[1],\"targets\":[{\"name\":\"acc\",\"launch\":1}," \
	"{\"name\":\"cpu\"}],\"conversions\":[[[0,10],[7,0]]],"
#define FED "{\"class\":0,\"initial\":[0]}"
#define INNER "{\"class\":0}"
#define WANTED "{\"class\":0,\"required\":[0]}"
#define ACC(node, in, out) \
	"{\"target\":0,\"cost\":1,\"nodes\":[" node "],\"inputs\":[" in \
	"],\"outputs\":[" out "]}"
#define CPU(node, in, out) \
	"{\"target\":1,\"cost\":1,\"nodes\":[" node "],\"inputs\":[" in \
	"],\"outputs\":[" out "]}"
#define NODE(in, out) "{\"inputs\":[" in "],\"outputs\":[" out "]}"

/* x -> n0 -> y -> n1 -> z, all on the accelerator. */
static const char chain[] =
    "{" DEVICE "\"values\":[" FED "," INNER "," WANTED "],"
    "\"nodes\":[" NODE("0", "1") "," NODE(
        "1", "2") "],"
                  "\"candidates\":[" ACC("0", "[0,1]", "[1,1]") "," ACC(
                      "1", "[1,1]", "[2,1]") "]}";

/* n0 makes y for n1 on the CPU, and for n2, which reads what n1 makes, too. */
static const char there_and_back[] =
    "{" DEVICE "\"values\":[" FED "," INNER "," INNER "," WANTED "],"
    "\"nodes\":[" NODE("0", "1") "," NODE("1", "2") "," NODE("1,2",
        "3") "],"
             "\"candidates\":[" ACC("0", "[0,1]", "[1,1]") "," CPU("1", "[1,0]",
                 "[2,0]") "," ACC("2", "[1,1],[2,1]", "[3,1]") "]}";

/* n0 -> n1 on the CPU -> n2; n3 reads what n0 reads, and nobody waits for it. */
static const char sharing[] =
    "{" DEVICE "\"values\":[" FED "," INNER "," INNER "," WANTED "," WANTED "],"
    "\"nodes\":[" NODE("0", "1") "," NODE("1", "2") "," NODE("2", "3") "," NODE(
        "0", "4") "],"
                  "\"candidates\":[" ACC("0", "[0,1]", "[1,1]") "," CPU(
                      "1", "[1,0]", "[2,0]") "," ACC("2", "[2,1]",
                      "[3,1]") "," ACC("3", "[0,1]", "[4,1]") "]}";

static struct arena arena;
static struct err err;
static struct problem problem;
static struct search_result best;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	err = (struct err){.kind = ERR_NONE};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void
solve(const char *text)
{
	struct search_options o = {0};

	if (!problem_parse(&problem, text, strlen(text), "p", &arena, &err)
	    || !search_exact(&best, &problem, &o, &arena, &err))
		fail_msg("%s", err.text);
	assert_true(best.found && best.proven);
}

static uint32_t
run_of(uint32_t node)
{
	for (uint32_t i = 0; i < best.cover.nsteps; i++)
		if (problem.candidate[best.cover.step[i].candidate].node[0]
		    == node)
			return best.cover.step[i].run;
	return UINT32_MAX;
}

static void
test_inside_a_run_nothing_is_paid(void **state)
{
	(void)state;
	solve(chain);
	assert_int_equal(best.cover.cost, 2 * EACH + LAUNCH + ENTRY + OUT);
}

static void
test_another_run_has_it_brought_in(void **state)
{
	(void)state;
	solve(there_and_back);
	assert_int_equal(
	    best.cover.cost, 3 * EACH + 2 * LAUNCH + 3 * ENTRY + 2 * OUT);
}

static void
test_readers_meet_where_it_is_brought_in(void **state)
{
	(void)state;
	solve(sharing);
	assert_int_equal(
	    best.cover.cost, 4 * EACH + 2 * LAUNCH + 2 * ENTRY + 3 * OUT);
	assert_int_equal(run_of(3), run_of(0));
	assert_int_not_equal(run_of(3), run_of(2));
}

static uint32_t
find_conversion(uint32_t value, uint32_t to)
{
	for (uint32_t i = 0; i < best.cover.nconversions; i++)
		if (best.cover.conversion[i].value == value
		    && best.cover.conversion[i].to == to)
			return i;
	fail();
	return 0;
}

/* What the judge says of the best cover with one conversion changed by hand. */
static const char *
judge(uint32_t at, struct cover_conversion by)
{
	struct cover c = best.cover;
	struct cover_conversion *list = arena_copy(
	    &arena, c.conversion, c.nconversions * sizeof *c.conversion);

	list[at] = by;
	c.conversion = list;
	err_clear(&err);
	return cover_check(&c, &problem, &arena, &err) ? "fine" : err.text;
}

static void
test_the_judge_knows_of_runs(void **state)
{
	const struct cover_conversion *list;
	uint32_t in, last;

	(void)state;
	solve(there_and_back);
	list = best.cover.conversion;
	in = find_conversion(1, 1);
	last = best.cover.nconversions - 1;
	assert_string_equal(judge(in, list[in]), "fine");
	/* y is brought in for a run of the CPU, and is gone when n2 reads it */
	assert_non_null(
	    strstr(judge(in, (struct cover_conversion){1, 0, 1, 1, ENTRY}),
	        "value 1 is not available in format 1"));
	assert_int_equal(list[last].value, 3);
	assert_non_null(
	    strstr(judge(last, (struct cover_conversion){3, 0, 1, 3, ENTRY}),
	        "its source is not available"));
	assert_non_null(
	    strstr(judge(last, (struct cover_conversion){2, 0, 1, 3, ENTRY}),
	        "for nobody"));
}

static void
refuses(const char *text, const char *why)
{
	assert_false(
	    problem_parse(&problem, text, strlen(text), "p", &arena, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	err_clear(&err);
}

static void
test_the_caller_has_none(void **state)
{
	(void)state;
	refuses("{" DEVICE "\"values\":[{\"class\":0,\"initial\":[1]}],"
	        "\"nodes\":[],\"candidates\":[]}",
	    "value 0: the caller cannot have it in a local format");
	refuses("{\"schema\":\"marq.problem/1\",\"formats\":[\"host\"],"
	        "\"local\":[1],\"targets\":[],\"values\":[],\"nodes\":[],"
	        "\"candidates\":[]}",
	    "a local format is beyond the 1 there are");
}

static void
test_sets_of_runs_are_kept_once(void **state)
{
	struct transfer_point first = {3, 1}, second = {1, 2};
	struct transfer_sets e;
	uint32_t a, b;

	(void)state;
	transfer_sets_init(&e, &arena);
	assert_false(transfer_set_has(&e, TRANSFERS_NONE, first));
	a = transfer_set_add(&e, TRANSFERS_NONE, first);
	assert_int_equal(transfer_set_add(&e, a, first), a);
	assert_true(transfer_set_has(&e, a, first));
	assert_false(transfer_set_has(&e, a, second));
	a = transfer_set_add(&e, a, second);
	b = transfer_set_add(&e, TRANSFERS_NONE, second);
	assert_int_not_equal(a, b);
	assert_int_equal(transfer_set_add(&e, b, first), a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        test_inside_a_run_nothing_is_paid, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_another_run_has_it_brought_in, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_readers_meet_where_it_is_brought_in, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_the_judge_knows_of_runs, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_the_caller_has_none, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_sets_of_runs_are_kept_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
