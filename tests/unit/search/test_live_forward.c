/* States of the order search: the key says all but the cost, and says it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "search/live_forward.h"
#include "tests/support/support.h"

#define NODES 70u /* more than a word of a set */
#define TARGETS 3u
#define VALUES 5u

static const struct problem room = {
    .nnodes = NODES, .ntargets = TARGETS, .nvalues = VALUES};

/* Some state, with `nlive` values. */
static void
fill(struct forward_state *x, uint32_t nlive, struct rng *r)
{
	for (uint32_t n = 0; n < NODES; n++)
		if (rng_below(r, 2))
			bitset_add(x->covered, n);
	x->last = rng_below(r, TARGETS);
	x->run_nodes = rng_below(r, 9);
	for (uint32_t t = 0; t < TARGETS; t++) {
		x->runs[t] = rng_below(r, 9);
		x->used[t] = (uint64_t)rng_below(r, 1000) << 32;
	}
	for (uint32_t v = 0; v < nlive; v++)
		live_forward_add(x,
		    &(struct live_forward){v, rng_below(r, 2),
		        1 + rng_below(r, 7), rng_below(r, 8), rng_below(r, 4)});
	x->cost = rng_below(r, 1000);
}

static void
assert_same_key(
    const struct forward_state *x, const struct forward_state *y, bool same)
{
	uint32_t key[2][64];
	size_t n = forward_state_pack(x, key[0]);

	assert_true(forward_key_room(&room) <= 64);
	assert_true(n <= forward_key_room(&room) * sizeof(uint32_t));
	assert_int_equal(n == forward_state_pack(y, key[1])
	        && memcmp(key[0], key[1], n) == 0,
	    same);
}

static void
comes_back(void **unused)
{
	struct rng r = rng_seeded(1);
	struct arena a;

	(void)unused;
	arena_init(&a);
	for (uint32_t nlive = 0; nlive <= VALUES; nlive++) {
		struct forward_state x = forward_state_new(&room, &a);
		struct forward_state y = forward_state_new(&room, &a);
		uint32_t key[64];
		size_t n;

		fill(&x, nlive, &r);
		fill(&y, VALUES - nlive, &r);
		y.cost = 12345;
		n = forward_state_pack(&x, key);
		forward_state_unpack(&y, key, n);
		assert_true(bitset_equal(x.covered, y.covered));
		assert_int_equal(x.last, y.last);
		assert_int_equal(x.run_nodes, y.run_nodes);
		assert_memory_equal(x.runs, y.runs, TARGETS * sizeof *x.runs);
		assert_memory_equal(x.used, y.used, TARGETS * sizeof *x.used);
		assert_int_equal(y.nlive, nlive);
		assert_memory_equal(x.live, y.live, nlive * sizeof *x.live);
		assert_int_equal(y.cost, 12345);
		assert_same_key(&x, &y, true);
	}
	arena_release(&a);
}

/* The n-th thing a state says, changed; false: there are no more. */
static bool
change(struct forward_state *x, uint32_t n)
{
	struct live_forward *l = &x->live[1];

	switch (n) {
	case 0:
		bitset_add(x->covered, 69);
		break;
	case 1:
		x->last = NO_LIMIT;
		break;
	case 2:
		x->run_nodes++;
		break;
	case 3:
		x->runs[2]++;
		break;
	case 4:
		x->used[2]++;
		break;
	case 5:
		x->used[0] += UINT64_C(1) << 40;
		break;
	case 6:
		l->value += 2;
		break;
	case 7:
		l->fresh ^= 1;
		break;
	case 8:
		l->have ^= 4;
		break;
	case 9:
		l->need ^= 4;
		break;
	case 10:
		l->inside ^= 2;
		break;
	case 11:
		x->nlive--;
		break;
	default:
		return false;
	}
	return true;
}

static void
every_difference_tells(void **unused)
{
	struct rng r = rng_seeded(2);
	struct forward_state x, y;
	struct arena a;
	uint32_t n;

	(void)unused;
	arena_init(&a);
	x = forward_state_new(&room, &a);
	y = forward_state_new(&room, &a);
	fill(&x, 2, &r);
	bitset_remove(x.covered, 69);
	for (n = 0;; n++) {
		forward_state_copy(&y, &x);
		assert_same_key(&x, &y, true);
		if (!change(&y, n))
			break;
		assert_same_key(&x, &y, false);
	}
	assert_int_equal(n, 12);
	y.cost++;
	assert_same_key(&x, &y, true);
	arena_release(&a);
}

static void
copies_stand_alone(void **unused)
{
	struct rng r = rng_seeded(3);
	struct forward_state x, y, z;
	struct arena a;

	(void)unused;
	arena_init(&a);
	x = forward_state_new(&room, &a);
	y = forward_state_new(&room, &a);
	z = forward_state_new(&room, &a);
	fill(&x, 3, &r);
	fill(&y, 5, &r);
	forward_state_copy(&y, &x);
	forward_state_copy(&z, &x);
	assert_same_key(&x, &y, true);
	assert_int_equal(y.cost, x.cost);
	x.nlive = 0;
	fill(&x, 2, &r);
	assert_same_key(&z, &y, true);
	assert_same_key(&x, &y, false);
	arena_release(&a);
}

static void
values_ascend(void **unused)
{
	static const uint32_t order[] = {3, 0, 4, 2};
	static const uint32_t ascending[] = {0, 2, 3, 4};
	struct forward_state x;
	struct arena a;

	(void)unused;
	arena_init(&a);
	x = forward_state_new(&room, &a);
	for (uint32_t i = 0; i < 4; i++) {
		struct live_forward *l = live_forward_add(&x,
		    &(struct live_forward){order[i], 0, 10 + order[i], 0, 0});

		assert_ptr_equal(l, live_forward_find(&x, order[i]));
		assert_int_equal(l->value, order[i]);
	}
	assert_int_equal(x.nlive, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(x.live[i].value, ascending[i]);
		assert_int_equal(x.live[i].have, 10 + ascending[i]);
	}
	assert_null(live_forward_find(&x, 1));
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(comes_back),
	    cmocka_unit_test(every_difference_tells),
	    cmocka_unit_test(copies_stand_alone),
	    cmocka_unit_test(values_ascend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
