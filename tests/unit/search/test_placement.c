#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "search/placement.h"
#include "search/solve.h"

#define FILE_OF(capacity, nodes, edges) \
	"{\"maxSizePerFPGA\":" capacity ",\"maxFPGAs\":1,\"maxCPUs\":8," \
	"\"nodes\":[" nodes "],\"edges\":[" edges "]}"
#define NODE(id, cpu, accel, size, more) \
	"{\"id\":" #id ",\"supportedOnFpga\":1,\"cpuLatency\":" #cpu \
	",\"fpgaLatency\":" #accel ",\"size\":" #size more "}"
#define EDGE(from, to, cost) \
	"{\"sourceId\":" #from ",\"destId\":" #to ",\"cost\":" #cost "}"

/* Returns the makespan. */
static cost_ns
solve(const char *text, struct problem *p, struct search_result *exact,
    struct arena *a)
{
	struct search_options o = {0};
	struct search_result brute;
	struct placement_file file;
	struct err err = {0};

	if (!placement_parse(&file, text, strlen(text), "p", a, &err))
		fail_msg("%s", err.text);
	*p = file.problem;
	if (!search_exact(exact, p, &o, a, &err)
	    || !search_exhaustive(&brute, p, &o, a, &err))
		fail_msg("%s", err.text);
	assert_true(exact->found && exact->proven);
	assert_int_equal(exact->cover.cost, brute.cover.cost);
	return placement_makespan(file.graph, p, &exact->cover, a);
}

/* A fork, written consumers first: 30 feeds 20 and 10, which feed 40.
 *
 * id  cpu  accelerator  size  sends for
 * 30  1    (none)       0     0.5
 * 20  8    1            60    2
 * 10  6    1.25         50    0.25
 * 40  2    0.5          10    -
 *
 * In 120 bytes everything but 30 goes over, 30's output once for its two
 * readers: 1 + 0.5 + 1 + 1.25 + 0.5 = 4.25. In 119 one must stay. Without 40,
 * both branches come back: 1 + 0.5 + 1 + 1.25 + 2 + 0.25 + 2 = 8; without 10:
 * 1 + 0.5 + 1 + 6 + 0.25 + 0.5 = 9.25; without 20: 1 + 0.5 + 8 + 1.25 + 2 + 0.5
 * = 13.25. In 100 the branches do not fit together, which leaves 9.25; of
 * single nodes 20 is best, 12.5. Nothing fits in 9.5: 1 + 8 + 6 + 2 = 17. */
#define FORK(capacity) \
	FILE_OF(capacity, \
	    NODE(40, 2, 0.5, 10, "") "," NODE(20, 8, 1, 60, "") "," NODE( \
	        10, 6, 1.25, 50, "") ",{\"id\":30,\"supportedOnFpga\":false," \
	                             "\"cpuLatency\":1,\"size\":0}", \
	    EDGE(20, 40, 2) "," EDGE(10, 40, 0.25) "," EDGE( \
	        30, 20, 0.5) "," EDGE(30, 10, 0.5))

static void
fork_by_hand(void **state)
{
	static const struct {
		const char *text;
		cost_ns cost;
	} cases[] = {{FORK("120"), 4250000}, {FORK("119"), 8000000},
	    {FORK("100"), 9250000}, {FORK("9.5"), 17000000}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct search_result r;
		struct problem p;
		struct arena a;

		arena_init(&a);
		solve(cases[i].text, &p, &r, &a);
		assert_int_equal(p.nnodes, 4);
		assert_int_equal(p.ncandidates, 7);
		assert_string_equal(p.node[0].name, "30");
		assert_string_equal(p.node[3].name, "40");
		assert_int_equal(r.cover.cost, cases[i].cost);
		arena_release(&a);
	}
}

/* 1 -> 2 -> 3, 1 and 3 of one colour with `between` what 2 is of. */
#define COLOURS(between) \
	FILE_OF("100", \
	    NODE(1, 5, 1, 30, ",\"colorClass\":7") "," NODE(2, 1, 9, 1, \
	        between) "," NODE(3, 5, 1, 80, ",\"colorClass\":7"), \
	    EDGE(1, 2, 1) "," EDGE(2, 3, 1))

/* Nodes of one colour are placed together: apart, 1 or 3 would fit. */
static void
colours_stay_together(void **state)
{
	struct search_result r;
	struct problem p;
	struct arena a;

	(void)state;
	arena_init(&a);
	solve(FILE_OF("100",
	          NODE(1, 5, 1, 30, ",\"colorClass\":7") "," NODE(2, 1, 9, 1,
	              "") "," NODE(3, 5, 1, 80, ",\"colorClass\":7"),
	          EDGE(1, 2, 1) "," EDGE(1, 3, 1)),
	    &p, &r, &a);
	assert_int_equal(p.nnodes, 2);
	assert_string_equal(p.node[0].name, "1+3");
	assert_int_equal(r.cover.cost, 11000000);
	solve(COLOURS(",\"colorClass\":7"), &p, &r, &a);
	assert_int_equal(p.nnodes, 1);
	assert_string_equal(p.node[0].name, "1+2+3");
	assert_int_equal(p.nvalues, 0);
	assert_int_equal(r.cover.cost, 11000000);
	arena_release(&a);
}

/* 3, 4 and 6 go to the accelerator, where they take 2, 1 and 5; 1, 2 and 5 stay,
 * with 4, 10 and 3. One after the other: 25, and 1 goes over, 3 comes back, 5 goes
 * over: 0.5 + 2 + 0.25.
 *
 * In parallel, 1 is done at 4 and 2 at 10. 6 reads 5, which reads 3, so 6 is a
 * second piece. The first, {3, 4}, waits for 1 and takes it in once, and puts out
 * 3 and 4: 4 + 0.5 + 3 + 2 + 1 = 10.5, later than 2, so 5 is done at 13.5. The
 * second takes in 3, 4 and 5: 13.5 + 2 + 1 + 0.25 + 5 = 21.75. */
static void
makespan_by_hand(void **state)
{
	struct search_result r;
	struct problem p;
	struct arena a;
	cost_ns makespan;

	(void)state;
	arena_init(&a);
	makespan = solve(
	    FILE_OF("100",
	        NODE(6, 100, 5, 1, "") "," NODE(1, 4, 100, 1, "") "," NODE(
	            2, 10, 100, 1, "") "," NODE(3, 100, 2, 1, "") "," NODE(4,
	            100, 1, 1, "") "," NODE(5, 3, 100, 1, ""),
	        EDGE(1, 3, 0.5) "," EDGE(1, 4, 0.5) "," EDGE(2, 5, 1) "," EDGE(
	            3, 5, 2) "," EDGE(3, 6, 2) "," EDGE(5, 6, 0.25) "," EDGE(4,
	            6, 1)),
	    &p, &r, &a);
	assert_int_equal(r.cover.cost, 27750000);
	assert_int_equal(makespan, 21750000);
	arena_release(&a);
}

/* Three places of one colour are one node. On the CPU, 1 and 2 run at the same
 * time, 4 after both; on the accelerator nothing does. A circle has no time. */
#define FAMILY(capacity, more) \
	FILE_OF(capacity, \
	    NODE(1, 5, 1, 1, ",\"colorClass\":7") "," NODE( \
	        2, 3, 2, 1, ",\"colorClass\":7") "," NODE(4, 2, 1, 1, \
	        ",\"colorClass\":7"), \
	    EDGE(1, 4, 9) "," EDGE(2, 4, 9) more)

static void
makespan_of_colours(void **state)
{
	struct search_result r;
	struct problem p;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_int_equal(solve(FAMILY("2", ""), &p, &r, &a), 7000000);
	assert_int_equal(r.cover.cost, 10000000);
	assert_int_equal(solve(FAMILY("3", ""), &p, &r, &a), 4000000);
	assert_int_equal(
	    solve(FAMILY("3", "," EDGE(4, 2, 9)), &p, &r, &a), COST_NEVER);
	arena_release(&a);
}

static void
refuses(const char *text, enum err_kind kind, const char *why)
{
	struct placement_file file;
	struct err err = {0};
	struct arena a;

	arena_init(&a);
	assert_false(placement_parse(&file, text, strlen(text), "p", &a, &err));
	if (err.kind != kind || !strstr(err.text, why))
		fail_msg("'%s' (%s) does not say '%s'", err.text,
		    err_words(err.kind), why);
	arena_release(&a);
}

#define ONE(node) FILE_OF("1", node, "")
#define TWO(edges) \
	FILE_OF("1", NODE(1, 1, 1, 1, "") "," NODE(2, 1, 1, 1, ""), edges)

static void
faults_are_named(void **state)
{
	(void)state;
	refuses("[]", ERR_INPUT, "not an object");
	refuses("{\"maxFPGAs\":0,\"maxSizePerFPGA\":1}", ERR_INPUT,
	    "maxFPGAs is 0");
	refuses(FILE_OF("-1", "", ""), ERR_INPUT, "maxSizePerFPGA is -1");
	refuses(ONE("7"), ERR_INPUT, "nodes[0] is not an object");
	refuses(ONE(NODE(0.5, 1, 1, 1, "")), ERR_INPUT, "nodes[0]: key 'id'");
	refuses(ONE(NODE(4, -1, 1, 1, "")), ERR_INPUT,
	    "nodes[0]: node 4: cpuLatency is -1");
	refuses(ONE(NODE(4, 1, 1e999, 1, "")), ERR_INPUT,
	    "nodes[0]: node 4: key 'fpgaLatency' is beyond what a double holds");
	refuses(ONE(NODE(4, 1e10, 1, 1, "")), ERR_INPUT, "below 2^53");
	refuses(ONE(NODE(4, 1, 1, -8, "")), ERR_INPUT, "node 4: size is -8");
	refuses(ONE(NODE(4, 1, 1, 9007199254740993, "")), ERR_INPUT,
	    "node 4: key 'size' is 9007199254740993, which no double holds");
	refuses(FILE_OF("1",
	            NODE(4, 1, 1, 9e15, "") "," NODE(5, 1, 1, 9e15, ""), ""),
	    ERR_INPUT, "nodes[1]: node 5: size of all nodes");
	refuses(ONE("{\"id\":4,\"supportedOnFpga\":2}"), ERR_INPUT,
	    "node 4: key 'supportedOnFpga'");
	refuses(ONE(NODE(4, 1, 1, 1, ",\"isBackwardNode\":true")),
	    ERR_UNSUPPORTED, "node 4: isBackwardNode");
	refuses(ONE(NODE(4, 1, 1, 1, "") "," NODE(4, 1, 1, 1, "")), ERR_INPUT,
	    "nodes[1]: a second node 4");
	refuses(TWO(EDGE(1, 3, 1)), ERR_INPUT, "edges[0]: destId: no node 3");
	refuses(TWO(EDGE(2, 2, 1)), ERR_INPUT, "edges[0]: node 2 feeds itself");
	refuses(TWO(EDGE(1, 2, -1)), ERR_INPUT, "edges[0]: cost is -1");
	refuses(TWO(EDGE(1, 2, 1) "," EDGE(1, 2, 2)), ERR_INPUT,
	    "edges[1]: cost is 2000000 ns");
	refuses(TWO(EDGE(1, 2, 1) "," EDGE(2, 1, 1)), ERR_INPUT,
	    "waits for its own output");
	refuses(COLOURS(""), ERR_UNSUPPORTED, "node 1: nodes outside its");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fork_by_hand),
	    cmocka_unit_test(colours_stay_together),
	    cmocka_unit_test(makespan_by_hand),
	    cmocka_unit_test(makespan_of_colours),
	    cmocka_unit_test(faults_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
