/* Shape arithmetic as exporters of language models write it: nothing of it is
 * left once the dimensions are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/normalize.h"
#include "targets/host/host.h"
#include "tests/support/leftover.h"
#include "tests/support/spell.h"

static const struct {
	const char *what, *text;
	uint32_t nodes; /* that are left to run */
} model[] = {
    {"a causal mask of ranges",
        "x[2,7,16]; s = Shape(x); b = Gather(s, [0]); t = Gather(s, [1]);"
        "u = Squeeze(t); z = Squeeze([0]); o = Squeeze([1]);"
        "r = Range(z, u, o); c = Unsqueeze(r, [0]); d = Unsqueeze(r, [1]);"
        "l = LessOrEqual(c, d); e = Concat(b, [1], t, t){axis=0};"
        "f = Expand(l, e); w = Where(f, 0.0, -10000.0);"
        "g = Concat(b, t, [-1], [4]){axis=0}; h = Reshape(x, g);"
        "q = Transpose(h){perm=[0, 2, 1, 3]};"
        "k = Transpose(h){perm=[0, 2, 3, 1]}; p = MatMul(q, k);"
        "a = Add(p, w); y = Softmax(a){axis=-1}",
        6},
    {"a mask made of ConstantOfShape and Trilu",
        "x[1,9,8]; s = Shape(x); t = Gather(s, [1]);"
        "n = Concat(t, t){axis=0}; c = ConstantOfShape(n);"
        "m = Add(c, -10000.0); u = Trilu(m){upper=1}; d = Unsqueeze(u, [0]);"
        "p = MatMul(x, #8x9); a = Add(p, d); y = Softmax(a){axis=-1}",
        3},
    {"Expand to a shape whose -1 are taken from elsewhere",
        "x[3,1,5]; z[3,4,5]; s = Shape(z); n = ConstantOfShape([3]);"
        "i = Cast(n){to=7}; o = Add(i, [1, 1, 1]); m = Mul(o, [-1, -1, -1]);"
        "g = Concat([-1], [4], [-1]){axis=0}; e = Equal(g, m);"
        "w = Where(e, o, g); x2 = Expand(x, w); y = Add(x2, z)",
        2},
    {"positions behind the past",
        "x[1,3,8]; p[1,2,6,4]; s = Shape(p); t = Gather(s, [2]);"
        "v = Shape(x); n = Gather(v, [1]); e = Add(t, n); a = Squeeze(t);"
        "b = Squeeze(e); o = Squeeze([1]); r = Range(a, b, o);"
        "f = Cast(r){to=1}; u = Unsqueeze(f, [1]); w = Mul(u, #1x4);"
        "c = Concat(w, w){axis=-1}; k = Cos(c); y = Mul(x, k)",
        1},
    {"halves by a quotient, slices up to a length",
        "x[2,10,16]; s = Shape(x); l = Gather(s, [2]); h = Div(l, [2]);"
        "a = Slice(x, [0], h, [2]); b = Slice(x, h, l, [2]);"
        "m = Size(x); k = Min(m, l); j = Mod(k, [7]); i = Sub(k, j);"
        "c = Concat(a, b){axis=-1}; q = Concat([-1], i){axis=0};"
        "y = Reshape(c, [-1, 16])",
        4},
};

static void
nothing_is_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
		const struct infer_options o = {.eval = host_eval};
		struct err err = {.kind = ERR_NONE};
		struct arena a;
		struct maker m;
		node_id left;

		arena_init(&a);
		make_begin(&m, &a);
		m.opset = 18;
		make_output(&m, spell(&m, model[i].text));
		m.graph->input = m.input;
		m.graph->output = m.output;
		if (!normalize(m.graph, &o, &err))
			fail_msg("%s: %s", model[i].what, err.text);
		left = leftover_node(m.graph, &a);
		if (left != NODE_NONE)
			fail_msg("%s: %s is left", model[i].what,
			    m.graph->node[left].op_type);
		if (m.graph->nnodes != model[i].nodes)
			fail_msg("%s: %u nodes are left", model[i].what,
			    m.graph->nnodes);
		arena_release(&a);
	}
}

/* The check itself finds what is left when nothing is folded. */
static void
what_is_left_is_found(void **state)
{
	struct arena a;
	struct maker m;

	(void)state;
	arena_init(&a);
	make_begin(&m, &a);
	make_output(&m, spell(&m, "s = Add(#2, #2)"));
	make_end(&m); /* without an evaluator */
	assert_int_equal(leftover_node(m.graph, &a), 0);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_left),
	    cmocka_unit_test(what_is_left_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
