/* QuantizeLinear and DequantizeLinear by themselves, from one layout to another. */
#include "targets/native/codes.h"

#include "targets/native/native.h"
#include "targets/need.h"

bool
accept_code(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const value_id real =
	    n->op == OP_QUANTIZELINEAR ? n->input[0] : n->output[0];

	return need_tensor(m, why, real) && need_byte_codes(m, why);
}

struct code_kernel {
	const struct native_version *version;
	struct byte_code code;
	size_t count;
	struct move_loops loops;
	uint8_t
	    *between; /* [count] bytes in the other layout; NULL: the same */
};

static void
run_quantizer(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct code_kernel *k = kernel->state;

	k->version->quantize(
	    k->between ? k->between : out[0], in[0], k->count, &k->code);
	if (k->between)
		move_bytes(out[0], k->between, &k->loops);
}

static void
run_dequantizer(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct code_kernel *k = kernel->state;

	if (k->between)
		move_bytes(k->between, in[0], &k->loops);
	k->version->dequantize(
	    out[0], k->between ? k->between : in[0], k->count, &k->code);
}

bool
compile_code(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct node *n = graph_node(g, c->match->root);
	const struct type *type = &graph_value(g, n->output[0])->type;
	struct code_kernel *k = arena_new(a, struct code_kernel, 1);

	if (!byte_code_of(&k->code, g, n))
		return err_set(err, ERR_INTERNAL, "native: codes are lost");
	k->version = native_version_of(t);
	k->count = type_elements(type, 0);
	if (layout_loops(&k->loops, type, c->implementation, a))
		k->between = arena_new(a, uint8_t, k->count);
	*out = (struct kernel){.kind = t->kind,
	    .candidate = c,
	    .run = n->op == OP_QUANTIZELINEAR ? run_quantizer : run_dequantizer,
	    .state = k};
	return true;
}
