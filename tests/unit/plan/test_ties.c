/* Near ties: a comparison decides, or the fewest boundaries do. A pricer of our
 * own says what comparing shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/solve.h"
#include "tests/support/make.h"

struct pricer {
	uint64_t low, high; /* of every comparison */
	uint32_t ncompared;
};

bool
pricer_price(struct pricer *p, struct prices *prices, const uint32_t *candidate,
    uint32_t n, struct err *err)
{
	(void)p, (void)prices, (void)candidate, (void)n, (void)err;
	fail_msg("everything is priced");
	return false;
}

bool
pricer_glance(struct pricer *p, struct prices *prices,
    const uint32_t *candidate, uint32_t n, bool *any, struct err *err)
{
	(void)p, (void)prices, (void)candidate, (void)n, (void)err;
	*any = false;
	return true;
}

bool
pricer_glance_again(struct pricer *p, struct prices *prices,
    const uint32_t *candidate, uint32_t n, bool *any, struct err *err)
{
	return pricer_glance(p, prices, candidate, n, any, err);
}

bool
pricer_price_conversions(
    struct pricer *p, struct prices *prices, struct err *err)
{
	(void)p, (void)prices, (void)err;
	return true;
}

bool
pricer_price_region(struct pricer *p, struct prices *prices,
    const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)p, (void)prices, (void)candidate, (void)n, (void)err;
	return true;
}

bool
pricer_compare(
    struct pricer *p, struct pricer_pair *pair, uint32_t n, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < n; i++) {
		pair[i].known = true;
		pair[i].low = p->low;
		pair[i].high = p->high;
	}
	p->ncompared += n;
	return true;
}

void
pricer_adjust(
    struct pricer *p, struct prices *prices, uint32_t candidate, cost_ns ns)
{
	(void)p;
	prices->candidate[candidate].ns = ns;
}

static uint32_t
one_way(const struct match_in *m, struct formats *f, struct implementation *out,
    uint32_t max)
{
	(void)m, (void)f, (void)max;
	out[0] = (struct implementation){.name = "one"};
	return 1;
}

static const struct rule rules[] = {
    {.name = "relu", .pattern = NODE(RELU, ANY)}};
static const struct target_kind left = {
    .name = "left",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .implementations = one_way,
};
static const struct target_kind right = {
    .name = "right",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .implementations = one_way,
};

#define LENGTH 3 /* Relus in a row */

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;
static struct prices prices;
static struct pricer pricer;
static struct plan plan;
static const struct constraints *constraints;

static int
setup(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct target *t;
	value_id v;

	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	v = make_input(&m, DIMS(1, 8));
	for (uint32_t i = 0; i < LENGTH; i++)
		v = MAKE(&m, RELU, v);
	make_output(&m, v);
	make_end(&m);
	t = arena_new(&arena, struct target, 2);
	t[0] = (struct target){.kind = &left, .text = "left"};
	t[1] = (struct target){.kind = &right, .text = "right", .index = 1};
	mix = (struct mix){.target = t, .n = 2};
	formats_init(&mix.formats);
	t[0].formats = t[1].formats = &mix.formats;
	return candidates_find(&found, m.graph, &mix, NULL, &arena, &err) ? 0
	                                                                  : -1;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* Search with cost[target][node]; the targets chosen, as "lrl". */
static const char *
chosen(const cost_ns cost[2][LENGTH])
{
	static char text[LENGTH + 1];
	const struct plan_request r = {.graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .prices = &prices,
	    .pricer = &pricer,
	    .constraints = constraints};
	struct err err = {.kind = ERR_NONE};

	prices = (struct prices){
	    .candidate = arena_new(&arena, struct price, found.n),
	    .nkeys = found.n,
	    .launch = arena_new(&arena, struct price, 2),
	    .value_class = arena_new(&arena, uint32_t, m.graph->nvalues),
	    .conversion = arena_new(&arena, struct conversion_price, 1),
	    .nclasses = 1,
	    .nformats = 1,
	};
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		cost_ns ns = cost[c->target][c->node[0]];

		prices.candidate[i] = (struct price){.state = PRICE_KNOWN,
		    .source = PRICE_MEASURED,
		    .ns = ns,
		    .low = ns,
		    .high = ns,
		    .bound = 1,
		    .key = i,
		    .when = "",
		    .detail = ""};
	}
	if (!plan_search(&plan, &r, &arena, &err))
		fail_msg("%s", err.text);
	assert_int_equal(plan.ncomposites, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++)
		text[i] = found.candidate[plan.composite[i].candidate].target
		    ? 'r'
		    : 'l';
	return text;
}

static void
a_comparison_decides(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 1000, 1000}, {1010, 2000, 1010}};

	(void)state;
	pricer = (struct pricer){.low = 930000, .high = 940000};
	assert_string_equal(chosen(cost), "rlr");
	assert_int_equal(pricer.ncompared, 2); /* 2000 is not near */
	assert_int_equal(plan.nties, 2);
	assert_false(plan.tie[0].tied);
	assert_int_equal(plan.cost, 935 + 1000 + 935);
	pricer = (struct pricer){.low = 1030000, .high = 1060000};
	assert_string_equal(chosen(cost), "lll");
	assert_false(plan.tie[0].tied);
}

static void
fewer_boundaries_win_a_tie(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 1010, 1000}, {1500, 1000, 1500}};

	(void)state;
	pricer = (struct pricer){.low = 980000, .high = 1030000};
	assert_string_equal(chosen(cost), "lll");
	assert_int_equal(plan.nties, 1);
	assert_true(plan.tie[0].tied);
	assert_int_equal(plan.cost, 3000);
	/* Without the tie the middle one stays. */
	pricer = (struct pricer){.low = 1050000, .high = 1050000};
	assert_string_equal(chosen(cost), "lrl");
}

/* A tie is no reason to break a rule. */
static void
what_is_forbidden_stays_out(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 1010, 1000}, {1500, 1000, 1500}};
	struct err err = {.kind = ERR_NONE};
	struct constraints pins = {.n = 0};

	(void)state;
	pricer = (struct pricer){.low = 980000, .high = 1030000};
	assert_true(
	    constraints_pin(&pins, "#1=right", m.graph, &mix, &arena, &err));
	constraints = &pins;
	assert_string_equal(chosen(cost), "lrl");
	constraints = NULL;
	assert_string_equal(chosen(cost), "lll");
}

static void
what_is_far_apart_is_left_alone(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 1000, 1000}, {1030, 1100, 1500}};

	(void)state;
	pricer = (struct pricer){.low = 1, .high = 1};
	assert_string_equal(chosen(cost), "lll");
	assert_int_equal(pricer.ncompared, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(a_comparison_decides),
	    T(fewer_boundaries_win_a_tie),
	    T(what_is_forbidden_stays_out),
	    T(what_is_far_apart_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
