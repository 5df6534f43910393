/* Halves that lie as floats between composites. */
#include "targets/widened.h"

#include "costmodel/key.h"
#include "costmodel/reference.h"
#include "costmodel/seeded.h"
#include "costmodel/trial.h"
#include "ir/base/hash.h"
#include "targets/host/host.h"
#include "tests/support/found.h"

#define MANY "dnnl", "xnnpack", "blas", "native"

static void
find_with(const char *const *target, uint32_t n, bool exact_halves)
{
	const struct candidate_options o = {.exact_halves = exact_halves};
	struct err err = {.kind = ERR_NONE};

	if (!mix_open(&mix, target, n, &arena, &err)
	    || !candidates_find(&found, m.graph, &mix, &o, &arena, &err))
		fail_msg("%s", err.text);
}

static void
find_for_many(void)
{
	static const char *const many[] = {MANY};

	find_with(many, 4, false);
}

static uint32_t
count_widened(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].widened != NULL;
	return n;
}

/* Weights too many to be widened at once, others not; a join, functions, a product. */
static void
make_network(bool halves)
{
	value_id x = make_input(&m, DIMS(1, 16, 12, 12));
	value_id w = make_constant(&m, DIMS(32, 16, 3, 3), -.1f, .1f);
	value_id b = make_constant(&m, DIMS(32), -1, 1);
	value_id v = make_constant(&m, DIMS(32, 32, 1, 1), -.2f, .2f);
	value_id d = make_constant(&m, DIMS(32, 150), -.1f, .1f);
	value_id y = MAKE(&m, RELU, MAKE(&m, CONV, x, w, b));

	y = MAKE(&m, CONV, y, v);
	y = MAKE(&m, GLOBALAVERAGEPOOL, MAKE(&m, ADD, y, MAKE(&m, SIGMOID, y)));
	y = MAKE(&m, MATMUL, MAKE(&m, FLATTEN, y), d);
	make_output(&m, MAKE(&m, SOFTMAX, y));
	if (halves)
		make_halves(&m);
	make_end(&m);
}

static enum dtype
dtype_of_port(const struct port *p)
{
	return mix.formats.format[p->format].dtype;
}

/* Its ports are floats; its kind sees the types it has for them. */
static void
check_ports(const struct candidate *c)
{
	const struct candidate *seen = &c->widened->candidate;

	assert_int_equal(seen->ninputs, c->ninputs);
	assert_int_equal(seen->noutputs, c->noutputs);
	for (uint32_t i = 0; i < c->ninputs; i++) {
		const struct value *v =
		    graph_value(c->widened->graph, c->input[i].value);

		assert_int_equal(dtype_of_port(&c->input[i]), DT_FLOAT);
		assert_int_equal(dtype_of_port(&seen->input[i]), DT_UNDEFINED);
		assert_int_equal(v->type.dtype, DT_FLOAT);
	}
	for (uint32_t i = 0; i < c->noutputs; i++)
		assert_int_equal(dtype_of_port(&c->output[i]), DT_FLOAT);
	assert_non_null(strstr(c->implementation_name, "f32"));
}

static void
test_ports(void **state)
{
	uint32_t own = 0;

	(void)state;
	make_network(true);
	find_for_many();
	assert_true(count_widened() > 20);
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].widened)
			check_ports(&found.candidate[i]);
		else
			own++;
	assert_true(own >= m.graph->nnodes); /* the host's at least */
}

/* Nobody widens for the host alone, for a model without halves, where each result
 * is to be rounded. */
static void
test_not_widened(void **state)
{
	static const char *const host[] = {"host"}, *const many[] = {MANY};

	(void)state;
	make_network(true);
	find_with(host, 1, false);
	assert_int_equal(count_widened(), 0);
	find_with(many, 4, true);
	assert_int_equal(count_widened(), 0);
	assert_true(found.exact_halves);
	make_begin(&m, &arena);
	make_network(false);
	find_for_many();
	assert_int_equal(count_widened(), 0);
	assert_null(found.widened);
}

/* Each candidate over the model's own weights and made-up ones, as a plan has it and
 * as it is measured. */
static void
check_trial(const struct graph *g, const struct candidate *c)
{
	struct err err = {.kind = ERR_NONE};
	double error, allowed;
	struct reference r;
	struct trial t;

	reference_init(&r, g, host_eval);
	if (!trial_open(&t, g, &mix, c, &arena, &err)) {
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
		reference_release(&r);
		return;
	}
	trial_run(&t);
	if (!trial_check(&t, &r, &error, &allowed, &arena, &err))
		fail_msg("%s", err.text);
	if (error > allowed)
		fail_msg("%s %s: %g", mix.target[c->target].kind->name,
		    c->implementation_name, error);
	trial_close(&t);
	reference_release(&r);
}

static void
check_trials(void)
{
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		const struct graph *g = m.graph;
		const struct candidate *seen = candidate_seen(c, &g);

		if (!c->widened)
			continue;
		check_trial(m.graph, c);
		check_trial(g, seen);
	}
}

static void
test_runs(void **state)
{
	struct seeded s;
	value_id w = VALUE_NONE;

	(void)state;
	make_network(true);
	find_for_many();
	check_trials();
	for (value_id v = 0; v < m.graph->nvalues; v++)
		if (m.graph->value[v].constant
		    && m.graph->value[v].constant->count == 32 * 16 * 9)
			w = v;
	assert_int_equal(
	    graph_value(found.widened, w)->constant->kind, TENSOR_HALVES);
	seeded_init(&s, m.graph, &found, &arena);
	for (uint32_t i = 0; i < found.n; i++)
		seeded_take(&s, &found.candidate[i]);
	assert_true(tensor_real(graph_value(m.graph, w)->constant, 5)
	    == tensor_real(graph_value(found.widened, w)->constant, 5));
	assert_ptr_not_equal(s.widened.own[w], NULL);
	check_trials();
	seeded_release(&s);
	assert_true(tensor_real(graph_value(m.graph, w)->constant, 5)
	    == tensor_real(graph_value(found.widened, w)->constant, 5));
}

/* ---- prices ---- */

static struct hash128
key_of(struct keys *k, const struct candidate *c)
{
	struct arena scratch;
	struct hash128 h;
	struct buf b;

	arena_init(&scratch);
	buf_init(&b);
	key_candidate(k, &b, c, KEY_FULL, &scratch);
	h = hash128(b.data, b.n);
	buf_release(&b);
	arena_release(&scratch);
	return h;
}

/* Keys of all candidates that are (not) widened. */
static struct hash128 *
keys_of(bool widened, uint32_t *n)
{
	struct hash128 *all = arena_new(&arena, struct hash128, found.n);
	struct keys k;

	keys_init(&k, m.graph, &mix, &arena);
	*n = 0;
	for (uint32_t i = 0; i < found.n; i++)
		if ((found.candidate[i].widened != NULL) == widened)
			all[(*n)++] = key_of(&k, &found.candidate[i]);
	return all;
}

static bool
is_among(const struct hash128 *h, const struct hash128 *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(h, &all[i], sizeof *h) == 0)
			return true;
	return false;
}

/* What is done for halves held as floats is done for floats, at the same price, and
 * is not what is done for halves. */
static void
test_prices(void **state)
{
	uint32_t nshown, nown, nfloats;
	struct hash128 *shown, *own, *floats;

	(void)state;
	make_network(true);
	find_for_many();
	shown = keys_of(true, &nshown);
	own = keys_of(false, &nown);
	make_begin(&m, &arena);
	make_network(false);
	find_for_many();
	floats = keys_of(false, &nfloats);
	assert_int_equal(nshown, nfloats);
	for (uint32_t i = 0; i < nshown; i++) {
		assert_true(is_among(&shown[i], floats, nfloats));
		assert_false(is_among(&shown[i], own, nown));
	}
}

/* ---- what is shown ---- */

static const struct node *
shown_node(enum op op)
{
	for (node_id id = 0; id < found.widened->nnodes; id++)
		if (m.graph->node[id].op == op)
			return graph_node(found.widened, id);
	fail_msg("no such node");
	return NULL;
}

static uint32_t
count_over(enum op op)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		for (uint32_t k = 0; k < c->nnodes; k++)
			n += c->widened
			    && graph_node(m.graph, c->node[k])->op == op;
	}
	return n;
}

static value_id
cast(value_id x, enum dtype to)
{
	const struct attr attr[] = {{.name = "to",
	    .kind = ATTR_INT,
	    .n = 1,
	    .ints = (const int64_t[]){to}}};

	return MAKE_WITH(&m, CAST, attr, x);
}

/* Between halves and floats nothing moves; of integers floats are made. */
static void
test_casts(void **state)
{
	uint32_t in_place = 0;
	value_id x, y;

	(void)state;
	x = make_input(&m, DIMS(1, 8, 4, 4));
	y = MAKE(&m, RELU, cast(MAKE(&m, TANH, x), DT_FLOAT16));
	y = MAKE(&m, ABS, cast(y, DT_BFLOAT16));
	make_output(&m, MAKE(&m, NEG, cast(y, DT_FLOAT)));
	make_end(&m);
	find_for_many();
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		in_place += c->in_place && c->widened;
		if (c->widened)
			check_trial(m.graph, c);
	}
	assert_true(in_place >= 3);
	assert_int_equal(shown_node(OP_CAST)->op, OP_IDENTITY);
	assert_int_equal(graph_node(m.graph, 1)->op, OP_CAST);
}

static void
test_cast_of_integers(void **state)
{
	value_id x = make_input(&m, DIMS(3, 8)), y;

	(void)state;
	graph_value(m.graph, x)->type.dtype = DT_INT32;
	y = MAKE(&m, RELU, cast(x, DT_FLOAT16));
	y = cast(y, DT_INT64);
	graph_value(m.graph, y)->type.dtype = DT_INT64;
	make_output(&m, y);
	make_end(&m);
	find_for_many();
	assert_int_equal(shown_node(OP_CAST)->op, OP_CAST);
	assert_int_equal(attr_int_or(shown_node(OP_CAST), "to", 0), DT_FLOAT);
	assert_true(count_over(OP_CAST) >= 2);
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].widened)
			check_trial(m.graph, &found.candidate[i]);
}

/* What looks at bits or says itself of what type it is stays as it is. */
static void
test_not_shown(void **state)
{
	const struct attr bits[] = {{.name = "to",
	    .kind = ATTR_INT,
	    .n = 1,
	    .ints = (const int64_t[]){DT_FLOAT16}}};
	const struct attr type[] = {ATTR_OF_INT("dtype", DT_FLOAT16)};
	value_id x = make_input(&m, DIMS(3, 8));

	(void)state;
	graph_value(m.graph, x)->type.dtype = DT_INT16;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, BITCAST, bits, x)));
	make_output(&m, MAKE(&m, ABS, MAKE_WITH(&m, EYELIKE, type, x)));
	make_halves(&m);
	make_end(&m);
	find_for_many();
	assert_true(count_over(OP_RELU) > 0 && count_over(OP_ABS) > 0);
	assert_int_equal(count_over(OP_BITCAST), 0);
	assert_int_equal(count_over(OP_EYELIKE), 0);
}

/* What exporters round to halves is recognised as it is in the model. */
static void
test_idioms(void **state)
{
	value_id x = make_input(&m, DIMS(4, 24));
	value_id root = make_constant(&m, DIMS(1), 1.41421356f, 1.41421356f);
	value_id one = make_constant(&m, DIMS(1), 1, 1);
	value_id half = make_constant(&m, DIMS(1), .5f, .5f);
	value_id y = MAKE(&m, ERF, MAKE(&m, DIV, x, root));

	(void)state;
	y = MAKE(&m, MUL, x, MAKE(&m, ADD, y, one));
	make_output(&m, MAKE(&m, MUL, y, half));
	make_halves(&m);
	make_end(&m);
	find_for_many();
	assert_int_equal(found.idioms->n, 1);
	assert_int_equal(found.widened_idioms->n, 1);
	assert_int_equal(found.widened_idioms->match[0].kind, IDIOM_GELU);
	check_trials();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_ports, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_not_widened, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_runs, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_prices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_casts, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_cast_of_integers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_not_shown, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_idioms, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
