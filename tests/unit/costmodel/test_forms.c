/* One meaning, one key, for every operator of the tables: over its opsets, with
 * what it can do without left out in either way, and every attribute and input
 * that can be left out has its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/content.h"
#include "costmodel/requantised.h"
#include "costmodel/key.h"
#include "ir/base/hash.h"
#include "ir/schema.h"

#define NEWEST 28
#define PORTS 10

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct rule rules[] = {{.name = "fake.any"}};
static const struct target_kind kind = {
    .name = "fake", .rule = rules, .nrules = 1};
static const struct target target = {.kind = &kind, .text = "fake"};

/* A node without attributes whose inputs are float32[4,5,5,16]; `in` of them,
 * and `out` outputs, up to the counts are there, the rest have no name. */
struct form_case {
	enum op op;
	uint32_t opset;
	uint32_t ninputs, in;
	uint32_t noutputs, out;
};

static struct hash128
key_of(struct form_case x)
{
	static const int64_t dim[] = {4, 5, 5, 16};
	const struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = dim};
	struct mix mix = {.target = &target, .n = 1};
	value_id input[PORTS], output[PORTS];
	struct port in[PORTS], out[PORTS];
	node_id only = 0;
	struct candidate c = {.implementation_name = "",
	    .nnodes = 1,
	    .node = &only,
	    .ninputs = x.in,
	    .noutputs = x.out,
	    .input = in,
	    .output = out};
	struct node n = {.op = x.op,
	    .op_type = op_get(x.op)->type,
	    .domain = "",
	    .name = "",
	    .opset = x.opset,
	    .ninputs = x.ninputs,
	    .input = input,
	    .noutputs = x.noutputs,
	    .output = output};
	struct keys keys;
	struct hash128 h;
	struct graph *g;
	struct arena a;
	struct buf b;

	arena_init(&a);
	buf_init(&b);
	formats_init(&mix.formats);
	g = graph_new(&a, "one");
	for (uint32_t i = 0; i < x.ninputs; i++) {
		input[i] =
		    i < x.in ? graph_add_value(g, "x", &type) : VALUE_NONE;
		in[i] = (struct port){input[i], FORMAT_PLAIN};
	}
	for (uint32_t i = 0; i < x.noutputs; i++) {
		output[i] =
		    i < x.out ? graph_add_value(g, "y", &type) : VALUE_NONE;
		out[i] = (struct port){output[i], FORMAT_PLAIN};
	}
	graph_add_node(g, &n);
	keys_init(&keys, g, &mix, &a);
	key_candidate(&keys, &b, &c, KEY_FULL, &a);
	h = hash128(b.data, b.n);
	buf_release(&b);
	arena_release(&a);
	return h;
}

static bool
are_same(struct form_case x, struct form_case y)
{
	struct hash128 a = key_of(x), b = key_of(y);

	return memcmp(a.byte, b.byte, sizeof a.byte) == 0;
}

/* Of another domain, whose versions no table has. */
static bool
is_foreign(enum op op)
{
	const char *type = op_get(op)->type;

	return op_find(type, strlen(type)) != op;
}

static uint32_t
at_most(uint32_t n)
{
	return n < PORTS ? n : PORTS;
}

/* ---- opsets ---- */

/* What was before, where the tables say that this version is another thing. */
static const char *
difference(enum op op, uint32_t version)
{
	static const struct {
		enum op op;
		uint32_t version;
		const char *before;
	} row[] = {
#define MEANING(op, version, before) {OP_##op, version, before},
#include "ir/schema.def"
#define DEFAULT(op, since, name, how) {OP_##op, since, "another " name},
#include "ir/schema.def"
	};

	for (size_t i = 0; i < COUNT(row); i++)
		if (row[i].op == op && row[i].version == version
		    && version > schema_since(op))
			return row[i].before;
	return NULL;
}

static void
opsets_share_keys_unless_a_table_says_why(void **state)
{
	uint32_t bad = 0, npairs = 0, ndiffer = 0;

	(void)state;
	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		enum op op = (enum op)i;
		uint32_t first, end;

		if (is_foreign(op))
			continue;
		first = schema_since(op);
		end = schema_deprecated(op);
		for (uint32_t v = first + 1; v <= NEWEST && v < end; v++) {
			struct arity one = schema_arity(op, v - 1);
			struct arity other = schema_arity(op, v);
			uint32_t n = at_most(one.min_inputs > other.min_inputs
			        ? one.min_inputs
			        : other.min_inputs);
			struct form_case x = {op, v - 1, n, n, 1, 1}, y = x;
			const char *before = difference(op, v);

			y.opset = v;
			npairs++;
			ndiffer += before != NULL;
			if (are_same(x, y) == (before == NULL))
				continue;
			print_error("%s, opset %u and %u: %s\n",
			    op_get(op)->type, v - 1, v,
			    before ? before : "two keys");
			bad++;
		}
	}
	print_message(
	    "%u pairs of opsets, %u of them differ\n", npairs, ndiffer);
	assert_int_equal(bad, 0);
	assert_true(npairs > 2500);
}

/* ---- left out ---- */

/* Ports at the end are left out or have no name. */
static void
what_is_left_out_has_no_name(void **state)
{
	uint32_t bad = 0, n = 0;

	(void)state;
	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		enum op op = (enum op)i;
		struct arity arity;
		uint32_t in, most_in, most_out;

		if (is_foreign(op))
			continue;
		arity = schema_arity(op, NEWEST);
		in = at_most(arity.min_inputs);
		most_in = at_most(arity.max_inputs);
		most_out = at_most(arity.max_outputs);

		for (uint32_t k = in; k < most_in; k++, n++)
			if (!are_same(
			        (struct form_case){op, NEWEST, k + 1, in, 1, 1},
			        (struct form_case){op, NEWEST, in, in, 1, 1})) {
				print_error("%s: input %u without a name\n",
				    op_get(op)->type, k);
				bad++;
			}
		for (uint32_t k = 1; k < most_out; k++, n++)
			if (!are_same((struct form_case){op, NEWEST, in, in,
			                  k + 1, 1},
			        (struct form_case){op, NEWEST, in, in, 1, 1})) {
				print_error("%s: output %u without a name\n",
				    op_get(op)->type, k);
				bad++;
			}
	}
	print_message("%u ports without a name\n", n);
	assert_int_equal(bad, 0);
	assert_true(n > 100);
}

/* Inputs that no constant can stand for: weights, states and masks that are one
 * more step of a kernel, or values that depend on more than the node. */
static const struct {
	enum op op;
	uint32_t slot;
} no_stand_in[] = {
    {OP_ATTENTION, 3},
    {OP_ATTENTION, 4},
    {OP_ATTENTION, 5},
    {OP_ATTENTION, 6},
    {OP_CAUSALCONVWITHSTATE, 2},
    {OP_CAUSALCONVWITHSTATE, 3},
    {OP_CONV, 2},
    {OP_CONVTRANSPOSE, 2},
    {OP_DEFORMCONV, 3},
    {OP_DEFORMCONV, 4},
    {OP_DFT, 1},
    {OP_GEMM, 2},
    {OP_GRU, 3},
    {OP_GRU, 5},
    {OP_LAYERNORMALIZATION, 2},
    {OP_LINEARATTENTION, 3},
    {OP_LINEARATTENTION, 4},
    {OP_LINEARATTENTION, 5},
    {OP_LINEARATTENTION, 6},
    {OP_LINEARATTENTION, 7},
    {OP_LINEARATTENTION, 8},
    {OP_LINEARATTENTION, 9},
    {OP_LOOP, 0},
    {OP_LSTM, 3},
    {OP_LSTM, 5},
    {OP_LSTM, 6},
    {OP_LSTM, 7},
    {OP_MAXUNPOOL, 2},
    {OP_NEGATIVELOGLIKELIHOODLOSS, 2},
    {OP_NONMAXSUPPRESSION, 4},
    {OP_OPTIONAL, 0},
    {OP_OPTIONALHASELEMENT, 0},
    {OP_QLINEARCONV, 8},
    {OP_RNN, 3},
    {OP_RNN, 5},
    {OP_ROTARYEMBEDDING, 3},
    {OP_SEQUENCEERASE, 1},
    {OP_SEQUENCEINSERT, 2},
    {OP_SOFTMAXCROSSENTROPYLOSS, 2},
    {OP_SPLITTOSEQUENCE, 1},
    {OP_STFT, 2},
    {OP_STFT, 3},
    {OP_SWIGLU, 1},
    {OP_TENSORSCATTER, 2},
};

static bool
has_no_stand_in(enum op op, uint32_t slot)
{
	for (size_t i = 0; i < COUNT(no_stand_in); i++)
		if (no_stand_in[i].op == op && no_stand_in[i].slot == slot)
			return true;
	return false;
}

static bool
is_given(enum op op, uint32_t slot)
{
	static const struct {
		enum op op;
		uint32_t slot;
	} row[] = {
#define GIVEN(op, since, slot, name) {OP_##op, slot},
#include "ir/schema.def"
	};

	for (size_t i = 0; i < COUNT(row); i++)
		if (row[i].op == op && row[i].slot == slot)
			return true;
	return false;
}

/* By form_settle.c; test_pairs.c has a pair of each. */
static bool
is_settled(enum op op, uint32_t slot)
{
	static const struct tensor any = {.dtype = DT_INT8, .count = 2};
	const struct node n = {.op = op};

	switch (op) {
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		return slot == 4;
	case OP_LOOP:
		return slot == 1;
	default:
		return strncmp(op_get(op)->type, "Reduce", 6) == 0
		    || content_of(&n, slot, &any) == CONTENT_ZERO;
	}
}

/* Whoever rounds to bytes is tried on its own scales and biases, wherever they are. */
static void
scales_are_kept(void **state)
{
	static const struct tensor scales = {.dtype = DT_FLOAT, .count = 2};
	uint32_t n = 0;

	(void)state;
	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		const struct node x = {.op = (enum op)i};

		if (!node_requantises(&x))
			continue;
		n++;
		for (uint32_t slot = 0; slot < 12; slot++)
			assert_int_not_equal(
			    content_of(&x, slot, &scales), CONTENT_WEIGHTS);
	}
	assert_true(n > 5);
}

static void
every_optional_input_is_accounted_for(void **state)
{
	uint32_t bad = 0, n = 0;

	(void)state;
	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		enum op op = (enum op)i;
		struct arity arity;

		if (is_foreign(op))
			continue;
		arity = schema_arity(op, NEWEST);
		if (arity.max_inputs == OP_MANY)
			continue; /* any number of one sort */
		for (uint32_t k = arity.min_inputs; k < arity.max_inputs;
		     k++, n++) {
			if ((is_given(op, k) || is_settled(op, k))
			    != has_no_stand_in(op, k))
				continue;
			print_error("%s: input %u can be left out\n",
			    op_get(op)->type, k);
			bad++;
		}
	}
	print_message("%u inputs that can be left out\n", n);
	assert_int_equal(bad, 0);
}

/* ---- attributes ---- */

static bool
has_row(enum op op, const char *name)
{
	static const struct {
		enum op op;
		const char *name;
	} row[] = {
#define DEFAULT(op, since, name, how) {OP_##op, name},
#include "ir/schema.def"
	};

	for (size_t i = 0; i < COUNT(row); i++)
		if (row[i].op == op && strcmp(row[i].name, name) == 0)
			return true;
	return false;
}

/* The axes of a reduction say it all; bodies are written out. */
static bool
needs_no_row(const char *name, enum attr_kind k, bool required)
{
	return required || k == ATTR_GRAPH || k == ATTR_GRAPHS
	    || strcmp(name, "noop_with_empty_axes") == 0
	    || strcmp(name, "consumed_inputs") == 0;
}

static void
every_optional_attribute_has_a_row(void **state)
{
	static const struct {
		const char *op, *name;
		enum attr_kind kind;
		bool required;
	} row[] = {
#define ATTR(op, name, kind, since, last, required) \
	{op, name, ATTR_##kind, required},
#include "ir/schema.def"
	};
	uint32_t bad = 0, n = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		enum op op = op_find(row[i].op, strlen(row[i].op));

		if (needs_no_row(row[i].name, row[i].kind, row[i].required))
			continue;
		n++;
		if (has_row(op, row[i].name))
			continue;
		print_error("%s.%s has no DEFAULT row in ir/schema.def\n",
		    row[i].op, row[i].name);
		bad++;
	}
	print_message("%u attributes that can be left out\n", n);
	assert_int_equal(bad, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(opsets_share_keys_unless_a_table_says_why),
	    cmocka_unit_test(what_is_left_out_has_no_name),
	    cmocka_unit_test(scales_are_kept),
	    cmocka_unit_test(every_optional_input_is_accounted_for),
	    cmocka_unit_test(every_optional_attribute_has_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
