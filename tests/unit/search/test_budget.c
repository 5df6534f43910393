/* Budgets of the exact search on a problem it cannot finish: time, memory and
 * the user's patience are kept, and a checked cover comes back all the same.
 * CPU time is compared, so that a busy machine fails nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/clock.h"
#include "ir/base/sanitized.h"
#include "search/budget.h"
#include "search/solve.h"
#include "search/kbest.h"
#include "search/problem_index.h"
#include "tests/support/nets.h"

#define MS UINT64_C(1000000)

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

/* CPU ns of a search that is told to stop before it begins: as good a cover as
 * comes at once. */
static uint64_t
at_once(void)
{
	static atomic_bool told = true;
	struct search_options o = {.stop = &told};

	return spend(&o, 32, NO_LIMIT);
}

/* CPU ns that a search may take beyond its budget: what comes at once, and much
 * room, in a measure that slow machines and sanitizers stretch as much. */
static uint64_t
slack(void)
{
	static uint64_t ns;

	if (!ns)
		ns = 100 * MS + 10 * at_once();
	return ns;
}

static void
keeps_time(void **state)
{
	static const uint64_t budget[] = {MS, 50 * MS, 400 * MS};
	uint64_t limit = slack();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct search_options o = {
		    .deadline_ns = clock_ns() + budget[i]};

		assert_true(spend(&o, 32, NO_LIMIT) < limit + budget[i]);
		o.deadline_ns = clock_ns() + budget[i];
		assert_true(spend(&o, 32, 4) < limit + budget[i]);
	}
}

/* ---- a clock of our own: a millisecond passes whenever it is looked at ---- */

static uint64_t now;

static uint64_t
tick(void)
{
	return now += MS;
}

static uint64_t
look(void)
{
	return now;
}

/* Looks at the clock after the deadline: what is begun after it. */
static uint64_t
overrun(uint64_t deadline)
{
	return now > deadline ? (now - deadline) / MS : 0;
}

/* Under a deadline of so many looks the search ends within a few more. */
static void
keeps_ticks(void **state)
{
	static const uint64_t looks[] = {1, 10, 100, 400};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (uint32_t limit = 0; limit < 2; limit++) {
			struct search_options o = {
			    .deadline_ns = looks[i] * MS, .clock = tick};

			now = 0;
			spend(&o, 24, limit ? 4 : NO_LIMIT);
			assert_true(now >= o.deadline_ns / 8 * 7);
			/* The nodes of one beam at most. */
			assert_true(overrun(o.deadline_ns) < 1024);
		}
}

/* A turn is half of what is left; over is over, for all that share a deadline. */
static void
takes_turns(void **state)
{
	struct search_options o = {.deadline_ns = 100 * MS, .clock = look};
	uint64_t last = 0;

	(void)state;
	now = 0;
	for (int i = 0; i < 10; i++) {
		struct search_options turn = search_turn(&o);

		assert_true(turn.deadline_ns > last);
		assert_true(turn.deadline_ns < o.deadline_ns);
		assert_int_equal(
		    turn.deadline_ns - now, (o.deadline_ns - now + 1) / 2);
		last = turn.deadline_ns;
		now = last;
	}
	assert_false(search_is_over(&o));
	now = o.deadline_ns;
	assert_true(search_is_over(&o));
	assert_int_equal(search_turn(&o).deadline_ns, o.deadline_ns);
	o.deadline_ns = 0; /* no deadline: a turn has none either */
	assert_false(search_is_over(&o));
	assert_int_equal(search_turn(&o).deadline_ns, 0);
}

/* The best covers there are when so many looks at the clock were taken. */
static struct search_top
top_after(uint64_t looks, uint32_t k, struct search_result *r, struct arena *a)
{
	struct search_options o = {
	    .deadline_ns = looks * MS, .clock = looks ? tick : NULL};
	struct search_top top = {r, k, 0};
	struct problem *p = net_make("inception", 2, a);
	struct err err = {0};

	now = 0;
	assert_true(search_top(&top, p, &o, a, &err));
	assert_true(top.n >= 1);
	if (looks)
		assert_true(overrun(o.deadline_ns) < 1024);
	for (uint32_t i = 1; i < top.n; i++)
		assert_true(r[i - 1].cover.cost <= r[i].cover.cost);
	return top;
}

/* However early it ends, what is listed are covers in order, a cover that is said
 * to be the next best is as cheap as that, and no bound is too high. */
static void
top_is_honest_in_time(void **state)
{
	enum { K = 6 };
	struct search_result all[K], some[K];
	struct search_top best, top;
	uint32_t fewer = 0;
	struct arena a;

	(void)state;
	arena_init(&a);
	best = top_after(0, K, all, &a);
	assert_int_equal(best.n, K);
	for (uint64_t looks = 1; looks < 20000; looks = looks * 2 + 1) {
		struct arena_mark mark = arena_mark(&a);

		top = top_after(looks, K, some, &a);
		fewer += top.n < K;
		for (uint32_t i = 0; i < top.n; i++) {
			assert_true(some[i].cover.cost >= all[i].cover.cost);
			assert_true(some[i].lower_bound <= all[i].cover.cost);
			if (some[i].proven)
				assert_int_equal(
				    some[i].cover.cost, all[i].cover.cost);
			else
				assert_string_not_equal(some[i].why, "");
		}
		arena_back(&a, mark);
	}
	assert_true(fewer > 0); /* it did end early */
	assert_int_equal(top.n, K); /* and did not, with enough of it */
	for (uint32_t i = 0; i < K; i++)
		assert_true(all[i].proven && some[i].proven);
	arena_release(&a);
}

/* KB a process grows to at most with so much memory for labels, or an earlier
 * one did. */
static long
peak(uint64_t memory)
{
	struct search_options o = {
	    .memory_budget = memory, .deadline_ns = clock_ns() + 20000 * MS};
	struct rusage use;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		/* else what was not asked for is there, too, in huge ones */
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
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
	if (grew >= (long)(budget / 1024 * 5 / 4))
		fail_msg("grew by %ld KB from %ld KB", grew, least);
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
	uint64_t limit = 300 * MS + slack();

	(void)state;
	signal(SIGPROF, on_alarm);
	setitimer(ITIMER_PROF, &soon, NULL);
	assert_true(spend(&o, 32, NO_LIMIT) < limit);
	assert_true(atomic_load(&stop));
	/* A hundredth of a second where nothing is slow. */
	assert_true(at_once() < 3000 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_time),
	    cmocka_unit_test(keeps_ticks),
	    cmocka_unit_test(takes_turns),
	    cmocka_unit_test(top_is_honest_in_time),
	    cmocka_unit_test(keeps_memory),
	    cmocka_unit_test(stops_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
