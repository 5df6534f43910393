/* What regions of an accelerator pay and need beyond what the search knows:
 * memory for their scratch, and values that pass between them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/pricer.h"
#include "plan/memory.h"
#include "plan/partition.h"
#include "plan/sensitivity.h"
#include "plan/shift.h"
#include "plan/search.h"
#include "plan/eager.h"
#include "tests/support/make.h"

/* One tile of 1 MiB, weights kept on chip. */
#define PINNED "mrvl:num_tiles=1,wb_pin_ocm=1"

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;
static struct prices prices;
static struct constraints constraints;
static struct plan plan;
static struct err err;
static struct plan_request request;
static cost_ns host_ns; /* of each node on the host */

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	constraints = (struct constraints){.n = 0};
	err = (struct err){.kind = ERR_NONE};
	host_ns = 1000000;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* 3x3, same size, `out` channels. */
static value_id
conv(value_id x, int64_t in, int64_t out)
{
	const struct attr attrs[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id w = make_constant(&m, DIMS(out, in, 3, 3), -1, 1);

	return MAKE_WITH(&m, CONV, attrs, x, w);
}

/* Simulated prices as they are; host_ns for each node on the host. */
static bool
search(const char *target)
{
	const struct candidate_options options = {0};
	const struct pricer_options quiet = {0};
	struct pricer *pricer;
	struct err closing = {.kind = ERR_NONE};

	make_end(&m);
	assert_true(mix_open(&mix, &target, 1, &arena, &err));
	assert_true(
	    candidates_find(&found, m.graph, &mix, &options, &arena, &err));
	assert_true(
	    pricer_open(&pricer, m.graph, &mix, &found, &quiet, &arena, &err));
	assert_true(pricer_begin(pricer, &prices, &err));
	assert_true(pricer_close(pricer, &closing));
	for (uint32_t i = 0; i < found.n; i++)
		if (prices_candidate(&prices, i)->state == PRICE_BOUND) {
			prices_candidate(&prices, i)->state = PRICE_KNOWN;
			prices_candidate(&prices, i)->ns = host_ns;
		}
	request = (struct plan_request){.graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .prices = &prices,
	    .constraints = &constraints};
	return plan_search(&plan, &request, &arena, &err);
}

static uint32_t
composites_on(uint32_t target)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan.ncomposites; i++)
		n += found.candidate[plan.composite[i].candidate].target
		    == target;
	return n;
}

/* Two convolutions, the CPU between them; 160 channels of side * side pixels go
 * in and `between` channels of them into the other. */
static void
two_convolutions(int64_t side, int64_t between)
{
	value_id x = make_input(&m, DIMS(1, 160, side, side));
	value_id y = MAKE(&m, SIGMOID, conv(x, 160, between));

	make_output(&m, conv(y, between, 160));
}

static void
test_weights_that_do_not_fit(void **state)
{
	struct device_use use;

	(void)state;
	/* 29 pages each, 8 at least of scratch, of 64 */
	two_convolutions(8, 160);
	assert_true(search(PINNED));
	assert_int_equal(composites_on(0), 1);
	assert_true(plan_fits(&plan, &use, &arena));
}

static void
test_small_scratch_leaves_room(void **state)
{
	(void)state;
	/* 23 pages each, 8 of scratch, of 64 */
	two_convolutions(8, 128);
	assert_true(search(PINNED));
	assert_int_equal(composites_on(0), 2);
}

/* The same weights beside activations of 20 pages: with the least scratch there
 * can be both would fit. */
static void
test_scratch_of_the_plan_counts(void **state)
{
	struct device_use use;

	(void)state;
	two_convolutions(24, 128);
	assert_true(search(PINNED));
	assert_int_equal(composites_on(0), 1);
	assert_true(plan_fits(&plan, &use, &arena));
	assert_true(plan.proven);
}

/* A locked partition is a target of its own, which levels of memory keep. */
static void
test_a_locked_partition_beside_memory(void **state)
{
	const char *mrvl = PINNED;
	const node_id first = 0;
	struct device_use use;

	(void)state;
	two_convolutions(24, 128);
	make_end(&m);
	assert_true(mix_open(&mix, &mrvl, 1, &arena, &err));
	assert_true(partition_add(&constraints,
	    (struct constraint){.kind = CONSTRAIN_PARTITION,
	        .nnodes = 1,
	        .node = &first,
	        .targets = 1,
	        .text = "locked"},
	    m.graph, &arena, &err));
	assert_true(search(PINNED));
	assert_int_equal(composites_on(0), 1);
	assert_true(plan_fits(&plan, &use, &arena));
	assert_int_equal(plan_target_of(&plan, 0)->index, 0);
}

static void
test_nothing_that_fits_is_an_error(void **state)
{
	const char *mrvl = PINNED;

	(void)state;
	two_convolutions(24, 128);
	make_end(&m);
	assert_true(mix_open(&mix, &mrvl, 1, &arena, &err));
	assert_true(constraints_pin(
	    &constraints, "op:Conv=mrvl", m.graph, &mix, &arena, &err));
	assert_false(search(PINNED));
	assert_int_equal(err.kind, ERR_NO_COVER);
	assert_non_null(strstr(err.text, "memory of 'mrvl'"));
}

static uint32_t
conversions_of(value_id v, bool to_host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan.nconversions; i++) {
		const struct plan_conversion *c = &plan.conversion[i];

		n += c->value == v
		    && (mix.formats.format[c->to].space == SPACE_HOST)
		        == to_host;
	}
	return n;
}

/* y leaves its region for the Sigmoid, and comes back for the sum. */
static void
test_values_between_regions_go_through_the_host(void **state)
{
	value_id x = make_input(&m, DIMS(1, 8, 16, 16)), y, z;

	(void)state;
	y = conv(x, 8, 8);
	z = conv(MAKE(&m, SIGMOID, y), 8, 8);
	make_output(&m, MAKE(&m, ADD, z, y));
	assert_true(search("mrvl"));
	assert_int_equal(composites_on(0), 3);
	assert_int_equal(plan.nregions, 3);
	assert_int_equal(conversions_of(y, true), 1);
	assert_int_equal(conversions_of(y, false), 1);
	assert_int_equal(conversions_of(z, true), 0);
	assert_true(plan.proven);
	assert_true(plan_verify(&plan, &err));
}

/* The plan of a value that two regions take in, with its own conversions. */
static struct plan_conversion *
taken_in_twice(value_id *x)
{
	value_id y, z;

	*x = make_input(&m, DIMS(1, 8, 16, 16));
	y = MAKE(&m, SIGMOID, conv(*x, 8, 8));
	z = conv(y, 8, 8);
	make_output(&m, MAKE(&m, ADD, z, *x));
	assert_true(search("mrvl"));
	return arena_copy(&arena, plan.conversion,
	    plan.nconversions * sizeof *plan.conversion);
}

/* A value fed once is taken in by each region that reads it. */
static void
test_each_region_takes_its_inputs_in(void **state)
{
	value_id x;

	(void)state;
	taken_in_twice(&x);
	assert_int_equal(composites_on(0), 3);
	assert_int_equal(conversions_of(x, false), 2);
}

/* The check knows without the plan's help that the second one is missing. */
static void
test_a_missing_conversion_is_found(void **state)
{
	struct plan_conversion *without;
	uint32_t n = 0;
	value_id x = make_input(&m, DIMS(1, 8, 16, 16)), y, z;

	(void)state;
	y = conv(x, 8, 8);
	z = conv(MAKE(&m, SIGMOID, y), 8, 8);
	make_output(&m, MAKE(&m, ADD, z, y));
	assert_true(search("mrvl"));
	without = arena_new(&arena, struct plan_conversion, plan.nconversions);
	for (uint32_t i = 0; i < plan.nconversions; i++) {
		const struct plan_conversion *c = &plan.conversion[i];

		if (c->value == y
		    && mix.formats.format[c->to].space != SPACE_HOST)
			plan.cost -= c->cost;
		else
			without[n++] = *c;
	}
	plan.conversion = without;
	plan.nconversions = n;
	assert_false(plan_verify(&plan, &err));
	assert_non_null(strstr(err.text, "is not there in format"));
}

/* What one region took in is no source for another. */
static void
test_nothing_leads_out_of_where_it_was_taken_in(void **state)
{
	struct plan_conversion *mine, *last = NULL;
	value_id x;

	(void)state;
	mine = taken_in_twice(&x);
	for (uint32_t i = 0; i < plan.nconversions; i++)
		if (mine[i].value == x)
			last = &mine[i];
	assert_non_null(last);
	plan.cost -= last->cost;
	last->from = last->to;
	last->cost = price_least(
	    &conversion_at(&prices, prices.value_class[x], last->from, last->to)
	         ->price);
	plan.cost += last->cost;
	plan.conversion = mine;
	assert_false(plan_verify(&plan, &err));
	assert_non_null(strstr(err.text, "has no source"));
}

static void
test_nothing_is_taken_in_for_nobody(void **state)
{
	struct plan_conversion *mine, *more, one;
	uint32_t n = 0;
	value_id x;

	(void)state;
	mine = taken_in_twice(&x);
	while (mine[n].value != x)
		n++;
	one = mine[n];
	more = arena_new(&arena, struct plan_conversion, plan.nconversions + 1);
	memcpy(more, mine, plan.nconversions * sizeof *mine);
	one.before = plan.ncomposites;
	more[plan.nconversions++] = one;
	plan.cost += one.cost;
	plan.conversion = more;
	assert_false(plan_verify(&plan, &err));
	assert_non_null(strstr(err.text, "takes it in for nobody"));
}

/* The same conversion is news as often as it is paid more often. */
static void
test_a_conversion_less_is_a_shift(void **state)
{
	struct plan_shift shift;
	struct plan less;
	value_id x;
	uint32_t at = 0;

	(void)state;
	taken_in_twice(&x);
	less = plan;
	while (plan.conversion[at].value != x)
		at++;
	assert_int_equal(at, 0); /* x goes in first */
	less.conversion++;
	less.nconversions--;
	plan_shift_make(&shift, &plan, &less, &arena);
	assert_int_equal(shift.ngone, 1);
	assert_int_equal(plan.conversion[shift.gone[0]].value, x);
	assert_int_equal(shift.nnew, 0);
	plan_shift_make(&shift, &less, &plan, &arena);
	assert_int_equal(shift.ngone, 0);
	assert_int_equal(shift.nnew, 1);
}

/* A launch for a sum alone: eager takes it, the plan does not. */
static void
test_a_lone_sum_is_left_on_the_host(void **state)
{
	value_id x = make_input(&m, DIMS(1, 8, 16, 16));
	value_id y = make_input(&m, DIMS(1, 8, 16, 16));
	struct eager_gain v;

	(void)state;
	make_output(&m, MAKE(&m, SIGMOID, MAKE(&m, ADD, x, y)));
	host_ns = 10;
	assert_true(search("mrvl"));
	assert_true(plan_gain_over_eager(&v, &plan, &arena));
	assert_true(v.eager->cost > plan.cost);
	assert_int_equal(v.eager_launches, 1);
	assert_int_equal(v.launches, 0);
	assert_int_equal(v.lone, 1);
	assert_int_equal(v.left, 1);
	assert_int_equal(v.merged + v.gained, 0);
}

static const struct plan_assumption *
assumption(const struct sensitivity *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->item[i].name, name) == 0)
			return &s->item[i];
	return NULL;
}

/* 15 us with a launch of 10 us, 30 us on the host: at the 50 us that a launch may
 * take the host wins; how fast the multipliers are does not matter. */
static void
test_sensitive_to_the_launch_only(void **state)
{
	value_id x = make_input(&m, DIMS(1, 8, 16, 16));
	const struct plan_assumption *job, *tops;
	const struct candidates none = {.n = 0};
	struct sensitivity s;

	(void)state;
	make_output(&m, conv(x, 8, 8));
	host_ns = 30000;
	assert_true(search("mrvl"));
	assert_int_equal(composites_on(0), 1);
	assert_true(plan_sensitivity(&s, &plan, &request, false, &arena, &err));
	assert_int_equal(
	    s.n, plan_assumptions(request.mix, request.candidates));
	/* of a target that takes no node nothing hangs on */
	assert_int_equal(plan_assumptions(request.mix, &none), 0);
	job = assumption(&s, "job_ns");
	tops = assumption(&s, "int8_tops");
	assert_null(assumption(&s, "tiles")); /* published */
	assert_true(job && !job->end[0].flips && job->end[1].flips);
	assert_int_equal(job->end[0].kept, plan.cost - 10000 + 2000);
	assert_int_equal(job->end[1].kept, plan.cost - 10000 + 50000);
	assert_int_equal(job->end[1].best, 30000);
	assert_int_equal(job->end[1].nmoved, 1);
	/* a launch that makes up for what the device saves */
	assert_true(
	    fabs(job->end[1].breaks_at - (40000 - (double)plan.cost)) < 1.5);
	assert_int_equal(job->end[1].nbroken, 1);
	assert_int_equal(job->end[1].to, 1);
	assert_non_null(assumption(&s, "depthwise_as_dense")); /* inferred */
	assert_true(tops && !tops->end[0].flips && !tops->end[1].flips);
}

/* What every search looks into is what --sensitivity finds, and where it stops is
 * told: nothing is proven in no time at all. */
static void
test_a_quick_look_is_as_good(void **state)
{
	value_id x = make_input(&m, DIMS(1, 8, 16, 16));
	struct sensitivity all, quick, none;
	struct plan_request late;

	(void)state;
	make_output(&m, conv(x, 8, 8));
	host_ns = 30000;
	assert_true(search("mrvl"));
	assert_true(
	    plan_sensitivity(&all, &plan, &request, false, &arena, &err));
	assert_true(
	    plan_sensitivity(&quick, &plan, &request, true, &arena, &err));
	assert_int_equal(all.nleft + quick.nleft, 0);
	assert_int_equal(quick.n, all.n);
	for (uint32_t i = 0; i < all.n; i++)
		for (uint32_t e = 0; e < 2; e++) {
			const struct plan_end *a = &all.item[i].end[e];
			const struct plan_end *b = &quick.item[i].end[e];

			assert_int_equal(a->kept, b->kept);
			assert_int_equal(a->best, b->best);
			assert_true(!a->flips || a->breaks_at == b->breaks_at);
		}
	late = request;
	late.search.deadline_ns = 1;
	assert_true(plan_sensitivity(&none, &plan, &late, true, &arena, &err));
	assert_int_equal(none.n, 0);
	assert_int_equal(none.nleft, all.n);
}

/* ---- regions as upstream has them ---- */

#define COMPAT "mrvl:compat=legacy-v0.19"

static uint32_t
regions_on(uint32_t target)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan.nregions; i++)
		n += plan.region[i].target == target;
	return n;
}

static cost_ns
launches(void)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < plan.nregions; i++)
		sum += plan.region[i].launch;
	return sum;
}

/* Two convolutions that share nothing. */
static void
two_unconnected(void)
{
	value_id x = make_input(&m, DIMS(1, 16, 8, 8));
	value_id y = make_input(&m, DIMS(1, 16, 8, 8));

	make_output(&m, conv(x, 16, 16));
	make_output(&m, conv(y, 16, 16));
}

static void
test_unconnected_share_an_invocation(void **state)
{
	(void)state;
	two_unconnected();
	assert_true(search("mrvl"));
	assert_int_equal(regions_on(0), 1);
	assert_true(plan.proven);
}

static void
test_compat_launches_unconnected_regions_each(void **state)
{
	(void)state;
	two_unconnected();
	assert_true(search(COMPAT));
	assert_int_equal(composites_on(0), 2);
	assert_int_equal(regions_on(0), 2);
	assert_int_equal(launches(), 2 * prices_launch(&prices, 0)->ns);
	assert_true(plan.cost > plan.lower_bound && !plan.proven);
}

static void
test_a_limit_overrules_upstreams_regions(void **state)
{
	(void)state;
	two_unconnected();
	make_end(&m);
	assert_true(mix_open(&mix, &(const char *){COMPAT}, 1, &arena, &err));
	assert_true(constraints_prefix(
	    &constraints, "mrvl", m.graph, &mix, &arena, &err));
	assert_true(search(COMPAT));
	assert_int_equal(composites_on(0), 2);
	assert_int_equal(regions_on(0), 1);
}

/* What a pin takes out of a region of upstream's cuts it. */
static void
test_a_pin_cuts_upstreams_region(void **state)
{
	value_id x = make_input(&m, DIMS(1, 160, 16, 16));
	value_id y = conv(conv(x, 160, 160), 160, 160);

	(void)state;
	make_output(&m, conv(y, 160, 160));
	make_end(&m);
	assert_true(mix_open(&mix, &(const char *){COMPAT}, 1, &arena, &err));
	assert_true(constraints_pin(
	    &constraints, "#1=host", m.graph, &mix, &arena, &err));
	assert_true(search(COMPAT));
	assert_int_equal(composites_on(0), 2);
	assert_int_equal(regions_on(0), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_weights_that_do_not_fit),
	    TEST(test_small_scratch_leaves_room),
	    TEST(test_scratch_of_the_plan_counts),
	    TEST(test_a_locked_partition_beside_memory),
	    TEST(test_nothing_that_fits_is_an_error),
	    TEST(test_values_between_regions_go_through_the_host),
	    TEST(test_each_region_takes_its_inputs_in),
	    TEST(test_a_missing_conversion_is_found),
	    TEST(test_nothing_leads_out_of_where_it_was_taken_in),
	    TEST(test_nothing_is_taken_in_for_nobody),
	    TEST(test_a_conversion_less_is_a_shift),
	    TEST(test_a_lone_sum_is_left_on_the_host),
	    TEST(test_sensitive_to_the_launch_only),
	    TEST(test_a_quick_look_is_as_good),
	    TEST(test_unconnected_share_an_invocation),
	    TEST(test_compat_launches_unconnected_regions_each),
	    TEST(test_a_limit_overrules_upstreams_regions),
	    TEST(test_a_pin_cuts_upstreams_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
