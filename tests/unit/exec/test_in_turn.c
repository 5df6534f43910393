#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/in_turn.h"

/* A clock of our own: what each plan takes, and which runs are disturbed. */
struct clockwork {
	cost_ns took[2];
	cost_ns every; /* each so many-th run of A takes a tenth more */
	uint32_t ran[2];
	uint32_t disturbed; /* each so many-th run takes thrice as long */
	uint32_t fails; /* the run that does, from 1; 0: none */
	uint32_t last; /* the run behind which it is stopped; 0: none */
	atomic_bool stop;
};

static bool
run(void *context, uint32_t which, cost_ns *took, bool *disturbed,
    struct err *err)
{
	struct clockwork *c = context;
	const uint32_t n = c->ran[0] + c->ran[1] + 1;

	c->ran[which]++;
	if (n == c->last)
		atomic_store(&c->stop, true);
	*took = c->took[which];
	*disturbed = c->disturbed && n % c->disturbed == 0;
	if (*disturbed)
		*took *= 3;
	if (which == 0 && c->every && c->ran[0] % c->every == 0)
		*took += *took / 10;
	return n != c->fails
	    || err_set(err, ERR_UNSUPPORTED, "run %u failed", n);
}

static struct in_turn
turns(struct clockwork *c, cost_ns budget)
{
	const struct in_turn_options o = {.budget = budget, .stop = &c->stop};
	const struct in_turn_runner r = {run, c};
	struct err err = {.kind = ERR_NONE};
	struct in_turn t;

	assert_true(in_turn_run(&t, &o, &r, &err));
	return t;
}

#define SECOND UINT64_C(1000000000)
#define MILLI UINT64_C(1000000)

/* A quiet machine: the ratio is what it is, and A is itself. */
static void
test_ratio(void **state)
{
	struct clockwork c = {.took = {900000, 1000000}};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_int_equal(t.pairs, IN_TURN_LEAST); /* more would say the same */
	assert_false(t.stopped);
	assert_in_range(t.ratio, 899999, 900003);
	assert_in_range(t.self_low, 999999, 1000001);
	assert_in_range(t.self_high, 999999, 1000001);
	assert_int_equal(t.b, 1000000);
	assert_true(in_turn_wins(&t));
	c = (struct clockwork){.took = {1000000, 900000}};
	t = turns(&c, SECOND);
	assert_false(in_turn_wins(&t));
	c = (struct clockwork){.took = {1000000, 1000000}};
	t = turns(&c, SECOND);
	assert_false(in_turn_wins(&t));
	c = (struct clockwork){.took = {980000, 1000000}};
	t = turns(&c, SECOND);
	assert_int_equal(t.pairs, 10); /* the noise of few may be chance */
	assert_true(in_turn_wins(&t));
}

/* What is within the spread of A against itself is no gain. */
static void
test_spread(void **state)
{
	struct clockwork c = {.took = {970000, 1000000}, .every = 2};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_int_equal(t.pairs, IN_TURN_MOST);
	assert_in_range(t.self_low, 900000, 920000);
	assert_in_range(t.self_high, 1090000, 1110000);
	assert_false(in_turn_wins(&t));
	c = (struct clockwork){.took = {700000, 1000000}, .every = 2};
	t = turns(&c, SECOND);
	assert_true(in_turn_wins(&t));
}

/* Slow plans get few pairs, the slowest the least that says anything. */
static void
test_budget(void **state)
{
	struct clockwork c = {.took = {59000000, 60000000}};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_in_range(t.pairs, 7, 9);
	c = (struct clockwork){.took = {54000000, 60000000}, .every = 2};
	t = turns(&c, SECOND); /* not sure by then */
	assert_in_range(t.pairs, 15, 18);
	c = (struct clockwork){.took = {2970 * MILLI, 3000 * MILLI}};
	t = turns(&c, SECOND);
	assert_int_equal(t.pairs, IN_TURN_LEAST);
	assert_int_equal(c.ran[0], IN_TURN_LEAST + 2);
	assert_int_equal(c.ran[1], IN_TURN_LEAST + 1);
	t = turns(&c, 0);
	assert_int_equal(t.pairs, IN_TURN_LEAST);
}

/* What is no faster when the budget is spent does not become so: the others' second
 * budget, or the slowest ones' last pairs, are not spent on it. */
static void
test_no_hope(void **state)
{
	const struct clockwork slow[] = {
	    {.took = {3000 * MILLI, 3000 * MILLI}},
	    {.took = {3000 * MILLI, 2990 * MILLI}},
	    {.took = {2998 * MILLI, 3000 * MILLI}},
	};
	struct clockwork c;
	struct in_turn t;

	(void)state;
	for (uint32_t i = 0; i < sizeof slow / sizeof *slow; i++) {
		c = slow[i];
		t = turns(&c, SECOND);
		assert_int_equal(t.pairs, IN_TURN_LEAST_SLOW);
		assert_false(t.stopped);
		assert_false(in_turn_wins(&t));
	}
	c = (struct clockwork){.took = {60 * MILLI, 60 * MILLI}, .every = 2};
	t = turns(&c, SECOND);
	assert_in_range(t.pairs, 7, 9);
	c = (struct clockwork){.took = {3000 * MILLI, 3000 * MILLI},
	    .disturbed = 5}; /* a neighbour may have had it */
	t = turns(&c, SECOND);
	assert_true(t.pairs >= IN_TURN_LEAST);
}

/* Beyond the least gain so many quiet pairs win, below it they do not. */
static void
test_least_gain(void **state)
{
	(void)state;
	for (uint32_t n = IN_TURN_LEAST_SLOW; n < 10; n++) {
		const uint64_t least = in_turn_least_gain(n);
		struct in_turn t = {.pairs = n,
		    .ratio = IN_TURN_ONE - least - 1,
		    .self_low = IN_TURN_ONE,
		    .self_high = IN_TURN_ONE};

		assert_in_range(least, 5000, 15000);
		assert_true(in_turn_wins(&t));
		t.ratio += 2;
		assert_false(in_turn_wins(&t));
	}
	assert_int_equal(in_turn_least_gain(10), 0);
}

/* Of the slowest fewer are enough where they differ by more than few could by chance. */
static void
test_slow(void **state)
{
	struct clockwork c = {.took = {3 * SECOND, 4 * SECOND}};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_int_equal(t.pairs, IN_TURN_LEAST_SLOW);
	assert_int_equal(c.ran[0], IN_TURN_LEAST_SLOW + 2);
	assert_int_equal(c.ran[1], IN_TURN_LEAST_SLOW + 1);
	assert_true(in_turn_wins(&t));
	c = (struct clockwork){.took = {985 * SECOND, 1000 * SECOND}};
	t = turns(&c, SECOND); /* a per cent and a half may be chance */
	assert_int_equal(t.pairs, IN_TURN_LEAST);
	c = (struct clockwork){.took = {3 * SECOND, 4 * SECOND}, .every = 2};
	t = turns(&c, SECOND); /* so may a quarter beside such noise */
	assert_int_equal(t.pairs, IN_TURN_LEAST);
}

/* Runs that were taken off their core count for nothing, while there are others. */
static void
test_disturbed(void **state)
{
	struct clockwork c = {.took = {9000000, 10000000}, .disturbed = 9};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_in_range(t.pairs, IN_TURN_LEAST, IN_TURN_MOST);
	assert_in_range(t.ratio, 899999, 900003);
	assert_in_range(t.self_low, 999999, 1000001);
	assert_in_range(t.self_high, 999999, 1000001);
	c = (struct clockwork){.took = {9000000, 10000000}, .disturbed = 1};
	t = turns(&c, SECOND);
	assert_true(t.pairs >= IN_TURN_LEAST);
}

static void
test_failure(void **state)
{
	struct clockwork c = {.took = {1000, 1000}, .fails = 7};
	const struct in_turn_options o = {.budget = SECOND};
	const struct in_turn_runner r = {run, &c};
	struct err err = {.kind = ERR_NONE};
	struct in_turn t;

	(void)state;
	assert_false(in_turn_run(&t, &o, &r, &err));
	assert_string_equal(err.text, "run 7 failed");
}

/* Whoever is in a hurry gets what there is, and that wins nothing. */
static void
test_stop(void **state)
{
	struct clockwork c = {.took = {1000, 9000}, .stop = true};
	struct in_turn t = turns(&c, SECOND);

	(void)state;
	assert_int_equal(t.pairs, 0);
	assert_true(t.stopped);
	assert_false(in_turn_wins(&t));
}

/* What five pairs or more say is something, three or four of short plans nothing. */
static void
test_stop_late(void **state)
{
	struct clockwork few = {.took = {1000, 9000}, .last = 3 + 2 * 4};
	struct clockwork some = {.took = {1000, 1005}, .last = 3 + 2 * 7};
	struct in_turn t = turns(&few, SECOND);

	(void)state;
	assert_int_equal(t.pairs, 4);
	assert_true(t.stopped);
	assert_false(in_turn_wins(&t));
	t = turns(&some, SECOND);
	assert_int_equal(t.pairs, 7);
	assert_false(t.stopped);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ratio),
	    cmocka_unit_test(test_spread),
	    cmocka_unit_test(test_budget),
	    cmocka_unit_test(test_no_hope),
	    cmocka_unit_test(test_least_gain),
	    cmocka_unit_test(test_slow),
	    cmocka_unit_test(test_disturbed),
	    cmocka_unit_test(test_failure),
	    cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_stop_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
