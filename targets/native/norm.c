/* LayerNormalization and RMSNormalization, the operators or spelled out, perhaps of the sum
 * of two tensors. */
#include "targets/axes.h"
#include "targets/lanes.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/weights.h"

#define NEED why_need

/* TUNING: numbers of a thread at once, each read three times. */
#define PART_LEAST ((size_t)8192)

static uint32_t
axis_in(const struct graph *g, const struct node *n)
{
	return axes_one(n, -1, node_in(g, n, 0)->type.rank);
}

/* The sum of two that is normalised; NULL: it is not of a sum. */
static const struct node *
sum_in(const struct match *m, const struct graph *g)
{
	const node_id sum = match_node(m, "sum");

	return sum == NODE_NONE ? NULL : graph_node(g, sum);
}

static bool
need_sum(const struct match_in *m, struct why *why, const struct type *t)
{
	const struct node *sum = sum_in(m->match, m->graph);
	bool same = true;

	for (uint32_t i = 0; sum && i < 2; i++)
		same = same && need_tensor(m, why, sum->input[i])
		    && same_shape(matched_type(m, sum->input[i]), t);
	return NEED(why, same, "terms", "two tensors of the result's shape",
	    "one is repeated");
}

bool
accept_norm(const struct match_in *m, struct why *why)
{
	const struct node *root = matched_root(m);
	const struct graph *g = match_graph(m->match, m->graph);
	const struct node *n = match_as_node(m->match, m->graph);
	uint32_t axis;

	if (!need_first_output(m, why, root)
	    || !need_tensor(m, why, n->input[0])
	    || !need_tensor(m, why, root->output[0])
	    || !need_size(m, why, root->output[0]))
		return false;
	axis = axis_in(g, n);
	return need_sum(m, why, matched_type(m, root->output[0]))
	    && need_line_weights(m, why, n, 1, axis)
	    && need_line_weights(m, why, n, 2, axis);
}

struct norm_kernel {
	struct norm_form form;
	norm_run *run;
	bool sums;
	uint32_t port[2]; /* of what is summed */
	size_t lines, part; /* so many at once */
	const float *x, *other;
	float *y;
};

static void
run_part(void *of, size_t first, size_t count)
{
	const struct norm_kernel *k = of;

	k->run(&k->form, k->x, k->other, k->y, first, first + count);
}

static void
run_norm(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct norm_kernel *k = kernel->state;

	k->x = in[k->port[0]];
	k->other = k->sums ? in[k->port[1]] : NULL;
	k->y = out[0];
	lanes_parts(k->lines, k->part, run_part, k);
}

static void
set_form(struct norm_form *f, const struct graph *g, const struct node *n,
    struct arena *a)
{
	const struct type *t = &node_in(g, n, 0)->type;
	const bool shifted = n->ninputs > 2 && n->input[2] != VALUE_NONE;

	f->n = type_elements(t, axis_in(g, n));
	f->centred = n->op == OP_LAYERNORMALIZATION;
	f->epsilon = attr_float_or(n, "epsilon", 1e-5f);
	f->scale = scaled_floats(g, n->input[1], 1, a);
	f->shift = shifted ? scaled_floats(g, n->input[2], 1, a) : NULL;
}

bool
compile_norm(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct norm_kernel *k = arena_new(a, struct norm_kernel, 1);
	const struct node *n = match_as_node(c->match, g);
	const struct node *sum = sum_in(c->match, g);

	(void)err;
	set_form(&k->form, match_graph(c->match, g), n, a);
	k->run = native_version_of(t)->norm;
	k->sums = sum != NULL;
	for (uint32_t i = 0; i < 2; i++)
		k->port[i] = (uint32_t)candidate_input(
		    c, sum ? sum->input[i] : n->input[0]);
	k->lines = type_elements(&graph_value(g, c->output[0].value)->type, 0)
	    / k->form.n;
	k->part = (PART_LEAST + k->form.n - 1) / k->form.n;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_norm, .state = k};
	return true;
}
