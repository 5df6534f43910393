/* What of a node is in its key: every input and attribute of every operator,
 * by the tables that declare them; and what decides how often a loop runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/content.h"
#include "costmodel/key.h"
#include "costmodel/seeded.h"
#include "tests/support/keyed.h"

static const struct rule rules[] = {{.name = "fake.any"}};
static const struct target_kind kind = {
    .name = "fake", .rule = rules, .nrules = 1};
static const struct target target = {.kind = &kind, .text = "fake"};

/* ---- every input of every operator ---- */

#define SLOTS 10
#define ELEMENTS 4

/* A node of constants: float32[1000,16] at input 0, elsewhere four numbers, of
 * which those at `slot` are given. */
struct case_in {
	enum op op;
	uint32_t slot;
	enum dtype dtype;
	float number[ELEMENTS];
};

static const struct tensor *
constant_of(struct arena *a, const struct case_in *c, uint32_t slot)
{
	static const int64_t data_dim[] = {1000, 16}, dim[] = {ELEMENTS};
	static const float fill = 1;
	static const float other[ELEMENTS] = {1, 1, 1, 1};
	const float *number = slot == c->slot ? c->number : other;
	struct tensor *t = arena_new(a, struct tensor, 1);
	int64_t *whole = arena_new(a, int64_t, ELEMENTS);

	for (int i = 0; i < ELEMENTS && c->dtype == DT_INT64; i++)
		whole[i] = (int64_t)number[i];
	if (slot == 0 && c->slot != 0)
		*t = tensor_fill(DT_FLOAT, 2, data_dim, &fill);
	else if (c->dtype == DT_INT64)
		*t = tensor_view(DT_INT64, 1, dim, whole);
	else
		*t = tensor_view(DT_FLOAT, 1, dim,
		    arena_copy(a, number, ELEMENTS * sizeof *number));
	return t;
}

static struct hash128
key_of(const struct case_in *in, const struct attr *attr)
{
	static const int64_t dim[] = {4};
	struct type made = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = dim};
	struct mix mix = {.target = &target, .n = 1};
	value_id port[SLOTS + 1];
	node_id only = 0;
	struct port out = {.format = FORMAT_PLAIN};
	struct candidate c = {.implementation_name = "",
	    .nnodes = 1,
	    .node = &only,
	    .noutputs = 1,
	    .output = &out};
	struct node n = {.op = in->op,
	    .op_type = op_get(in->op)->type,
	    .domain = "",
	    .name = "",
	    .opset = 21,
	    .ninputs = in->slot + 1,
	    .input = port,
	    .noutputs = 1,
	    .output = port + SLOTS,
	    .nattrs = attr != NULL,
	    .attr = attr};
	struct keys keys;
	struct hash128 h;
	struct graph *g;
	struct arena a;
	struct buf b;

	arena_init(&a);
	buf_init(&b);
	formats_init(&mix.formats);
	g = graph_new(&a, "one");
	for (uint32_t i = 0; i <= in->slot; i++)
		port[i] = graph_add_constant(g, "c", constant_of(&a, in, i));
	out.value = port[SLOTS] = graph_add_value(g, "y", &made);
	graph_add_node(g, &n);
	keys_init(&keys, g, &mix, &a);
	key_candidate(&keys, &b, &c, KEY_FULL, &a);
	h = hash128(b.data, b.n);
	buf_release(&b);
	arena_release(&a);
	return h;
}

static bool
is_same(struct hash128 x, struct hash128 y)
{
	return memcmp(x.byte, y.byte, sizeof x.byte) == 0;
}

/* What changing the numbers of an input may be seen by. */
static bool
sees_change(enum op op, uint32_t slot, enum dtype dtype,
    const float from[ELEMENTS], const float to[ELEMENTS])
{
	struct case_in x = {op, slot, dtype, {0}}, y = x;

	memcpy(x.number, from, sizeof x.number);
	memcpy(y.number, to, sizeof y.number);
	return !is_same(key_of(&x, NULL), key_of(&y, NULL));
}

static enum content
declared(enum op op, uint32_t slot)
{
	static const struct {
		enum op op;
		uint32_t slot;
		enum content what;
	} row[] = {
#define READS(op, slot, what) {OP_##op, slot, CONTENT_##what},
#include "ir/schema.def"
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (row[i].op == op && row[i].slot == slot)
			return row[i].what;
	return op == OP_LOOP ? CONTENT_READ : CONTENT_WEIGHTS;
}

/* The name an input has as a parameter, "" for others. */
static const char *
name_of(enum op op, uint32_t slot)
{
	static const struct {
		enum op op;
		uint32_t slot;
		const char *name;
	} row[] = {
#define GIVEN(op, since, slot, name) {OP_##op, slot, name},
#include "ir/schema.def"
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (row[i].op == op && row[i].slot == slot)
			return row[i].name;
	return "";
}

/* Does the form leave it to the types of the outputs? */
static bool
is_implied(enum op op, const char *name)
{
	static const struct {
		enum op op;
		const char *name;
		bool implied;
	} row[] = {
#define IMPLIED true
#define INT(x) false
#define FLOAT(x) false
#define STRING(x) false
#define ALL(x) false
#define AXIS(x) false
#define PADS false
#define KERNEL false
#define AXES false
#define CHANNELS false
#define EACH_AXIS false
#define PERM false
#define ZEROS false
#define ACTIVATIONS false
#define NONE false
#define DEFAULT(op, since, name, how) {OP_##op, name, how},
#include "ir/schema.def"
#undef INT
#undef FLOAT
	};

	/* The axes say so, and the mode; test_pairs.c has both. */
	if (strcmp(name, "noop_with_empty_axes") == 0
	    || (op == OP_RESIZE && strcmp(name, "roi") == 0))
		return true;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (row[i].op == op && strcmp(row[i].name, name) == 0)
			return row[i].implied;
	return false;
}

static void
every_input_counts_as_declared(void **state)
{
	static const float ones[] = {1, 1, 1, 1}, ramp[] = {1, 2, 3, 4},
	                   zeros[] = {0, 0, 0, 0}, far[] = {0, 300, 600, 900};
	uint32_t count[CONTENT_READ + 1] = {0};

	(void)state;
	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		enum op op = (enum op)i;
		uint32_t most = op_get(op)->max_inputs;

		for (uint32_t slot = 0; slot < most && slot < SLOTS; slot++) {
			enum content what = declared(op, slot);
			enum dtype as =
			    what == CONTENT_PLACES ? DT_INT64 : DT_FLOAT;
			const float *other = what == CONTENT_PLACES ? far
			    : what == CONTENT_ZERO                  ? zeros
			                                            : ramp;
			bool counts = what != CONTENT_WEIGHTS
			    && what != CONTENT_KEPT
			    && !is_implied(op, name_of(op, slot));

			if (sees_change(op, slot, as, ones, other) != counts)
				fail_msg("%s: input %u %s its key",
				    op_get(op)->type, slot,
				    counts ? "is not in" : "is in");
			count[what]++;
		}
	}
	print_message("inputs: %u read, %u places, %u zero, %u kept, %u "
	              "weights\n",
	    count[CONTENT_READ], count[CONTENT_PLACES], count[CONTENT_ZERO],
	    count[CONTENT_KEPT], count[CONTENT_WEIGHTS]);
	assert_true(count[CONTENT_READ] > 90 && count[CONTENT_WEIGHTS] > 200);
}

/* Far apart is another class than together, and so is jumping about. */
static void
places_tell_caches_apart(void **state)
{
	static const float near[] = {5, 5, 5, 5},
	                   elsewhere[] = {77, 77, 77, 77},
	                   up[] = {10, 20, 30, 40}, about[] = {40, 10, 30, 20};

	(void)state;
	assert_false(sees_change(OP_GATHER, 1, DT_INT64, near, elsewhere));
	assert_true(sees_change(OP_GATHER, 1, DT_INT64, near, up));
	assert_false(sees_change(OP_GATHER, 1, DT_INT64, up, about));
}

/* Weights that overflow, or are no numbers, change nothing: kernels are tried
 * on others. A single number that is kept counts when it is extraordinary. */
static void
weights_never_count(void **state)
{
	static const float ones[] = {1, 1, 1, 1};
	static const float odd[] = {NAN, INFINITY, 1e38f, 1e-38f};

	(void)state;
	assert_false(sees_change(OP_MATMUL, 1, DT_FLOAT, ones, odd));
	assert_false(sees_change(OP_CONV, 2, DT_FLOAT, ones, odd));
	assert_true(sees_change(OP_QUANTIZELINEAR, 1, DT_FLOAT, ones, odd));
}

/* ---- every attribute of every operator ---- */

static struct attr
attribute(const char *name, enum attr_kind k, int which)
{
	static const float floats[] = {0.25f, 0.75f};
	static const int64_t ints[] = {2, 3};
	static const struct string_view strings[] = {{"one", 3}, {"two", 3}};
	static const struct type types[] = {
	    {.kind = TYPE_TENSOR, .dtype = DT_FLOAT},
	    {.kind = TYPE_TENSOR, .dtype = DT_INT64}};
	static const int64_t dim[] = {2};
	static struct tensor tensors[2];
	struct attr a = {.name = name, .kind = k, .n = 1};

	tensors[which] =
	    tensor_view(DT_FLOAT, 1, dim, which ? "aaaabbbb" : "ccccdddd");
	switch (k) {
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		a.floats = &floats[which];
		break;
	case ATTR_INT:
	case ATTR_INTS:
		a.ints = &ints[which];
		break;
	case ATTR_STRING:
	case ATTR_STRINGS:
		a.strings = &strings[which];
		break;
	case ATTR_TENSOR:
	case ATTR_TENSORS:
	case ATTR_SPARSE:
	case ATTR_SPARSES:
		a.tensors = &tensors[which];
		break;
	case ATTR_TYPE:
	case ATTR_TYPES:
		a.types = &types[which];
		break;
	case ATTR_GRAPH:
	case ATTR_GRAPHS:
	case ATTR_NONE:
		a.n = 0;
		break;
	}
	return a;
}

static void
every_attribute_counts(void **state)
{
	static const struct {
		const char *op, *name;
		enum attr_kind kind;
	} row[] = {
#define ATTR(op, name, kind, since, last, required) {op, name, ATTR_##kind},
#include "ir/schema.def"
	};
	uint32_t n = 0, nimplied = 0;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct case_in in = {.dtype = DT_FLOAT};
		struct attr x = attribute(row[i].name, row[i].kind, 0);
		struct attr y = attribute(row[i].name, row[i].kind, 1);

		in.op = op_find(row[i].op, strlen(row[i].op));
		if (x.n == 0)
			continue; /* bodies, below */
		if (is_implied(in.op, row[i].name)) {
			nimplied++;
			assert_true(is_same(key_of(&in, &x), key_of(&in, &y)));
			continue;
		}
		n++;
		if (is_same(key_of(&in, &x), key_of(&in, &y)))
			fail_msg(
			    "%s.%s is not in the key", row[i].op, row[i].name);
	}
	print_message("attributes: %u, and %u that types tell\n", n, nimplied);
	assert_true(n > 300);
}

/* ---- loops ---- */

/* A Loop of 20,000 rounds or until its body says stop. `n` is a constant, its
 * inputs and more outputs are given; the body has values 3 and 4, whose sine of
 * v is value 5. */
#define LOOP(n, inputs, more, body) \
	"graph \"g\" {\n" \
	"value %0 \"x\" float32[2,2]\n" \
	"value %1 \"m\" int64[] = int64[] hex 204e000000000000\n" \
	"value %2 \"yes\" bool[] = bool[] hex 01\n" \
	"value %3 \"no\" bool[] = bool[] hex 00\n" \
	"value %4 \"n\" " n "in %0\n" \
	"node %5 \"y\" unknown" more " = \"Loop\" 17 \"\" \"l\" (" inputs \
	") \"body\":graph=graph \"b\" {\n" \
	"value %0 \"i\" int64[]\nvalue %1 \"c\" bool[]\n" \
	"value %2 \"v\" float32[2,2]\n" body "}\nout %5\n}\n"
#define SINE "node %5 \"s\" unknown = \"Sin\" 17 \"\" \"\" (%2; )\n"
#define FLOAT(x) "float32[] = float32[] hex " x "\n"
#define INT(x) "int64[] = int64[] hex " x "\n"
#define ONE "0000803f"
#define TWENTY_THOUSAND "00409c46"
#define INT_ONE "0100000000000000"
#define INT_TWENTY_THOUSAND "204e000000000000"
#define UNUSED(id) "value %" id " \"u" id "\" " FLOAT(ONE)

#define CONSTANT_FLAG(x) \
	LOOP(FLOAT(ONE), "%1, _, %0; ", "", \
	    "value %3 \"k\" bool[] = bool[] hex " x \
	    "\n" UNUSED("4") "in %0, %1, %2\n" SINE "out %3, %5\n")
#define CARRIED_FLAG(k) \
	LOOP(FLOAT(ONE), "%1, _, %0, %2, %3; ", ", _, _", \
	    "value %3 \"a\" bool[]\nvalue %4 \"b\" bool[]\n" \
	    "in %0, %1, %2, %3, %4\n" SINE "out %" k ", %5, %3, %4\n")
#define COUNTS_DOWN_FROM(n) \
	LOOP(FLOAT(n), "_, %2, %0, %4; ", ", _", \
	    "value %3 \"n\" float32[]\nvalue %4 \"one\" " FLOAT( \
	        ONE) "in %0, %1, %2, %3\n" SINE \
	             "node %6 \"d\" unknown = \"Sub\" 17 \"\" \"\" (%3, %4; )\n" \
	             "node %7 \"g\" unknown = \"Greater\" 17 \"\" \"\" (%6, %4; )\n" \
	             "out %7, %5, %6\n")
#define CAPTURED_LIMIT(n) \
	LOOP(INT(n), "_, %2, %0; %4", "", \
	    "capture 0 %3 \"n\" unknown\n" UNUSED( \
	        "4") "in %0, %1, %2\n" SINE \
	             "node %6 \"g\" unknown = \"Less\" 17 \"\" \"\" (%0, %3; )\n" \
	             "out %6, %5\n")
#define INNER_LIMIT(n) \
	LOOP(FLOAT(ONE), "_, %2, %0; ", "", \
	    "value %3 \"n\" " INT(n) UNUSED( \
	        "4") "in %0, %1, %2\n" SINE \
	             "node %6 \"g\" unknown = \"Less\" 17 \"\" \"\" (%0, %3; )\n" \
	             "out %6, %5\n")
#define SPLIT_FLAG(k) \
	LOOP(FLOAT(ONE), "%1, _, %0, %3; ", ", _", \
	    "value %3 \"p\" bool[]\n" UNUSED( \
	        "4") "in %0, %1, %2, %3\n" SINE \
	             "node %6 \"t\" unknown = \"Concat\" 13 \"\" \"\" (%8, %8; ) " \
	             "\"axis\":int=0\n" \
	             "node %7 \"f\" unknown, %9 \"g\" unknown = \"Split\" 13 \"\" \"\" " \
	             "(%6; )\n" \
	             "node %8 \"q\" unknown = \"Unsqueeze\" 11 \"\" \"\" (%3; ) " \
	             "\"axes\":ints=[0]\n" \
	             "node %10 \"h\" unknown = \"Squeeze\" 11 \"\" \"\" (%" k \
	             "; ) " \
	             "\"axes\":ints=[0]\n" \
	             "out %10, %5, %3\n")

static const struct {
	const char *what, *one, *other;
} loops[] = {
    {"a constant flag the body gives back", CONSTANT_FLAG("00"),
        CONSTANT_FLAG("01")},
    {"which flag the body gives back", CARRIED_FLAG("3"), CARRIED_FLAG("4")},
    {"a carried constant it counts down from", COUNTS_DOWN_FROM(ONE),
        COUNTS_DOWN_FROM(TWENTY_THOUSAND)},
    {"a captured limit", CAPTURED_LIMIT(INT_ONE),
        CAPTURED_LIMIT(INT_TWENTY_THOUSAND)},
    {"a limit inside the body", INNER_LIMIT(INT_ONE),
        INNER_LIMIT(INT_TWENTY_THOUSAND)},
    {"which output of a node is the flag", SPLIT_FLAG("7"), SPLIT_FLAG("9")},
};

static struct hash128
key_of_text(const char *text)
{
	struct err err = {.kind = ERR_NONE};
	struct hash128 h = {{0}};

	if (!keyed_text(text, &h, &err))
		fail_msg("%s", err.text);
	return h;
}

static void
what_decides_a_loop_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		if (is_same(
		        key_of_text(loops[i].one), key_of_text(loops[i].other)))
			fail_msg("%s: not in the key", loops[i].what);
		assert_true(is_same(
		    key_of_text(loops[i].one), key_of_text(loops[i].one)));
	}
}

/* A condition that holds at first, said or left out. */
static void
a_condition_that_holds_is_none(void **state)
{
#define ROUNDS(inputs) \
	LOOP(FLOAT(ONE), inputs, "", \
	    UNUSED("3") UNUSED("4") "in %0, %1, %2\n" SINE "out %1, %5\n")
	(void)state;
	assert_true(is_same(key_of_text(ROUNDS("%1, _, %0; ")),
	    key_of_text(ROUNDS("%1, %2, %0; "))));
	assert_false(is_same(key_of_text(ROUNDS("%1, _, %0; ")),
	    key_of_text(ROUNDS("%1, %3, %0; "))));
}

/* ---- made-up weights ---- */

static const struct tensor *
floats(struct arena *a, uint32_t n, float first, float rest)
{
	struct tensor *t = arena_new(a, struct tensor, 1);
	int64_t *dim = arena_new(a, int64_t, 1);
	float *x = arena_new(a, float, n);

	*dim = n;
	for (uint32_t i = 0; i < n; i++)
		x[i] = i ? rest : first;
	*t = tensor_view(DT_FLOAT, 1, dim, x);
	return t;
}

/* Weights with a NaN, an overflow or a zero among them are replaced by ordinary
 * ones, positive ones by positive ones; scalars and limits stay, and all are
 * put back. */
static void
kernels_are_tried_on_ordinary_weights(void **state)
{
	struct arena a;
	struct graph *g;
	struct seeded s;
	value_id port[4];
	node_id only = 0;
	const struct candidate c = {.nnodes = 1, .node = &only};
	const struct tensor *own[3], *now;

	(void)state;
	arena_init(&a);
	g = graph_new(&a, "g");
	own[0] = floats(&a, 8, NAN, 1e38f);
	own[1] = floats(&a, 8, 0, 1e-30f);
	own[2] = floats(&a, 1, 7, 7);
	for (int i = 0; i < 3; i++)
		port[i] = graph_add_constant(g, "w", own[i]);
	port[3] = graph_add_value(g, "y", &(struct type){.kind = TYPE_TENSOR});
	graph_add_node(g,
	    &(struct node){.op = OP_SUM,
	        .op_type = "Sum",
	        .domain = "",
	        .name = "",
	        .opset = 13,
	        .ninputs = 3,
	        .input = port,
	        .noutputs = 1,
	        .output = port + 3});
	seeded_init(&s, g, NULL, &a);
	seeded_take(&s, &c);
	for (int i = 0; i < 2; i++) {
		bool negative = false;

		now = graph_value(g, port[i])->constant;
		assert_ptr_not_equal(now, own[i]);
		assert_true(content_is_ordinary(now));
		assert_false(content_is_zero(now));
		for (size_t k = 0; k < now->count; k++)
			negative |= tensor_real(now, k) < 0;
		assert_int_equal(negative, i == 0);
		seeded_take(&s, &c);
		assert_ptr_equal(now, graph_value(g, port[i])->constant);
	}
	assert_ptr_equal(graph_value(g, port[2])->constant, own[2]);
	seeded_restore(&s);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(graph_value(g, port[i])->constant, own[i]);
	seeded_release(&s);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_input_counts_as_declared),
	    cmocka_unit_test(places_tell_caches_apart),
	    cmocka_unit_test(weights_never_count),
	    cmocka_unit_test(every_attribute_counts),
	    cmocka_unit_test(what_decides_a_loop_counts),
	    cmocka_unit_test(a_condition_that_holds_is_none),
	    cmocka_unit_test(kernels_are_tried_on_ordinary_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
