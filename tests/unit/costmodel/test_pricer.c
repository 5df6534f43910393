/* The pricer over a fake backend and a measurer that measures nothing: the one
 * defined here takes the place of the real one in this program. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/machine_facts.h"
#include "costmodel/measure.h"
#include "costmodel/pricer.h"
#include "tests/support/dbfile.h"

/* The fake measurer: what it was asked, and what it answers. */
static struct {
	uint32_t opened, measured, conversions, probes, duels;
	cost_ns base;
	uint32_t crash; /* this candidate crashes */
	uint32_t slow; /* this one takes `slow_ns` to answer */
	uint64_t slow_ns;
	const char *version; /* of the library, as the environment has it */
} fake;

struct measurer {
	struct measure_options o;
};
static struct measurer the_measurer;

uint32_t
measurer_workers(uint32_t workers, uint32_t threads)
{
	(void)threads;
	return workers ? workers : 1;
}

bool
measurer_open(struct measurer **m, const struct measure_options *o,
    struct arena *a, struct err *err)
{
	(void)a, (void)err;
	the_measurer.o = *o;
	*m = &the_measurer;
	fake.opened++;
	return true;
}

bool
measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    void (*done)(void *context, uint32_t job, const struct sample *r),
    void *context, struct err *err)
{
	(void)err;
	for (uint32_t i = n; i-- > 0;) {
		cost_ns ns = fake.base + 10 * (job[i].candidate + 1);
		struct sample r = {
		    .outcome = OUTCOME_OK,
		    .n = 11,
		    .min = ns - 1,
		    .low = ns,
		    .median = ns + 1,
		    .high = ns + 2,
		};

		if (job[i].candidate == UINT32_MAX) {
			fake.conversions++;
			r.low = r.min = fake.base / 10;
			/* Straight from blocked to plain is slow. */
			if (job[i].from == 2 && job[i].to == 0)
				r.low = r.median = r.high = fake.base * 100;
		} else if (job[i].candidate == fake.crash) {
			r = (struct sample){.outcome = OUTCOME_CRASH};
			strcpy(r.detail, "signal 11");
		} else if (job[i].candidate == fake.slow
		    && m->o.timeout_ns < fake.slow_ns) {
			r = (struct sample){.outcome = OUTCOME_TIMEOUT};
		}
		if (job[i].is_pair) {
			fake.duels++;
			r.low = 990000;
			r.median = 1000000;
			r.high = 1010000;
		}
		fake.measured += !job[i].probe && !job[i].is_pair;
		fake.probes += job[i].probe;
		done(context, i, &r);
	}
	return true;
}

void
measurer_set_deadline(struct measurer *m, uint64_t deadline_ns)
{
	(void)m, (void)deadline_ns;
}

void
measurer_close(struct measurer *m)
{
	(void)m;
}

void
measure_environment(struct buf *b, uint32_t threads)
{
	buf_printf(b, "cpu.model=test\nthreads=%u\n", threads);
}

static void
fake_environment(const struct target *t, struct buf *b)
{
	(void)t;
	buf_printf(b, "lib.version=%s\n", fake.version);
}

static bool
simulate(const struct region *r, struct estimate *out)
{
	(void)r;
	*out = (struct estimate){1234, 1000, 2000, "an assumed parameter"};
	return true;
}

static bool
move(const struct target *t, const struct format *from, const struct format *to,
    const struct type *type, struct estimate *out)
{
	(void)t, (void)type;
	*out = (struct estimate){.ns = 50};
	return (from->space == SPACE_HOST ? from : to)->layout == LAYOUT_NHWC;
}

static const struct space space_far = {"far", 'f', move};
static const struct rule rules[] = {{.name = "fake.relu"}};
static const struct target_kind measured = {
    .name = "fake",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .environment = fake_environment,
};
static const struct target_kind simulated = {
    .name = "sim",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_SIMULATED,
    .launches = true,
    .simulate = simulate,
    .space = &space_far,
};

#define NODES 5

struct fixture {
	struct arena a;
	struct graph *g;
	struct target target[2];
	struct mix mix;
	struct candidate candidate[3 * NODES];
	struct candidates candidates;
	struct notes notes;
	const char *db;
	struct pricer_options o;
	struct pricer *pricer;
	struct prices prices;
	struct err err;
};

static const int64_t small[] = {1, 16, 8, 8}, large[] = {1, 16, 16, 16};

/* A chain of Relus over 1x16x8x8, the last two over 1x16x16x16: two shapes. */
static void
make_graph(struct fixture *f)
{
	struct type type = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4};
	value_id *v = arena_new(&f->a, value_id, NODES + 1);

	f->g = graph_new(&f->a, "test");
	for (uint32_t i = 0; i <= NODES; i++) {
		type.dim = i < NODES - 1 ? small : large;
		v[i] =
		    graph_add_value(f->g, arena_printf(&f->a, "v%u", i), &type);
	}
	f->g->value[v[0]].flags = VALUE_INPUT;
	f->g->value[v[NODES]].flags = VALUE_OUTPUT;
	for (uint32_t i = 0; i < NODES; i++)
		graph_add_node(f->g,
		    &(struct node){
		        .op = OP_RELU,
		        .op_type = "Relu",
		        .domain = "",
		        .name = "",
		        .opset = 13,
		        .ninputs = 1,
		        .noutputs = 1,
		        .input = &v[i],
		        .output = &v[i + 1],
		    });
}

/* Each node by the fake library in nhwc and blocked, and by the simulator. */
static void
make_candidates(struct fixture *f)
{
	static const char *const name[] = {"nhwc", "blocked", "sim"};
	node_id *node = arena_new(&f->a, node_id, NODES);

	for (uint32_t i = 0; i < NODES; i++) {
		node[i] = i;
		for (uint32_t k = 0; k < 3; k++) {
			format_id format = (format_id)(k + 1);
			struct port *port = arena_new(&f->a, struct port, 2);

			port[0] = (struct port){i, format};
			port[1] = (struct port){i + 1, format};
			f->candidate[3 * i + k] = (struct candidate){
			    .target = k == 2,
			    .implementation_name = name[k],
			    .nnodes = 1,
			    .node = &node[i],
			    .ninputs = 1,
			    .noutputs = 1,
			    .input = port,
			    .output = port + 1,
			};
		}
	}
	f->candidates =
	    (struct candidates){.candidate = f->candidate, .n = 3 * NODES};
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	f->target[0] =
	    (struct target){.kind = &measured, .text = "fake", .index = 0};
	f->target[1] = (struct target){.kind = &simulated,
	    .launch = {777, 777, 777, NULL},
	    .text = "sim",
	    .index = 1,
	    .source = PRICE_SIMULATED};
	f->mix = (struct mix){.target = f->target, .n = 2};
	formats_init(&f->mix.formats);
	format_intern(&f->mix.formats,
	    (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	format_intern(&f->mix.formats,
	    (struct format){SPACE_HOST, LAYOUT_BLK16, DT_UNDEFINED});
	format_intern(&f->mix.formats,
	    (struct format){&space_far, LAYOUT_NHWC, DT_FLOAT16});
	make_graph(f);
	make_candidates(f);
	notes_init(&f->notes, &f->a);
	f->db = dbfile_path("pricer", &f->a);
	f->o = (struct pricer_options){
	    .db = f->db,
	    .measure = true,
	    .notes = &f->notes,
	};
	memset(&fake, 0, sizeof fake);
	fake.base = 10000;
	fake.crash = fake.slow = UINT32_MAX - 1;
	fake.version = "2.6.3";
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	dbfile_remove(f->db);
	arena_release(&f->a);
	free(f);
	return 0;
}

static void
begin(struct fixture *f)
{
	bool ok = pricer_open(&f->pricer, f->g, &f->mix, &f->candidates, &f->o,
	              &f->a, &f->err)
	    && pricer_begin(f->pricer, &f->prices, &f->err);

	if (!ok)
		print_error("%s\n", f->err.text);
	assert_true(ok);
}

/* All there are. */
static bool
price_conversions(struct fixture *f)
{
	uint32_t n = f->prices.nformats;
	uint32_t all = f->prices.nclasses * n * n;
	struct pricer_conversion *list =
	    arena_new(&f->a, struct pricer_conversion, all);

	for (uint32_t k = 0; k < all; k++)
		list[k] = (struct pricer_conversion){
		    k / (n * n), (format_id)(k / n % n), (format_id)(k % n)};
	return pricer_price_conversions(f->pricer, list, all, &f->err);
}

static void
price_all(struct fixture *f)
{
	uint32_t all[3 * NODES];
	bool ok;

	for (uint32_t i = 0; i < 3 * NODES; i++)
		all[i] = i;
	ok = price_conversions(f)
	    && pricer_price(f->pricer, all, 3 * NODES, &f->err);
	if (!ok)
		print_error("%s\n", f->err.text);
	assert_true(ok);
}

static void
finish(struct fixture *f)
{
	assert_true(pricer_close(f->pricer, &f->err));
}

static void
equal_candidates_are_measured_once_and_never_again(void **state)
{
	struct fixture *f = *state;
	struct pricer_counts c;
	uint32_t before;

	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_BOUND);
	assert_int_equal(prices_candidate(&f->prices, 2)->state, PRICE_KNOWN);
	assert_int_equal(prices_candidate(&f->prices, 2)->ns, 1234);
	assert_int_equal(prices_launch(&f->prices, 1)->ns, 777);
	price_all(f);
	/* Nodes 0..2 are alike; 3 has another output shape, 4 both. */
	assert_int_equal(f->prices.candidate[0], f->prices.candidate[3]);
	assert_int_not_equal(f->prices.candidate[0], f->prices.candidate[1]);
	assert_int_not_equal(f->prices.candidate[0], f->prices.candidate[9]);
	assert_int_equal(fake.measured - fake.conversions, 6);
	for (uint32_t i = 0; i < 3 * NODES; i++)
		assert_int_equal(
		    prices_candidate(&f->prices, i)->state, PRICE_KNOWN);
	before = fake.measured;
	finish(f);

	begin(f);
	for (uint32_t i = 0; i < 3 * NODES; i++)
		assert_int_equal(
		    prices_candidate(&f->prices, i)->state, PRICE_KNOWN);
	price_all(f);
	assert_int_equal(fake.measured, before);
	c = pricer_counts(f->pricer);
	assert_int_equal(c.measured, 0);
	assert_int_equal(c.missed, 0);
	assert_int_equal(c.exact, before);
	assert_int_equal(
	    prices_candidate(&f->prices, 0)->origin, FROM_DB_EXACT);
	assert_string_equal(pricer_miss_reason(f->pricer, 0), "");
	finish(f);
}

static void
a_crash_is_an_outcome_that_is_remembered(void **state)
{
	struct fixture *f = *state;

	fake.crash = 13;
	begin(f);
	price_all(f);
	assert_int_equal(prices_candidate(&f->prices, 13)->state, PRICE_FAILED);
	assert_string_equal(
	    prices_candidate(&f->prices, 13)->detail, "crash: signal 11");
	assert_int_equal(pricer_counts(f->pricer).failed, 1);
	finish(f);
	fake.crash = UINT32_MAX - 1;
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 13)->state, PRICE_FAILED);
	assert_string_equal(
	    prices_candidate(&f->prices, 13)->detail, "crash: signal 11");
	finish(f);
}

static void
another_library_is_another_environment_and_said_so(void **state)
{
	struct fixture *f = *state;

	begin(f);
	price_all(f);
	finish(f);
	fake.version = "2.6.4";
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_BOUND);
	assert_string_equal(
	    pricer_miss_reason(f->pricer, 0), "lib.version: 2.6.3 -> 2.6.4");
	assert_int_equal(pricer_counts(f->pricer).compatible, 6);
	finish(f);
	f->o.accept = ACCEPT_COMPATIBLE;
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_KNOWN);
	assert_int_equal(
	    prices_candidate(&f->prices, 0)->origin, FROM_DB_COMPATIBLE);
	finish(f);
	fake.version = "3.0.0";
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_BOUND);
	assert_int_equal(pricer_counts(f->pricer).stale, 6);
	finish(f);
	f->o.accept = ACCEPT_ANY;
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_KNOWN);
	finish(f);
}

static void
conversions_take_the_cheaper_way_round(void **state)
{
	struct fixture *f = *state;
	uint32_t class;

	begin(f);
	price_all(f);
	class = f->prices.value_class[0];
	/* blocked -> plain goes by nhwc: 1000 + 1000 against 1000000. */
	assert_int_equal(conversion_at(&f->prices, class, 2, 0)->via, 1);
	assert_int_equal(
	    conversion_at(&f->prices, class, 2, 0)->price.ns, 2000);
	assert_int_equal(conversion_at(&f->prices, class, 2, 1)->via, 1);
	/* blocked -> mrvl: to nhwc, then across. */
	assert_int_equal(conversion_at(&f->prices, class, 2, 3)->via, 1);
	assert_int_equal(
	    conversion_at(&f->prices, class, 2, 3)->price.ns, 1050);
	assert_int_equal(conversion_at(&f->prices, class, 1, 1)->price.ns, 0);
	finish(f);
}

static void
a_measurement_below_its_bound_lowers_the_others(void **state)
{
	struct fixture *f = *state;
	uint32_t first[] = {0}, rest[] = {9};
	cost_ns bound;

	fake.base = 0;
	begin(f);
	bound = prices_candidate(&f->prices, 9)->bound;
	assert_true(pricer_price(f->pricer, rest, 1, &f->err));
	assert_true(pricer_price(f->pricer, first, 1, &f->err));
	assert_true(bound >= 1);
	for (uint32_t i = 0; i < 3 * NODES; i++)
		if (prices_candidate(&f->prices, i)->state == PRICE_KNOWN)
			assert_true(prices_candidate(&f->prices, i)->bound
			    <= prices_candidate(&f->prices, i)->ns);
	finish(f);
}

static void
limits_and_no_database_are_honoured(void **state)
{
	struct fixture *f = *state;
	uint32_t all[] = {0, 1, 9, 10, 12, 13};

	f->o.db = NULL;
	f->o.max_measure = 2;
	begin(f);
	assert_string_equal(pricer_miss_reason(f->pricer, 0), "no database");
	assert_true(pricer_price(f->pricer, all, 6, &f->err));
	assert_int_equal(fake.measured, 2);
	finish(f);
	f->o.measure = false;
	begin(f);
	assert_true(pricer_price(f->pricer, all, 6, &f->err));
	assert_int_equal(
	    prices_candidate(&f->prices, 0)->source, PRICE_ESTIMATED);
	assert_int_equal(pricer_counts(f->pricer).estimated, 6);
	assert_int_equal(fake.measured, 2);
	finish(f);
}

static bool
probe(struct fixture *f, uint32_t candidate)
{
	bool any;

	assert_true(pricer_probe(f->pricer, &candidate, 1, 0, &any, &f->err));
	return any;
}

static void
a_probe_raises_the_bound_and_is_remembered(void **state)
{
	struct fixture *f = *state;
	const struct price *price;
	cost_ns before, after;

	fake.crash = 13;
	begin(f);
	price = prices_candidate(&f->prices, 12);
	before = price->bound;
	assert_true(probe(f, 12));
	after = price->bound;
	assert_int_equal(price->state, PRICE_BOUND);
	assert_true(after > before && after < fake.base);
	assert_false(probe(f, 12)); /* once is enough */
	assert_true(probe(f, 13));
	assert_int_equal(prices_candidate(&f->prices, 13)->state, PRICE_FAILED);
	assert_int_equal(fake.probes, 2);
	finish(f);

	begin(f);
	price = prices_candidate(&f->prices, 12);
	assert_int_equal(price->bound, after);
	assert_int_equal(price->state, PRICE_BOUND);
	assert_false(probe(f, 12));
	assert_int_equal(prices_candidate(&f->prices, 13)->state, PRICE_FAILED);
	assert_int_equal(fake.probes, 2);
	assert_int_equal(fake.measured, 0);
	finish(f);

	/* It is no price, whatever is accepted. */
	f->o.accept = ACCEPT_ANY;
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_BOUND);
	finish(f);
}

/* Where nothing is measured it says what to expect, in an environment that is
 * accepted, too. */
static void
a_probe_of_a_compatible_environment_is_an_estimate(void **state)
{
	struct fixture *f = *state;
	const uint32_t first = 0;
	cost_ns expected[2];

	begin(f);
	assert_true(pricer_price(f->pricer, &first, 1, &f->err));
	assert_true(probe(f, 12));
	finish(f);
	fake.version = "2.6.4";
	f->o.measure = false;
	for (int i = 0; i < 2; i++) {
		f->o.accept = i ? ACCEPT_COMPATIBLE : ACCEPT_EXACT;
		begin(f);
		price_all(f);
		assert_int_equal(
		    prices_candidate(&f->prices, 12)->origin, FROM_ESTIMATE);
		expected[i] = prices_candidate(&f->prices, 12)->ns;
		finish(f);
	}
	assert_int_equal(expected[1], fake.base + 130);
	assert_int_not_equal(expected[0], expected[1]);
}

static void
a_comparison_is_remembered(void **state)
{
	struct fixture *f = *state;
	struct pricer_pair pair[2] = {{.a = 12, .b = 13}, {.a = 13, .b = 12}};

	for (uint32_t run = 0; run < 2; run++) {
		begin(f);
		assert_true(pricer_compare(f->pricer, pair, 2, &f->err));
		assert_int_equal(
		    pricer_counts(f->pricer).compared, run ? 0 : 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_true(pair[i].known);
			assert_int_equal(pair[i].low, 990000);
			assert_int_equal(pair[i].high, 1010000);
		}
		finish(f);
		assert_int_equal(fake.duels, 2);
	}
	/* It is no price of either. */
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_BOUND);
	/* Where one has no price, nothing fits the other's. */
	assert_true(pricer_price(f->pricer, &pair[0].b, 1, &f->err));
	assert_true(pricer_compare(f->pricer, pair, 1, &f->err));
	assert_false(pricer_fit(f->pricer));
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_BOUND);
	finish(f);
}

static cost_ns
price_now(const struct fixture *f, uint32_t candidate)
{
	return prices_candidate(&f->prices, candidate)->ns;
}

/* Prices fit comparisons, however often that is asked, and a price that was measured again
 * is fitted anew. */
static void
prices_fit_comparisons(void **state)
{
	struct fixture *f = *state;
	struct pricer_pair pair = {.a = 12, .b = 13};
	cost_ns own[2], fitted[2];

	begin(f);
	price_all(f);
	own[0] = price_now(f, 12);
	own[1] = price_now(f, 13);
	assert_int_not_equal(own[0], own[1]);
	assert_false(pricer_fit(f->pricer)); /* nothing was compared */
	assert_true(pricer_compare(f->pricer, &pair, 1, &f->err));
	assert_true(pricer_fit(f->pricer));
	fitted[0] = price_now(f, 12);
	fitted[1] = price_now(f, 13);
	assert_true(own[0] < own[1] ? fitted[0] > own[0] && fitted[1] < own[1]
	                            : fitted[0] < own[0] && fitted[1] > own[1]);
	pair = (struct pricer_pair){.a = 13, .b = 12};
	assert_true(pricer_compare(f->pricer, &pair, 1, &f->err));
	assert_false(pricer_fit(f->pricer));
	assert_int_equal(price_now(f, 12), fitted[0]);
	assert_int_equal(price_now(f, 13), fitted[1]);
	/* Another search compares for itself. */
	pricer_unfit(f->pricer);
	assert_int_equal(price_now(f, 12), own[0]);
	assert_int_equal(price_now(f, 13), own[1]);
	assert_false(pricer_fit(f->pricer));
	assert_true(pricer_compare(f->pricer, &pair, 1, &f->err));
	assert_true(pricer_fit(f->pricer));
	assert_int_equal(price_now(f, 12), fitted[0]);
	finish(f);
}

static bool
probe_again(struct fixture *f, uint32_t candidate)
{
	bool any;

	assert_true(pricer_probe(f->pricer, &candidate, 1, 1, &any, &f->err));
	return any;
}

static void
the_lesser_of_two_probes_bounds(void **state)
{
	struct fixture *f = *state;
	cost_ns once, twice;

	fake.base = 100000;
	begin(f);
	assert_false(probe_again(f, 12)); /* never looked at */
	assert_true(probe(f, 12));
	once = prices_candidate(&f->prices, 12)->guess;
	assert_true(probe_again(f, 12));
	twice = prices_candidate(&f->prices, 12)->guess;
	assert_true(twice > once && twice < fake.base);
	assert_false(probe(f, 12));
	assert_false(probe_again(f, 12)); /* twice is enough */
	assert_int_equal(pricer_counts(f->pricer).probed, 1);
	assert_int_equal(pricer_counts(f->pricer).probed_again, 1);
	assert_true(probe(f, 9));
	fake.base = 200000;
	once = prices_candidate(&f->prices, 9)->guess;
	assert_true(probe_again(f, 9)); /* disturbed */
	assert_in_range(
	    prices_candidate(&f->prices, 9)->guess, once + 1, 100000);
	/* two that differ by as much again say little */
	assert_in_range(prices_candidate(&f->prices, 9)->bound, 1, 30000);
	finish(f);

	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 12)->guess, twice);
	assert_false(probe_again(f, 12));
	finish(f);
}

/* Look at some candidates, then price n others than 12 at a third. */
static cost_ns
guess_of_last(struct fixture *f, uint32_t n, uint32_t *nbroken)
{
	const uint32_t all[] = {12, 9, 10, 11, 8, 7, 6, 5};
	bool any;

	fake.base = 100000;
	f->o.db = NULL;
	begin(f);
	assert_true(pricer_probe(f->pricer, all, 8, 0, &any, &f->err));
	fake.base = 33000;
	assert_true(pricer_price(f->pricer, all + 1, n, &f->err));
	*nbroken = pricer_counts(f->pricer).broken;
	finish(f);
	assert_true(n == 0
	    || prices_candidate(&f->prices, 9)->bound
	        == prices_candidate(&f->prices, 9)->ns);
	return prices_candidate(&f->prices, 12)->guess;
}

static void
many_prices_below_probes_lower_other_bounds(void **state)
{
	struct fixture *f = *state;
	uint32_t nbroken;
	cost_ns none = guess_of_last(f, 0, &nbroken);

	/* One was disturbed, or lucky. */
	assert_int_equal(guess_of_last(f, 1, &nbroken), none);
	assert_int_equal(nbroken, 1);
	assert_true(guess_of_last(f, 7, &nbroken) < none);
	assert_true(nbroken >= 4);
}

/* Price candidate 12 alone under a limit; how many measurements it took. */
static uint32_t
price_under(struct fixture *f, uint64_t limit_ns)
{
	const uint32_t slow = 12;
	uint32_t before = fake.measured;

	f->o.timeout_ns = limit_ns;
	begin(f);
	assert_true(pricer_price(f->pricer, &slow, 1, &f->err));
	finish(f);
	return fake.measured - before;
}

static void
a_timeout_is_tried_again_under_a_longer_limit(void **state)
{
	struct fixture *f = *state;

	fake.slow = 12;
	fake.slow_ns = 500;
	assert_int_equal(price_under(f, 100), 1);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_FAILED);
	assert_int_equal(price_under(f, 100), 0);
	assert_int_equal(price_under(f, 50), 0);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_FAILED);
	assert_int_equal(price_under(f, 200), 1); /* and in vain */
	assert_int_equal(price_under(f, 200), 0);
	assert_int_equal(price_under(f, 1000), 1);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_KNOWN);
	assert_int_equal(price_under(f, 5000), 0);
	f->o.measure = false; /* what is stored must do */
	f->o.timeout_ns = 9000;
	begin(f);
	assert_int_equal(prices_candidate(&f->prices, 12)->state, PRICE_KNOWN);
	finish(f);
}

static void
a_new_version_of_a_model_measures_what_is_new(void **state)
{
	static const int64_t wider[] = {1, 32, 8, 8};
	struct fixture *f = *state;
	struct pricer_counts c;
	uint32_t before;

	begin(f);
	price_all(f);
	finish(f);
	before = fake.measured - fake.conversions;
	/* Node 2's output is wider now, and node 4 is another operator. */
	f->g->value[3].type.dim = wider;
	f->g->node[4].op = OP_SIGMOID;
	f->g->node[4].op_type = "Sigmoid";
	begin(f);
	c = pricer_counts(f->pricer);
	/* Two implementations each: 0 and 1 are alike and known; 2 and 3 have
	 * another shape; 4 is another operator. */
	assert_int_equal(c.shape_changed, 4);
	assert_int_equal(c.operator_changed, 2);
	assert_int_equal(c.attribute_changed, 0);
	assert_int_equal(prices_candidate(&f->prices, 0)->state, PRICE_KNOWN);
	assert_memory_equal(pricer_miss_reason(f->pricer, 6),
	    "shape: nearest is fake.relu nhwc Relu", 37);
	price_all(f);
	assert_int_equal(fake.measured - fake.conversions - before, 6);
	finish(f);
}

static void
canaries_tell_how_far_a_machine_drifted(void **state)
{
	struct fixture *f = *state;
	uint32_t one[] = {12};

	f->o.canary = true;
	f->g->node[4].op = OP_SIGMOID;
	f->g->node[4].op_type = "Sigmoid";
	begin(f);
	price_all(f);
	assert_int_equal(pricer_counts(f->pricer).canaries, 0);
	finish(f);
	fake.base *= 2;
	f->g->node[4].op = OP_TANH;
	f->g->node[4].op_type = "Tanh";
	begin(f);
	assert_true(pricer_price(f->pricer, one, 1, &f->err));
	assert_int_equal(pricer_counts(f->pricer).canaries, 4);
	assert_in_range(pricer_counts(f->pricer).drift_permille, 1900, 2100);
	assert_int_equal(f->notes.n, 1);
	assert_non_null(strstr(f->notes.text[0], "drifted"));
	finish(f);
}

/* A limit on file sizes stands in for a full disk: the run goes on with what is
 * in memory, closing reports the loss, and what was stored before is whole. */
static void
a_full_disk_ends_no_run(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, full = {.rlim_cur = 4096};
	uint32_t one[] = {0};

	begin(f);
	assert_true(pricer_price(f->pricer, one, 1, &f->err));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	full.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	price_all(f);
	for (uint32_t i = 0; i < 3 * NODES; i++)
		assert_int_equal(
		    prices_candidate(&f->prices, i)->state, PRICE_KNOWN);
	assert_int_equal(f->notes.n, 1);
	assert_non_null(strstr(f->notes.text[0], "in memory"));
	assert_false(pricer_close(f->pricer, &f->err));
	if (f->err.kind != ERR_IO)
		fail_msg("%s", f->err.text);
	err_clear(&f->err);
	setrlimit(RLIMIT_FSIZE, &before);
	begin(f);
	assert_int_equal(
	    prices_candidate(&f->prices, 0)->origin, FROM_DB_EXACT);
	assert_int_equal(prices_candidate(&f->prices, 1)->state, PRICE_BOUND);
	finish(f);
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(equal_candidates_are_measured_once_and_never_again),
	    T(a_crash_is_an_outcome_that_is_remembered),
	    T(another_library_is_another_environment_and_said_so),
	    T(conversions_take_the_cheaper_way_round),
	    T(a_measurement_below_its_bound_lowers_the_others),
	    T(limits_and_no_database_are_honoured),
	    T(a_probe_raises_the_bound_and_is_remembered),
	    T(a_probe_of_a_compatible_environment_is_an_estimate),
	    T(a_comparison_is_remembered),
	    T(prices_fit_comparisons),
	    T(the_lesser_of_two_probes_bounds),
	    T(many_prices_below_probes_lower_other_bounds),
	    T(a_timeout_is_tried_again_under_a_longer_limit),
	    T(a_new_version_of_a_model_measures_what_is_new),
	    T(canaries_tell_how_far_a_machine_drifted),
	    T(a_full_disk_ends_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
