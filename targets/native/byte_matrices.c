/* Products of matrices of bytes that both come in, between quantisers or as a
 * QLinearMatMul. */
#include <assert.h>
#include <math.h>

#include "ir/base/common_scratch.h"
#include "targets/lanes.h"
#include "targets/native/byte_matrices_form.h"
#include "targets/native/codes.h"
#include "targets/native/native.h"
#include "targets/native/pixels.h"
#include "targets/need.h"
#include "targets/threads.h"

#define NEED why_need

/* ---- what is taken ---- */

struct byte_matrices {
	value_id a, b, to;
	struct byte_code a_code, b_code, to_code;
};

/* A QLinearMatMul: a, its scale and zero; b and its; the scale and zero of the result. */
static bool
read_operator(
    struct byte_matrices *m, const struct graph *g, const struct node *n)
{
	m->a = n->input[0];
	m->b = n->input[3];
	m->to = n->output[0];
	return byte_code_read(&m->a_code, &node_in(g, n, 0)->type,
	           node_in(g, n, 1), node_in(g, n, 2))
	    && byte_code_read(&m->b_code, &node_in(g, n, 3)->type,
	        node_in(g, n, 4), node_in(g, n, 5))
	    && byte_code_read(&m->to_code, &node_out(g, n, 0)->type,
	        node_in(g, n, 6), node_in(g, n, 7));
}

static bool
matrices_read(
    struct byte_matrices *m, const struct graph *g, const struct match *match)
{
	const struct node *root = graph_node(g, match->root), *product;

	if (root->op == OP_QLINEARMATMUL)
		return read_operator(m, g, root);
	product = graph_producer(g, root->input[0]);
	m->a = byte_input(g, product, 0);
	m->b = byte_input(g, product, 1);
	m->to = root->output[0];
	return byte_code_of(&m->a_code, g, graph_producer(g, product->input[0]))
	    && byte_code_of(&m->b_code, g, graph_producer(g, product->input[1]))
	    && byte_code_of(&m->to_code, g, root);
}

/* Is there a matrix b for each a, or one for all? */
static bool
shapes_go(const struct type *a, const struct type *b)
{
	if (a->rank < 2 || b->rank < 2)
		return false;
	if (type_elements(b, 0) == type_elements(b, b->rank - 2))
		return b->rank <= a->rank;
	if (b->rank != a->rank)
		return false;
	for (uint32_t i = 0; i + 2 < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

/* SOURCE: so many products of differences of bytes stay within 32 bits. */
#define DEPTH_MOST (INT32_MAX / (255 * 255))

static float
multiplier_of(const struct byte_matrices *m)
{
	return m->a_code.scale * m->b_code.scale / m->to_code.scale;
}

bool
accept_byte_matrices(const struct match_in *m, struct why *why)
{
	struct byte_matrices p;
	const struct type *a, *b;

	if (!NEED(why, matrices_read(&p, m->graph, m->match), "codes",
	        "8 bits with one constant scale and zero", "others"))
		return false;
	a = matched_type(m, p.a);
	b = matched_type(m, p.b);
	return need_size(m, why, p.a) && need_size(m, why, p.b)
	    && NEED(why, isfinite(multiplier_of(&p)), "scales",
	        "such that their quotient is a number", "others")
	    && NEED(why, shapes_go(a, b), "matrices",
	        "a second one for each, or one for all", "others")
	    && NEED(why, a->dim[a->rank - 1] <= DEPTH_MOST, "depth",
	        "at most 33025", "%lld", (long long)a->dim[a->rank - 1]);
}

/* ---- a kernel ---- */

struct matrices_kernel {
	struct byte_matrices_form m;
	byte_matrices_run *run;
	struct byte_matrices_data data;
	uint32_t threads;
	int32_t a, b; /* ports */
	size_t a_bytes;
	int32_t *scratch; /* [threads][m.each.scratch] */
};

static void
run_unit(void *of, uint32_t lane, size_t unit, bool packed)
{
	const struct matrices_kernel *k = of;

	k->run(&k->m, unit, packed, &k->data,
	    k->scratch + lane * k->m.each.scratch);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct matrices_kernel *k = kernel->state;

	k->data.a.in = in[k->a];
	k->data.a.end = k->data.a.in + k->a_bytes;
	k->data.a.out = out[0];
	k->data.b = in[k->b];
	lanes_groups(
	    k->m.count * k->m.parts, k->m.parts, k->threads, run_unit, k);
}

/* A product for each thread, or, where they are fewer than what all threads want, parts of
 * them. */
static void
divide(struct byte_matrices_form *m, uint32_t threads)
{
	struct integer_form *f = &m->each;
	size_t blocks = integer_blocks(f, f->padded * sizeof(int16_t));

	m->parts = 1;
	if (threads > 1)
		m->parts =
		    rounded(lanes_cut(f->rows, threads), m->count) / m->count;
	if (blocks < m->parts)
		blocks = m->parts;
	f->block = (f->rows + blocks - 1) / blocks;
	f->parts = 1;
}

static void
set_sums(struct integer_form *f, const struct byte_matrices *p, struct arena *a)
{
	float *multiplier = arena_new(a, float, f->filters);

	for (size_t i = 0; i < f->outputs; i++)
		multiplier[i] = multiplier_of(p);
	f->multiplier = multiplier;
	f->bias = arena_new(a, int32_t, f->filters);
	f->zero = p->to_code.zero;
	f->to_unsigned = p->to_code.is_unsigned;
}

static void
set_form(struct byte_matrices_form *m, const struct graph *g,
    const struct byte_matrices *p, size_t pair, struct arena *arena)
{
	const struct type *a = &graph_value(g, p->a)->type;
	const struct type *b = &graph_value(g, p->b)->type;
	struct integer_form *f = &m->each;

	f->depth = (size_t)b->dim[b->rank - 2];
	f->outputs = (size_t)b->dim[b->rank - 1];
	f->padded = rounded(f->depth, pair);
	f->filters = rounded(f->outputs, pair);
	f->points = 1;
	f->window.in_place = true;
	f->from_unsigned = p->a_code.is_unsigned;
	m->count = type_elements(b, 0) / (f->depth * f->outputs);
	f->rows = type_elements(a, 0) / (m->count * f->depth);
	m->a_step = f->rows * f->depth;
	m->b_step = f->depth * f->outputs;
	m->to_step = f->rows * f->outputs;
	m->b_zero = (int32_t)p->b_code.zero;
	m->b_unsigned = p->b_code.is_unsigned;
	set_sums(f, p, arena);
}

bool
compile_byte_matrices(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *version = native_version_of(t);
	struct matrices_kernel *k = arena_new(a, struct matrices_kernel, 1);
	struct integer_form *f = &k->m.each;
	struct byte_matrices p;

	if (!matrices_read(&p, g, c->match))
		return err_set(err, ERR_INTERNAL, "native: no product");
	set_form(&k->m, g, &p, (size_t)2 * version->width, a);
	k->run = version->byte_matrices;
	k->threads = target_threads();
	divide(&k->m, k->threads);
	f->scratch = rounded(version->byte_matrices_room(&k->m), 16);
	k->scratch =
	    common_scratch_or(k->threads * f->scratch * sizeof *k->scratch, a);
	k->data.a.zero = (int32_t)p.a_code.zero;
	k->a = candidate_input(c, p.a);
	k->b = candidate_input(c, p.b);
	k->a_bytes = k->m.count * k->m.a_step;
	assert(k->a >= 0 && k->b >= 0);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
