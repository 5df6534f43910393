/* Near ties: a comparison decides, or the fewest boundaries do, and substitutes that
 * were only probed are compared where much hangs on it. A pricer of our own
 * says what comparing shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/fit.h"
#include "plan/search.h"
#include "tests/support/make.h"
#define STANDIN_PRICE
#define STANDIN_PROBE
#define STANDIN_COMPARE
#include "tests/support/standin_pricer.h"
#include "tests/support/support.h"

#define LENGTH 3 /* Relus in a row */
#define FOUND (2 * LENGTH)

struct pricer {
	struct prices *prices;
	cost_ns own[FOUND]; /* as measured */
	struct fit_pair turns[FOUND * FOUND];
	uint64_t low, high; /* of every comparison */
	uint32_t ncompared;
	cost_ns price; /* of what has none; 0: there is none such */
	uint32_t npriced;
	uint32_t again; /* a second look raises bounds to so many per cent */
	bool is_off; /* nothing may be measured */
};

bool
pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < n; i++) {
		struct price *x = prices_candidate(p->prices, candidate[i]);

		assert_int_not_equal(p->price, 0);
		assert_int_equal(x->state, PRICE_BOUND);
		assert_int_equal(x->probes, 2); /* it was worth two looks */
		x->state = PRICE_KNOWN;
		x->ns = x->low = x->high = p->own[candidate[i]] = p->price;
	}
	p->npriced += n;
	return true;
}

bool
pricer_may_measure(const struct pricer *p)
{
	return !p->is_off;
}

bool
pricer_probe(struct pricer *p, const uint32_t *candidate, uint32_t n,
    uint32_t nprobes, bool *any, struct err *err)
{
	(void)err;
	*any = false;
	for (uint32_t i = 0; nprobes == 1 && i < n; i++) {
		struct price *x = prices_candidate(p->prices, candidate[i]);

		if (x->state != PRICE_BOUND || x->probes != 1)
			continue;
		*any = true;
		x->probes++;
		x->bound = x->bound * p->again / 100;
	}
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
		assert_in_range(p->ncompared, 0, FOUND * FOUND - 1);
		p->turns[p->ncompared++] =
		    (struct fit_pair){pair[i].a, pair[i].b, p->low, p->high};
	}
	return true;
}

bool
pricer_fit(struct pricer *p)
{
	cost_ns ns[FOUND], spread[FOUND] = {0};
	struct arena scratch;
	bool moved = false;

	arena_init(&scratch);
	memcpy(ns, p->own, sizeof ns);
	fit_prices(ns, spread, FOUND, p->turns, p->ncompared, &scratch);
	arena_release(&scratch);
	for (uint32_t i = 0; i < FOUND; i++) {
		struct price *x = prices_candidate(p->prices, i);

		if (x->state != PRICE_KNOWN)
			continue;
		moved |= x->ns != ns[i];
		x->ns = x->low = x->high = ns[i];
	}
	return moved;
}

void
pricer_unfit(struct pricer *p)
{
	(void)p;
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

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;
static struct prices prices;
static struct pricer pricer;
static struct plan plan;
static const struct constraints *constraints;
static struct plan_request asked;

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

/* Search with cost[target][node], which of the right one is no more than what a
 * probe shows if the pricer has prices; the targets chosen, as "lrl". */
static const char *
chosen(const cost_ns cost[2][LENGTH])
{
	static char text[LENGTH + 1];
	const struct plan_request r = {.trace = trace_wanted(),
	    .graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .prices = &prices,
	    .pricer = &pricer,
	    .constraints = constraints};
	struct err err = {.kind = ERR_NONE};

	pricer.prices = &prices;
	prices_init(&prices, &arena);
	prices_of_each(&prices, found.n, 2);
	prices.value_class = arena_new(&arena, uint32_t, m.graph->nvalues);
	prices.conversion = arena_new(&arena, struct conversion_price, 1);
	prices.nclasses = prices.nformats = 1;
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		cost_ns ns = cost[c->target][c->node[0]];

		pricer.own[i] = ns;
		*prices_candidate(&prices, i) =
		    (struct price){.state = PRICE_KNOWN,
		        .source = PRICE_MEASURED,
		        .ns = ns,
		        .low = ns,
		        .high = ns,
		        .bound = 1,
		        .when = "",
		        .detail = ""};
		if (pricer.price && c->target == 1) {
			prices_candidate(&prices, i)->state = PRICE_BOUND;
			prices_candidate(&prices, i)->bound = ns;
			prices_candidate(&prices, i)->probes = 1;
		}
	}
	asked = r;
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
	/* One is as much cheaper as the other is dearer. */
	assert_in_range(plan.cost, 1000 + 2 * 970, 1000 + 2 * 975);
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
	assert_int_equal(plan.cost, 1000 + 1005 + 1000);
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

/* What if it ran elsewhere? That is asked at the prices the plan was found at, however often:
 * another comparison would make other prices of them, and the answers no differences. */
static void
a_what_if_compares_nothing(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 1010, 1000}, {1020, 1000, 1500}};
	struct err err = {.kind = ERR_NONE};
	struct constraints pins = {.n = 0};
	uint32_t ncompared;
	struct plan other;
	bool is_there;

	(void)state;
	pricer = (struct pricer){.low = 940000, .high = 950000};
	chosen(cost);
	ncompared = pricer.ncompared;
	assert_int_not_equal(ncompared, 0);
	assert_true(
	    constraints_pin(&pins, "#1=left", m.graph, &mix, &arena, &err));
	asked.constraints = &pins;
	asked.what_if = true;
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(plan_find(&other, &is_there, &asked, &arena, &err));
		assert_true(is_there);
		assert_true(other.cost >= plan.cost);
		assert_int_equal(pricer.ncompared, ncompared);
	}
}

static void
what_is_far_apart_is_left_alone(void **state)
{
	/* The one in the middle is most of the plan. */
	const cost_ns cost[2][LENGTH] = {
	    {1000, 100000, 1000}, {1030, 116000, 1500}};

	(void)state;
	pricer = (struct pricer){.low = 1, .high = 1};
	assert_string_equal(chosen(cost), "lll");
	assert_int_equal(pricer.ncompared, 0);
}

/* Prices of what costs most are doubted further than others. */
static void
what_is_dear_is_compared_from_farther(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 100000, 1000}, {1030, 114000, 1500}};

	(void)state;
	pricer = (struct pricer){.low = 700000, .high = 700000};
	assert_string_equal(chosen(cost), "lrl");
	assert_int_equal(pricer.ncompared, 1);
	assert_in_range(plan.cost, 2000 + 89000, 2000 + 91000);
}

/* The probe was wrong, and so is the price alone: in turn it is faster. */
static void
a_rival_probed_at_is_compared(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 3000, 1000}, {1010, 3300, 1010}};

	(void)state;
	pricer = (struct pricer){
	    .low = 700000, .high = 700000, .price = 3200, .again = 101};
	assert_string_equal(chosen(cost), "lrl");
	assert_int_equal(pricer.npriced, 1); /* the costliest choice's only */
	assert_int_equal(pricer.ncompared, 1);
	assert_in_range(plan.cost, 2000 + 2590, 2000 + 2650);
	assert_true(plan.proven);
	/* In turn it is as slow as it seemed. */
	pricer = (struct pricer){
	    .low = 1100000, .high = 1100000, .price = 3200, .again = 101};
	assert_string_equal(chosen(cost), "lll");
	assert_int_equal(pricer.npriced, 1);
	assert_true(plan.proven);
}

/* So much below the probe that there is nothing to compare. */
static void
a_rival_probed_at_may_be_cheaper(void **state)
{
	const cost_ns cost[2][LENGTH] = {
	    {1000, 3000, 1000}, {1010, 3300, 1010}};

	(void)state;
	pricer = (struct pricer){.price = 1500, .again = 101};
	assert_string_equal(chosen(cost), "lrl");
	assert_int_equal(pricer.npriced, 1);
	assert_int_equal(plan.cost, 1000 + 1500 + 1000);
}

static void
what_seems_far_or_small_is_not_priced(void **state)
{
	const cost_ns far[2][LENGTH] = {{1000, 3000, 1000}, {1200, 3500, 1200}};
	const cost_ns small[2][LENGTH] = {
	    {1000, 100000, 1000}, {1010, 120000, 1010}};
	const cost_ns near[2][LENGTH] = {
	    {1000, 3000, 1000}, {1010, 3300, 1010}};

	(void)state;
	pricer = (struct pricer){.price = 1, .again = 100};
	assert_string_equal(chosen(far), "lll");
	assert_string_equal(chosen(small), "lll");
	pricer.again = 120; /* a second look at them is enough */
	assert_string_equal(chosen(near), "lll");
	pricer.is_off = true;
	pricer.again = 100;
	assert_string_equal(chosen(near), "lll");
	assert_int_equal(pricer.npriced, 0);
	pricer.is_off = false;
	assert_string_equal(chosen(near), "lrl");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(a_comparison_decides),
	    T(fewer_boundaries_win_a_tie),
	    T(what_is_forbidden_stays_out),
	    T(a_what_if_compares_nothing),
	    T(what_is_far_apart_is_left_alone),
	    T(what_is_dear_is_compared_from_farther),
	    T(a_rival_probed_at_is_compared),
	    T(a_rival_probed_at_may_be_cheaper),
	    T(what_seems_far_or_small_is_not_priced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
