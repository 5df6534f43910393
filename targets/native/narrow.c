/* Products with weights in blocks of 4 or 8 bits: a few rows, as a decoder has. */
#include "ir/base/size.h"
#include "targets/lanes.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/team.h"
#include "targets/threads.h"

#define NEED why_need

struct narrow_kernel {
	const struct native_version *version;
	struct narrow_form form;
	size_t piece; /* columns of a part */
	uint32_t parts;
	float *packed;
	float *result;
};

bool
accept_blocks(const struct match_in *m, struct why *why)
{
	const value_id x = matched_root(m)->input[0];

	return need_tensor(m, why, x) && need_narrow(m, why)
	    && NEED(why, type_elements(matched_type(m, x), 0) > 0, "rows",
	        "one at least", "none");
}

static void
run_part(void *of, uint32_t lane, size_t part)
{
	const struct narrow_kernel *k = of;
	const size_t columns = k->form.weights.columns;
	const size_t from = part * k->piece, to = from + k->piece;

	(void)lane;
	k->version->narrow(
	    &k->form, k->packed, from, to < columns ? to : columns, k->result);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct narrow_kernel *k = kernel->state;

	k->result = out[0];
	k->version->narrow_pack(&k->form, in[0], k->packed);
	lanes_each(k->parts, LANES_MOST, run_part, k);
}

/* Parts begin at whole pairs of columns. */
static void
divide(struct narrow_kernel *k)
{
	const struct narrow *w = &k->form.weights;
	const double work =
	    (double)k->form.rows * (double)w->depth * (double)w->columns;
	const size_t parts = lanes_cut(SIZE_MAX, team_for_products(work));

	k->piece = size_round_up((w->columns - 1) / parts + 1, NARROW_COLUMNS);
	k->parts = (uint32_t)((w->columns - 1) / k->piece + 1);
}

bool
compile_blocks(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct narrow_kernel *k = arena_new(a, struct narrow_kernel, 1);
	const struct node *n = graph_node(g, c->node[0]);
	const struct type *x = &node_in(g, n, 0)->type;
	struct narrow_form *f = &k->form;

	(void)err;
	k->version = native_version_of(t);
	narrow_open(&f->weights, g, n, a);
	f->bias = narrow_bias(g, n, a);
	f->rows = type_elements(x, 0) / f->weights.depth;
	f->stride = k->version->narrow_stride(&f->weights);
	k->packed = arena_new(a, float, f->rows * f->stride);
	divide(k);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
