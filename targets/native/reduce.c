/* Reductions: which are taken, and by how many threads. */
#include <assert.h>

#include "targets/axes.h"
#include "targets/native/native.h"
#include "targets/native/reduce_form.h"
#include "targets/need.h"
#include "targets/team.h"

#define NEED why_need

/* The reduced dimensions in the midst of those that stay; false: they are not
 * neighbours. Dimensions of one element are both. */
static bool
set_sizes(
    struct reduce_form *r, const struct type *t, const bool reduced[AXES_MAX])
{
	uint32_t i = 0;

	r->outer = r->n = r->inner = 1;
	for (; i < t->rank && (!reduced[i] || t->dim[i] == 1); i++)
		r->outer *= (size_t)t->dim[i];
	for (; i < t->rank && (reduced[i] || t->dim[i] == 1); i++)
		r->n *= (size_t)t->dim[i];
	for (; i < t->rank && (!reduced[i] || t->dim[i] == 1); i++)
		r->inner *= (size_t)t->dim[i];
	return i == t->rank && r->n >= 1;
}

/* A square before it is part of it. */
static value_id
input_of(const struct match *m, const struct node *n)
{
	return m->nnodes > 1 ? match_value(m, "x") : n->input[0];
}

static void
set_kind(struct reduce_form *r, const struct node *n, bool squared)
{
	const enum op op = n->op;

	r->kind = op == OP_REDUCEMAX ? REDUCE_MAX
	    : op == OP_REDUCEMIN     ? REDUCE_MIN
	                             : REDUCE_SUM;
	r->entry = squared || op == OP_REDUCEL2 || op == OP_REDUCESUMSQUARE
	    ? REDUCE_SQUARE
	    : op == OP_REDUCEL1 ? REDUCE_MAGNITUDE
	                        : REDUCE_AS_IS;
	r->factor = op == OP_REDUCEMEAN ? 1 / (float)r->n : 1;
	r->root = op == OP_REDUCEL2;
}

bool
accept_reduce(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool reduced[AXES_MAX], ok = need_tensors(m, why, n, 1), once;
	struct reduce_form r;

	if (!ok || !need_tensor(m, why, input_of(m->match, n)))
		return false;
	ok = axes_read(reduced, m->graph, n);
	if (!NEED(why, ok, "axes", "known", "they are computed"))
		return false;
	ok = set_sizes(&r, matched_type(m, n->input[0]), reduced);
	once = m->match->nnodes == 1
	    || (n->op != OP_REDUCEL1 && n->op != OP_REDUCEL2
	        && n->op != OP_REDUCESUMSQUARE);
	return NEED(why, ok, "dimensions", "neighbours", "%s",
	           ok ? "they are" : "others between them")
	    && NEED(why, once, "square", "of the elements", "%s",
	        once ? "that" : "of their squares");
}

/* ---- a kernel ---- */

struct reduce_kernel {
	struct reduce_form r;
	reduce_run *run;
	const float *in;
	float *out;
	uint32_t threads;
};

static void
run_part(void *of, uint32_t i)
{
	const struct reduce_kernel *k = of;
	const size_t n = k->r.outer * k->r.inner;

	k->run(
	    &k->r, n * i / k->threads, n * (i + 1) / k->threads, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct reduce_kernel *k = kernel->state;

	k->in = in[0];
	k->out = out[0];
	team_run(k->threads, run_part, k);
}

bool
compile_reduce(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct reduce_kernel *k = arena_new(a, struct reduce_kernel, 1);
	const struct node *n = graph_node(g, c->match->root);
	bool reduced[AXES_MAX];

	if (!axes_read(reduced, g, n)
	    || !set_sizes(&k->r, &node_in(g, n, 0)->type, reduced))
		return err_set(err, ERR_UNSUPPORTED, "native: other axes");
	set_kind(&k->r, n, c->match->nnodes > 1);
	assert(candidate_input(c, input_of(c->match, n)) == 0);
	k->run = native_version_of(t)->reduce;
	k->threads = team_for(k->r.outer * k->r.n * k->r.inner);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
