/* Budgets of the exact search on a problem it cannot finish: time, memory and
 * the user's patience are kept, and a checked cover comes back all the same.
 * CPU time is compared, so that a busy machine fails nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/sanitized.h"
#include "search/solve.h"
#include "search/top.h"
#include "tests/support/nets.h"

#define MS UINT64_C(1000000)
#define SLACK (200 * MS)

static atomic_bool stop;

/* A random graph whose targets have room for half of the nodes each: the prices
 * know too little of that. */
static struct problem *
hard(uint32_t size, uint32_t max_run_nodes, struct arena *a)
{
	struct problem *p = net_make("randwire", size, a);
	struct err err = {0};

	for (uint32_t c = 0; c < p->ncandidates; c++)
		p->candidate[c].resource =
		    100 * p->candidate[c].nnodes + p->candidate[c].cost % 100;
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t].capacity = UINT64_C(75) * p->nnodes;
	p->target[3].max_run_nodes = max_run_nodes;
	assert_true(problem_index(p, a, &err));
	return p;
}

static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* CPU ns it took; the cover is there and not proven. */
static uint64_t
spend(const struct search_options *o, uint32_t size, uint32_t max_run_nodes)
{
	struct search_result r;
	struct err err = {0};
	struct problem *p;
	struct arena a;
	uint64_t from;

	arena_init(&a);
	p = hard(size, max_run_nodes, &a);
	from = cpu_ns();
	assert_true(search_exact(&r, p, o, &a, &err));
	from = cpu_ns() - from;
	assert_true(r.found);
	assert_false(r.proven);
	assert_true(r.lower_bound < r.cover.cost);
	assert_string_not_equal(r.why, "");
	arena_release(&a);
	return from;
}

static void
keeps_time(void **state)
{
	static const uint64_t budget[] = {MS, 50 * MS, 400 * MS};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct search_options o = {.time_budget_ns = budget[i]};

		assert_true(spend(&o, 32, NO_LIMIT) < budget[i] + SLACK);
		assert_true(spend(&o, 32, 4) < budget[i] + SLACK);
	}
}

/* One time for five searches, each of which would take more than all of it. */
static void
shares_time(void **state)
{
	uint64_t spent = 0;
	struct search_options o = {
	    .time_budget_ns = 1000 * MS, .spent_ns = &spent};
	struct search_result r;
	struct err err = {0};
	struct problem *p;
	struct arena a;

	(void)state;
	arena_init(&a);
	p = hard(32, NO_LIMIT, &a);
	for (int i = 0; i < 5; i++) {
		assert_true(search_named(&r, p, "exact", &o, &a, &err));
		assert_true(r.found);
		assert_true(spent >= 400 * MS);
	}
	assert_true(spent < 1000 * MS + 5 * SLACK);
	arena_release(&a);
}

/* CPU ns the two best covers took. */
static uint64_t
spend_on_top(uint64_t budget)
{
	struct search_options o = {.time_budget_ns = budget};
	struct search_result r[2];
	struct search_top top = {r, 2, 0};
	struct err err = {0};
	struct problem *p;
	struct arena a;
	uint64_t from;

	arena_init(&a);
	p = net_make("randwire", 20, &a);
	from = cpu_ns();
	assert_true(search_top(&top, p, &o, &a, &err));
	from = cpu_ns() - from;
	assert_int_equal(top.n, 2);
	arena_release(&a);
	return from;
}

/* The budget is of all branches together: each has its last, narrow beam all
 * the same, which takes what it takes without any time, on this machine and in
 * this build. */
static void
keeps_time_of_top(void **state)
{
	uint64_t beams = spend_on_top(1);

	(void)state;
	assert_true(spend_on_top(50 * MS) < 50 * MS + 4 * beams);
}

/* KB a process grows to at most with so much memory for labels, or an earlier
 * one did. */
static long
peak(uint64_t memory)
{
	struct search_options o = {
	    .memory_budget = memory, .time_budget_ns = 20000 * MS};
	struct rusage use;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		spend(&o, 16, NO_LIMIT);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	getrusage(RUSAGE_CHILDREN, &use);
	return use.ru_maxrss;
}

static void
keeps_memory(void **state)
{
	const uint64_t budget = UINT64_C(8) << 20;
	long least, grew;

	(void)state;
	if (SANITIZED)
		skip(); /* what is freed stays for a while */
	least = peak(1);
	grew = peak(budget) - least;
	/* A quarter for what pages and allocators round up to; without a budget
	 * it grows to many times that. */
	assert_true(grew < (long)(budget / 1024 * 5 / 4));
}

static void
on_alarm(int signal)
{
	(void)signal;
	atomic_store(&stop, true);
}

static void
stops_when_told(void **state)
{
	struct search_options o = {.stop = &stop};
	struct itimerval soon = {.it_value = {.tv_usec = 300000}};

	(void)state;
	signal(SIGPROF, on_alarm);
	setitimer(ITIMER_PROF, &soon, NULL);
	assert_true(spend(&o, 32, NO_LIMIT) < 300 * MS + SLACK);
	assert_true(atomic_load(&stop));
	/* It is told already: as good a cover as comes at once. */
	assert_true(spend(&o, 32, NO_LIMIT) < SLACK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_time),
	    cmocka_unit_test(shares_time),
	    cmocka_unit_test(keeps_time_of_top),
	    cmocka_unit_test(keeps_memory),
	    cmocka_unit_test(stops_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
