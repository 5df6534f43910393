/* Makers of recurrent layers. */
#include <string.h>

#include "tests/fuzz/candidates/generate.h"

/* Functions of gates, and how many parameters each has. */
static const struct function {
	const char *name;
	bool alpha, beta;
} function[] = {
    {"Sigmoid", false, false},
    {"Tanh", false, false},
    {"Relu", false, false},
    {"LeakyRelu", true, false},
    {"Elu", true, false},
    {"HardSigmoid", true, true},
    {"ScaledTanh", true, true},
    {"Affine", true, true},
    {"Softsign", false, false},
    {"Softplus", false, false},
};
#define NFUNCTIONS (sizeof function / sizeof *function)

#define GATES_MOST 6u /* of both directions */

static void
add_floats(struct generator *g, struct attributes *at, const char *name,
    const float *x, uint32_t n)
{
	if (n > 0 && at->n < ATTRS_MAX)
		at->item[at->n++] = (struct attr){.name = name,
		    .kind = ATTR_FLOATS,
		    .n = n,
		    .floats = arena_copy(g->m.arena, x, n * sizeof *x)};
}

/* Parameters are given to all functions that have some, or to none. */
static void
add_functions(struct generator *g, struct attributes *at, uint32_t n)
{
	struct string_view *s = arena_new(g->m.arena, struct string_view, n);
	float alpha[GATES_MOST], beta[GATES_MOST];
	uint32_t nalpha = 0, nbeta = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct function *f = &function[rng_below(
		    &g->r, one_in(g, 2) ? 3 : (uint32_t)NFUNCTIONS)];

		s[i] = (struct string_view){f->name, strlen(f->name)};
		if (f->alpha)
			alpha[nalpha++] = one_in(g, 2) ? 0.3f : 0.8f;
		if (f->beta)
			beta[nbeta++] = one_in(g, 2) ? 0.1f : 0.6f;
	}
	at->item[at->n++] = (struct attr){
	    .name = "activations", .kind = ATTR_STRINGS, .n = n, .strings = s};
	add_floats(g, at, "activation_alpha", alpha, nalpha);
	add_floats(g, at, "activation_beta", beta, nbeta);
}

/* [directions, batch, size], or with the batch first. */
struct state {
	int64_t dirs, batch, size;
	bool first;
};

static value_id
state(struct generator *g, const struct state *s)
{
	return new_tensor(g,
	    (int64_t[]){s->first ? s->batch : s->dirs,
	        s->first ? s->dirs : s->batch, s->size},
	    3);
}

static void
add_states(struct generator *g, enum op op, value_id *in, const struct state *s)
{
	in[4] = VALUE_NONE; /* lengths */
	in[5] = state(g, s);
	in[6] = VALUE_LAST;
	if (op != OP_LSTM || one_in(g, 3))
		return;
	in[6] = state(g, s);
	in[7] = VALUE_LAST;
}

/* An LSTM of bytes: a scale and a zero for each direction, or for each column. */
void
make_byte_sequence(struct generator *g)
{
	const value_id x = take(g, 3);
	const struct type t = *type_of(g, x);
	const int64_t dirs = 1 + one_in(g, 3), h = any_dim(g);
	const int64_t *dim = one_in(g, 2) ? DIMS(dirs, 4 * h) : DIMS(dirs);
	const struct state s = {dirs, t.dim[1], h, false};
	value_id (*const codes)(struct maker *, const int64_t *) =
	    one_in(g, 2) ? make_uint8 : make_int8;
	struct attributes at = {.n = 0};
	value_id in[13] = {x, codes(&g->m, DIMS(dirs, t.dim[2], 4 * h)),
	    codes(&g->m, DIMS(dirs, h, 4 * h)),
	    one_in(g, 3)
	        ? VALUE_NONE
	        : new_constant(g, (int64_t[]){dirs, 8 * h}, 2, -0.5f, 0.5f),
	    VALUE_NONE, one_in(g, 3) ? state(g, &s) : VALUE_NONE,
	    one_in(g, 3) ? state(g, &s) : VALUE_NONE, VALUE_NONE};

	add_int(g, &at, "hidden_size", h);
	if (dirs == 2 || one_in(g, 2))
		add_text(g, &at, "direction",
		    dirs == 2 ? "bidirectional" : "reverse");
	for (uint32_t i = 8; i < 12; i += 2) {
		in[i] = new_constant(g, dim, dim[1] ? 2 : 1, 0.0005f, 0.003f);
		in[i + 1] = codes(&g->m, dim);
	}
	in[12] = VALUE_LAST;
	add_node(g, OP_DYNAMICQUANTIZELSTM, in, &at);
	for (uint32_t more = rng_below(&g->r, 3); more > 0; more--)
		make_more(&g->m);
}

void
make_sequence(struct generator *g)
{
	static const enum op op[] = {OP_LSTM, OP_GRU, OP_RNN};
	static const int64_t gates[] = {4, 3, 1};
	static const uint32_t functions[] = {3, 2, 1};
	static const char *const direction[] = {
	    "forward", "reverse", "bidirectional"};
	const uint32_t k = rng_below(&g->r, 3), d = rng_below(&g->r, 3);
	const int64_t dirs = d == 2 ? 2 : 1, h = any_dim(g);
	const bool first = g->m.opset >= 14 && one_in(g, 4);
	value_id in[9] = {take(g, 3)};
	const struct type t = *type_of(g, in[0]);
	struct attributes at = {.n = 0};

	add_from_table(g, &at, op[k]);
	add_int(g, &at, "hidden_size", h);
	if (d > 0 || one_in(g, 2))
		add_text(g, &at, "direction", direction[d]);
	if (first)
		add_int(g, &at, "layout", 1);
	if (one_in(g, 3))
		add_functions(g, &at, functions[k] * (uint32_t)dirs);
	in[1] = new_constant(
	    g, (int64_t[]){dirs, gates[k] * h, t.dim[2]}, 3, -0.5f, 0.5f);
	in[2] =
	    new_constant(g, (int64_t[]){dirs, gates[k] * h, h}, 3, -0.5f, 0.5f);
	in[3] = one_in(g, 3)
	    ? VALUE_NONE
	    : new_constant(
	        g, (int64_t[]){dirs, 2 * gates[k] * h}, 2, -0.5f, 0.5f);
	in[4] = VALUE_LAST;
	if (one_in(g, 4))
		add_states(g, op[k], in,
		    &(const struct state){
		        dirs, t.dim[first ? 0 : 1], h, first});
	add_node(g, op[k], in, &at);
	for (uint32_t more = rng_below(&g->r, k == 0 ? 3 : 2); more > 0; more--)
		make_more(&g->m);
}
