/* Products with constant matrices: rows on the left are the pixels of an image whose
 * channels lie side by side, columns on the right its filters (point.c). */
#include <assert.h>
#include <math.h>

#include "targets/matrix_rows.h"
#include "targets/native/native.h"
#include "targets/native/pointwise.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- what is taken ---- */

/* Constants but the bias would be read as a channel's, which a column is not. */
static bool
need_tensor_operands(
    const struct match_in *m, struct why *why, const struct fused *f)
{
	bool ok = true;

	for (uint32_t i = 0; i < f->nsteps; i++)
		ok = ok
		    && (!step_is_binary(f->step[i].kind)
		        || !graph_value(m->graph, f->step[i].other)->constant);
	return NEED(why, ok, "operands",
	    "a constant row first, or no constants", "%s",
	    ok ? "they are" : "another constant");
}

static bool
need_matrix(const struct match_in *m, struct why *why, const struct node *n)
{
	const bool turned = attr_int_or(n, "transA", 0) != 0;
	const bool constant =
	    graph_value(m->graph, n->input[0])->constant != NULL;
	bool ok = need_rank_in(m, why, n->input[0], 2, RANK_MAX)
	    && need_rank_in(m, why, n->input[1], 2, 2);

	ok = NEED(why, !turned, "transA", "0", "%d", turned) && ok;
	ok = NEED(why, !constant, "left_operand", "not a constant",
	         "'%s' is constant", matched_name(m, n->input[0]))
	    && ok;
	ok = need_constant(m, why, n, 1, "right_operand") && ok;
	return need_constant(m, why, n, 2, "bias") && need_bias_row(m, why, n)
	    && ok;
}

bool
accept_matrix(const struct match_in *m, struct why *why)
{
	struct product p;
	struct fused f;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	ok = need_matrix(m, why, f.anchor);
	if (!ok)
		return false;
	fused_product(&p, &f, m->graph);
	ok = need_tensor_operands(m, why, &f);
	return need_native_steps(m, why, &f) && ok;
}

/* ---- a kernel ---- */

/* [rows][channels] and [rows][filters]: one image, a line of pixels. */
static void
set_places(struct pointwise *p, size_t rows, size_t channels, size_t filters,
    size_t width)
{
	*p = (struct pointwise){.images = 1,
	    .area = rows,
	    .columns = rows,
	    .right = channels,
	    .there = channels,
	    .channels = rounded(channels, width),
	    .real = filters,
	    .stored = filters,
	    .filters = rounded(filters, 2 * width),
	    .in = {rows * channels, width, width, channels},
	    .out = {rows * filters, width, width, filters},
	    .copies = true,
	    .entry = {.gate = -1, .low = -INFINITY}};
}

/* The matrix on the right, a column's numbers `filter_step` after the one's before. */
static void
pack_right(struct pointwise *p, const struct product *of, const struct graph *g,
    size_t width, struct arena *a)
{
	const struct tensor *t = graph_value(g, of->right)->constant;
	struct filters_at from = {.channels = p->there};
	struct matrix_rows rows;
	struct arena unpacked;
	const float *bias = NULL;

	from.filter_step = of->transpose_right ? p->there : 1;
	from.channel_step = of->transpose_right ? 1 : p->real;
	arena_init(&unpacked);
	if (matrix_is_large(t)) {
		from.rows = &rows;
		matrix_rows_open(&rows, t, of->alpha,
		    from.filter_step > from.channel_step ? p->there : p->real,
		    POINTWISE_ROWS, &unpacked);
	} else {
		from.at = scaled_floats(g, of->right, of->alpha, &unpacked);
	}
	pointwise_pack(p, &from, width, a);
	if (of->bias != VALUE_NONE)
		bias = scaled_floats(g, of->bias, of->beta, &unpacked);
	p->bias = floats_padded(bias, p->real, p->filters, a);
	arena_release(&unpacked);
}

bool
compile_matrix(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const size_t width = native_version_of(t)->width;
	const struct type *in, *result;
	struct pointwise p;
	struct product of;
	struct fused f;
	const char *fault;

	if (!fused_read(&f, g, c->match, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	fused_product(&of, &f, g);
	in = &graph_value(g, of.left)->type;
	result = &graph_value(g, f.end)->type;
	set_places(&p, type_leading(in, 1), (size_t)in->dim[in->rank - 1],
	    (size_t)result->dim[result->rank - 1], width);
	pack_right(&p, &of, g, width, a);
	native_steps_of(&p.steps, &f, g, c, p.filters, a);
	native_bounds_of(&p.steps, &p.low, &p.high);
	p.port = candidate_input(c, of.left);
	assert(p.port >= 0);
	pointwise_kernel(&p, t, c, a, out);
	return true;
}
