/* A plan with a deliberately broken candidate: it is found, barred, and the
 * search repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/pricer.h"
#include "db/db.h"
#include "exec/verified.h"
#include "ir/base/folder.h"
#include "targets/host/host.h"
#include "tests/support/make.h"

extern const struct target_kind target_host;

#define ELEMENTS 12

/* How the double computes Relu. */
static enum {
	RIGHTLY,
	WRONGLY,
	NOT_AT_ALL,
	TO_DEATH,
	SLIGHTLY_OFF, /* as far as a right kernel may be */
	NOT_IN_COMPANY, /* wrong while another one is open */
	NOT_IN_THE_PLAN /* wrong the first two times of the whole plan */
} how;
static uint32_t nopen, nruns, first_off = 3;

static bool
is_off(void)
{
	nruns++;
	return how == WRONGLY || (how == NOT_IN_COMPANY && nopen > 1)
	    || (how == NOT_IN_THE_PLAN
	        && (nruns == first_off || nruns == first_off + 1));
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const float *x = in[0];
	float *y = out[0];

	const float off = how == SLIGHTLY_OFF ? 5e-5f : is_off() ? 0.01f : 0;

	(void)k;
	if (how == TO_DEATH)
		abort();
	for (uint32_t i = 0; i < ELEMENTS; i++)
		y[i] = (x[i] > 0 ? x[i] : 0) + off;
}

static void
release(struct kernel *k)
{
	(void)k;
	nopen--;
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	(void)t, (void)g, (void)a;
	if (how == NOT_AT_ALL)
		return err_set(err, ERR_UNSUPPORTED, "not implemented");
	nopen++;
	*out = (struct kernel){.candidate = c, .run = run, .release = release};
	return true;
}

static int version = 1; /* of the double's library */

static void
environment(const struct target *t, struct buf *b)
{
	(void)t;
	buf_printf(b, "double_version=%d\n", version);
}

static const struct rule rules[] = {
    {.name = "double.relu", .pattern = NODE(RELU, ANY)}};
static const struct target_kind target_double = {
    .name = "double",
    .summary = "a test double",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .compile = compile,
    .environment = environment,
};

static struct arena arena;
static struct maker m;
static struct target target[2];
static struct mix mix;
static struct candidates found;
static struct prices prices;
static struct notes notes;

/* x -> Relu -> Sigmoid -> Relu -> y, or x -> Relu -> Mul 2000 -> Sin -> y */
static void
make_model(bool amplifies)
{
	const int64_t *one = (const int64_t[]){1, 0};
	value_id x;

	make_begin(&m, &arena);
	x = MAKE(&m, RELU, make_input(&m, (const int64_t[]){3, 4, 0}));
	if (amplifies)
		x = MAKE(&m, SIN,
		    MAKE(&m, MUL, x, make_constant(&m, one, 2000, 2000)));
	else
		x = MAKE(&m, RELU, MAKE(&m, SIGMOID, x));
	make_output(&m, x);
	make_end(&m);
}

static struct price
price_of(cost_ns ns)
{
	return (struct price){.state = PRICE_KNOWN,
	    .ns = ns,
	    .bound = ns,
	    .low = ns,
	    .high = ns,
	    .when = "",
	    .detail = ""};
}

/* The double is cheap; each candidate has a key of its own. */
static void
make_prices(void)
{
	prices_init(&prices, &arena);
	prices_of_each(&prices, found.n, 2);
	prices.nclasses = 1;
	prices.nformats = MAX_FORMATS;
	prices.conversion = arena_new(
	    &arena, struct conversion_price, MAX_FORMATS * MAX_FORMATS);
	prices.value_class = arena_new(&arena, uint32_t, m.graph->nvalues);
	for (uint32_t i = 0; i < found.n; i++)
		*prices_candidate(&prices, i) =
		    price_of(found.candidate[i].target == 0 ? 10 : 100);
	for (uint32_t i = 0; i < MAX_FORMATS * MAX_FORMATS; i++) {
		prices.conversion[i].price = price_of(5);
		prices.conversion[i].via = (format_id)(i % MAX_FORMATS);
	}
	*prices_launch(&prices, 0) = *prices_launch(&prices, 1) = price_of(0);
}

static void
open_model(bool amplifies)
{
	struct err err = {.kind = ERR_NONE};

	make_model(amplifies);
	mix = (struct mix){.target = target, .n = 2};
	formats_init(&mix.formats);
	target[0] = (struct target){.kind = &target_double,
	    .text = "double",
	    .source = PRICE_MEASURED,
	    .formats = &mix.formats};
	target[1] = (struct target){.kind = &target_host,
	    .text = "host",
	    .index = 1,
	    .formats = &mix.formats};
	notes = (struct notes){.arena = &arena};
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	make_prices();
}

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	open_model(false);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static bool
search_plan(struct plan *plan, struct verification *v, struct err *err)
{
	const struct verify_options o = {.reference = host_eval};
	struct plan_request r = {.graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .prices = &prices,
	    .no_baselines = true,
	    .notes = &notes};

	nopen = nruns = 0;
	assert_true(plan_search(plan, &r, &arena, err));
	return verified_search(plan, &r, &o, v, &arena, err);
}

/* Composites of the double in the plan that comes out. */
static uint32_t
search(struct verification *v)
{
	struct err err = {.kind = ERR_NONE};
	struct plan plan;
	uint32_t n = 0;

	assert_true(search_plan(&plan, v, &err));
	/* what is barred is out of the problem; of the rest there is a proof */
	assert_string_equal(plan.searcher, "exact");
	assert_true(plan.proven);
	assert_int_equal(plan.lower_bound, plan.cost);
	for (uint32_t i = 0; i < plan.ncomposites; i++)
		n += found.candidate[plan.composite[i].candidate].target == 0;
	return n;
}

static void
what_is_right_stays(void **state)
{
	struct verification v;

	(void)state;
	how = RIGHTLY;
	assert_int_equal(search(&v), 2);
	assert_int_equal(v.verdict.kind, VERIFY_RIGHT);
	assert_int_equal(v.nbarred, 0);
	assert_true(v.verdict.error < 1e-6);
}

static void
what_is_broken_goes(void **state)
{
	struct verification v;

	(void)state;
	for (how = WRONGLY; how <= TO_DEATH; how++) {
		notes.n = 0;
		assert_int_equal(search(&v), 0);
		assert_int_equal(v.verdict.kind, VERIFY_RIGHT);
		assert_int_equal(v.nbarred, 2);
		assert_int_equal(notes.n, 2);
		assert_non_null(strstr(notes.text[0], "double"));
	}
}

static void
what_is_wrong_in_company_goes(void **state)
{
	struct verification v;

	(void)state;
	how = NOT_IN_COMPANY;
	notes.n = 0;
	assert_int_equal(search(&v), 1);
	assert_int_equal(v.verdict.kind, VERIFY_RIGHT);
	assert_int_equal(v.nbarred, 1);
	assert_non_null(strstr(notes.text[0], "not in the plan"));
}

static void
a_wrong_whole_is_refused(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct verification v;
	struct plan plan;

	(void)state;
	how = NOT_IN_THE_PLAN;
	assert_false(search_plan(&plan, &v, &err));
	assert_int_equal(err.kind, ERR_VERDICT);
	assert_non_null(strstr(err.text, "no composite of it does"));
}

static void
equal_kernels_go_together(void **state)
{
	price_id *id = arena_new(&arena, price_id, found.n);
	uint32_t first = UINT32_MAX;
	struct verification v;

	(void)state;
	how = WRONGLY;
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].target == 0)
			id[i] = prices.candidate[first = first < i ? first : i];
		else
			id[i] = prices.candidate[i];
	prices.candidate = id;
	notes.n = 0;
	assert_int_equal(search(&v), 0);
	assert_int_equal(v.nbarred, 2);
	assert_int_equal(notes.n, 1);
}

/* What is within a kernel's tolerance may be half of the range off at the end of
 * a model that amplifies; what the kernel's own error does not explain is wrong. */
static void
what_the_model_amplifies_is_right(void **state)
{
	struct verification v;

	(void)state;
	open_model(true);
	how = SLIGHTLY_OFF;
	assert_int_equal(search(&v), 1);
	assert_int_equal(v.verdict.kind, VERIFY_RIGHT);
	assert_true(v.verdict.error > 0.01);
	how = NOT_IN_THE_PLAN;
	first_off = 2;
	assert_int_equal(search(&v), 0);
	assert_int_equal(v.nbarred, 1);
	first_off = 3;
	open_model(false);
}

/* How many candidates of the double plans may use, by the database. */
static uint32_t
count_usable(const char *db, bool verify)
{
	const struct pricer_options po = {.db = db, .reference = host_eval};
	const struct verify_options o = {.reference = host_eval};
	struct plan_request r = {.graph = m.graph,
	    .mix = &mix,
	    .candidates = &found,
	    .prices = &prices,
	    .no_baselines = true,
	    .notes = &notes};
	struct err err = {.kind = ERR_NONE};
	struct verification v;
	struct plan plan;
	uint32_t n = 0;

	nopen = nruns = 0;
	assert_true(
	    pricer_open(&r.pricer, m.graph, &mix, &found, &po, &arena, &err));
	assert_true(pricer_begin(r.pricer, &prices, &err));
	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].target == 0
		    && prices_candidate(&prices, i)->state != PRICE_FAILED;
	if (verify) {
		assert_true(plan_search(&plan, &r, &arena, &err));
		assert_true(verified_search(&plan, &r, &o, &v, &arena, &err));
	}
	assert_true(pricer_close(r.pricer, &err));
	return n;
}

/* By the version of the library: the next one may build it. */
static void
bars_are_remembered(void **state)
{
	struct err err = {.kind = ERR_NONE};
	const char *folder = folder_new(NULL, &arena, &err), *db;
	const struct prices before = prices;
	struct costdb *empty;

	(void)state;
	assert_non_null(folder);
	db = arena_printf(&arena, "%s/prices.db", folder);
	assert_true(costdb_open(&empty, db, DB_WRITE, &arena, &err));
	assert_true(costdb_close(empty, &err));
	for (how = WRONGLY; how <= TO_DEATH; how++) {
		version = 10 * (int)how;
		assert_int_equal(count_usable(db, true), 2);
		assert_int_equal(count_usable(db, false), 0);
		version++;
		assert_int_equal(count_usable(db, false), 2);
	}
	folder_remove(folder);
	prices = before;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_right_stays),
	    cmocka_unit_test(what_is_broken_goes),
	    cmocka_unit_test(what_is_wrong_in_company_goes),
	    cmocka_unit_test(a_wrong_whole_is_refused),
	    cmocka_unit_test(equal_kernels_go_together),
	    cmocka_unit_test(what_the_model_amplifies_is_right),
	    cmocka_unit_test(bars_are_remembered),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
