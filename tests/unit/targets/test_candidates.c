/* Candidates: validity, ports, refusals, cover; targets: parsing a mix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/candidates.h"
#include "targets/mrvl/space.h"

static struct arena arena;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static const int64_t nchw[] = {1, 3, 5, 7};
static const int64_t flat[] = {1, 9};

static value_id
input(struct graph *g, const char *name)
{
	struct type t = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = nchw};
	value_id v = graph_add_value(g, name, &t);

	g->value[v].flags = VALUE_INPUT;
	return v;
}

/* A node of one or two inputs; its output's id. */
static value_id
add(struct graph *g, enum op op, value_id x, value_id y)
{
	struct type t = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = nchw};
	value_id in[] = {x, y};
	value_id out =
	    graph_add_value(g, arena_printf(&arena, "v%u", g->nvalues), &t);
	struct node n = {.op = op,
	    .op_type = op_get(op)->type,
	    .domain = "",
	    .name = "",
	    .ninputs = y == VALUE_NONE ? 1 : 2,
	    .noutputs = 1};

	n.input = (value_id *)arena_copy(&arena, in, sizeof in);
	n.output = (value_id *)arena_copy(&arena, &out, sizeof out);
	graph_add_node(g, &n);
	return out;
}

/* x -> Relu a -> Add(a, Sigmoid(a)) b -> out */
static struct graph *
diamond(void)
{
	struct graph *g = graph_new(&arena, "diamond");
	value_id x = input(g, "x");
	value_id a = add(g, OP_RELU, x, VALUE_NONE);
	value_id s = add(g, OP_SIGMOID, a, VALUE_NONE);
	value_id b = add(g, OP_ADD, a, s);

	g->value[b].flags |= VALUE_OUTPUT;
	g->origin_table = arena_new(&arena, struct onnx_nodes, 1);
	return g;
}

static bool
never(const struct match_in *m, struct why *why)
{
	bool first = why_need(why, m->match->nnodes == 99, "ninety_nine",
	    "99 nodes", "%u nodes", m->match->nnodes);

	return why_need(why, true, "fine", "anything", "something") && first;
}

static uint32_t
two_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m;
	assert_true(max >= 2);
	out[0] = (struct implementation){.name = "plain"};
	out[1] = (struct implementation){.name = "nhwc", .number = 1};
	out[1].input = format_intern(
	    f, (struct format){SPACE_MRVL, LAYOUT_NHWC, DT_FLOAT16});
	return 2;
}

static struct mix
mix_of(const struct target_kind *k)
{
	struct target *t = arena_new(&arena, struct target, 1);
	struct mix m = {.target = t, .n = 1};

	t->kind = k;
	t->text = k->name;
	formats_init(&m.formats);
	return m;
}

static bool
find(const struct rule *rule, uint32_t nrules, struct candidates *out,
    const struct graph *g, struct err *err)
{
	struct target_kind *k = arena_new(&arena, struct target_kind, 1);
	struct candidate_options o = {.keep_refusals = true};

	k->name = "fake";
	k->rule = rule;
	k->nrules = nrules;
	k->implementations = two_ways;
	struct mix *m = arena_new(&arena, struct mix, 1);
	*m = mix_of(k);
	return candidates_find(out, g, m, &o, &arena, err);
}

static const struct rule rules_1[] = {{"any", OPERATOR, NULL, false}};

static void
test_any_operator_covers(void **state)
{
	struct candidates c;
	struct err err = {.kind = ERR_NONE};
	struct graph *g = diamond();

	(void)state;
	assert_true(find(rules_1, 1, &c, g, &err));
	assert_int_equal(c.n, 6); /* 3 nodes, 2 implementations */
	assert_int_equal(c.candidate[4].ninputs, 2);
	assert_int_equal(c.candidate[4].input[0].value, 1);
	assert_int_equal(c.candidate[4].input[1].value, 2);
	assert_int_equal(c.candidate[4].input[1].format, FORMAT_PLAIN);
	assert_int_equal(c.candidate[5].input[1].format, 1);
	assert_int_equal(c.candidate[5].output[0].format, FORMAT_PLAIN);
	assert_int_equal(c.candidate[5].implementation, 1);
}

static const struct rule rules_2[] = {{"any", OPERATOR, NULL, false}};

static void
test_other_ranks_are_plain_in_their_space(void **state)
{
	struct candidates c;
	struct err err = {.kind = ERR_NONE};
	struct graph *g = diamond();
	struct format f;
	struct target_kind k = {.name = "fake",
	    .rule = rules_2,
	    .nrules = 1,
	    .implementations = two_ways};
	struct mix m = mix_of(&k);

	(void)state;
	g->value[0].type.rank = 2;
	g->value[0].type.dim = flat;
	assert_true(candidates_find(&c, g, &m, NULL, &arena, &err));
	f = m.formats.format[c.candidate[1].input[0].format];
	assert_ptr_equal(f.space, SPACE_MRVL);
	assert_int_equal(f.layout, LAYOUT_PLAIN);
	assert_int_equal(f.dtype, DT_FLOAT16);
}

/* Sigmoid(Relu(x)): the relu is used by the add too */
static const struct rule rules_3[] = {
    {"any", OPERATOR, NULL, false},
    {"pair", NODE(SIGMOID, NODE(RELU, ANY)), NULL, false},
    {"taps", NODE(SIGMOID, NODE(RELU, ANY)), NULL, true},
};

static void
test_interior_used_outside(void **state)
{
	struct candidates c;
	struct err err = {.kind = ERR_NONE};
	struct graph *g = diamond();

	(void)state;
	assert_true(find(rules_3, 3, &c, g, &err));
	assert_int_equal(c.n, 6 + 2);
	assert_int_equal(c.candidate[6].rule, 2);
	assert_int_equal(c.candidate[6].noutputs, 2);
	assert_int_equal(c.nrefusals, 1);
	assert_int_equal(c.refusal[0].rule, 1);
	assert_string_equal(
	    c.refusal[0].reason[0].condition, "interior_used_inside_only");
}

static const struct rule rules_4[] = {
    {"any", OPERATOR, NULL, false},
    {"hole", NODE(ADD, NODE(RELU, ANY), ANY), NULL, true},
};

static void
test_not_convex(void **state)
{
	/* Add(Relu(x), *) without the sigmoid between: leaves and re-enters */
	struct candidates c;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_true(find(rules_4, 2, &c, diamond(), &err));
	assert_int_equal(c.n, 6);
	assert_int_equal(c.nrefusals, 1);
	assert_string_equal(c.refusal[0].reason[0].condition, "convex");
}

static const struct rule rules_5[] = {
    {"relu", NODE(RELU, ANY), NULL, false},
    {"sigmoid", NODE(SIGMOID, ANY), never, false},
};

static void
test_no_cover_names_node_and_reason(void **state)
{
	struct candidates c;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_false(find(rules_5, 2, &c, diamond(), &err));
	assert_int_equal(err.kind, ERR_NO_COVER);
	assert_non_null(strstr(err.text, "Sigmoid"));
	assert_non_null(strstr(err.text, "1 nodes, needs 99 nodes"));
	assert_int_equal(c.refusal[0].nreasons, 2);
	assert_true(c.refusal[0].reason[1].holds);
}

static const struct rule rules_6[] = {{"any", OPERATOR, never, false}};

static void
test_assumed_condition(void **state)
{
	struct target_kind k = {.name = "fake", .rule = rules_6, .nrules = 1};
	struct mix m = mix_of(&k);
	const struct assumption assume[] = {{"ninety_nine", UINT64_MAX}};
	struct candidate_options o = {
	    .assume = assume, .nassume = 1, .keep_refusals = true};
	struct candidates c;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_true(candidates_find(&c, diamond(), &m, &o, &arena, &err));
	assert_int_equal(c.n, 3);
	assert_int_equal(c.nconditions, 2);
	assert_string_equal(c.condition[0].condition, "ninety_nine");
	assert_int_equal(c.condition[0].asked, 3);
	assert_int_equal(c.condition[0].failed, 3);
}

static void
test_convex_sets(void **state)
{
	struct graph *g = diamond();
	struct uses u = graph_uses(g, &arena);
	node_id all[] = {0, 1, 2}, hole[] = {0, 2}, head[] = {0, 1};

	(void)state;
	assert_true(nodes_are_convex(g, &u, all, 3, &arena));
	assert_false(nodes_are_convex(g, &u, hole, 2, &arena));
	assert_true(nodes_are_convex(g, &u, head, 2, &arena));
}

static void
test_unknown_target(void **state)
{
	const char *text[] = {"nosuch:x=1"};
	struct mix m;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_false(mix_open(&m, text, 1, &arena, &err));
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "nosuch"));
}

/* Names and letters of memory spaces go into price keys. */
static void
test_spaces_differ(void **state)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		const struct space *s = kind[i]->space;

		if (!s)
			continue;
		assert_non_null(s->transfer);
		assert_int_not_equal(s->letter, SPACE_HOST->letter);
		assert_string_not_equal(s->name, SPACE_HOST->name);
		for (uint32_t k = 0; k < i; k++)
			if (kind[k]->space && kind[k]->space != s) {
				assert_int_not_equal(
				    s->letter, kind[k]->space->letter);
				assert_string_not_equal(
				    s->name, kind[k]->space->name);
			}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_operator_covers),
	    cmocka_unit_test(test_other_ranks_are_plain_in_their_space),
	    cmocka_unit_test(test_interior_used_outside),
	    cmocka_unit_test(test_not_convex),
	    cmocka_unit_test(test_no_cover_names_node_and_reason),
	    cmocka_unit_test(test_assumed_condition),
	    cmocka_unit_test(test_convex_sets),
	    cmocka_unit_test(test_unknown_target),
	    cmocka_unit_test(test_spaces_differ),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
