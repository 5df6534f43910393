/* Elements of 2, 4 and 8 bytes that are moved, joined and padded, in one pass. */
#include "targets/native/native.h"
#include "targets/native/places.h"
#include "targets/need.h"
#include "targets/pieces.h"
#include "targets/team.h"

#define NEED why_need

/* ---- what is taken ---- */

static bool
need_elements(const struct match_in *m, struct why *why, value_id v)
{
	const struct type *t = matched_type(m, v);
	const uint32_t bits = dtype_bits(t->dtype);

	return need_size(m, why, v)
	    && NEED(why,
	        (bits == 16 || bits == 32 || bits == 64)
	            && type_elements(t, 0) >= 1
	            && type_elements(t, 0) < PLACES_MAX,
	        "elements", "1..2^24 of 2, 4 or 8 bytes", "'%s' has others",
	        matched_name(m, v));
}

/* Operators that others have channels last, and what stands between them. */
static bool
is_of_images(enum op op)
{
	static const enum op those[] = {OP_CONV, OP_CONVTRANSPOSE, OP_MAXPOOL,
	    OP_AVERAGEPOOL, OP_GLOBALAVERAGEPOOL, OP_BATCHNORMALIZATION,
	    OP_RESIZE, OP_RELU, OP_LEAKYRELU, OP_PRELU, OP_CLIP, OP_SIGMOID,
	    OP_HARDSWISH, OP_CONCAT, OP_SPLIT};

	for (size_t i = 0; i < sizeof those / sizeof *those; i++)
		if (op == those[i])
			return true;
	return false;
}

/* May a value that goes in, or comes out, lie channels last? */
static bool
is_image(const struct match_in *m, value_id v, bool comes_out)
{
	const struct value *value = graph_value(m->graph, v);

	if (value->type.rank != 4)
		return false;
	if (!comes_out)
		return value->producer != NODE_NONE
		    && is_of_images(graph_node(m->graph, value->producer)->op);
	for (uint32_t i = m->uses->start[v]; i < m->uses->start[v + 1]; i++)
		if (is_of_images(graph_node(m->graph, m->uses->user[i])->op))
			return true;
	return false;
}

static value_id
first_input(const struct match_in *m)
{
	const value_id x = match_value(m->match, "x");

	return x != VALUE_NONE ? x : matched_root(m)->input[0];
}

/* Do images that lie channels last make a node move what lies in order? */
static bool
moves_images(const struct match_in *m, const struct node *n)
{
	return (n->op == OP_SLICE || n->op == OP_TRANSPOSE || n->op == OP_PAD)
	    && (is_image(m, first_input(m), false)
	        || is_image(m, matched_root(m)->output[0], true));
}

/* What the host does in place is free, before and behind what moves, unless it joins
 * again what that cuts. */
static bool
need_work(const struct match_in *m, struct why *why, const struct node *n)
{
	const struct node *root = matched_root(m);
	const bool ends = n == root || n->input[0] == first_input(m);
	const bool free = root->op != OP_CONCAT && ends
	    && pieces_of_one(m->graph, n) && !moves_images(m, n);

	return NEED(why, !free, "work", "moves at both ends", "'%s' %s",
	    n->name, free ? "moves nothing" : "moves");
}

/* All that goes in has a place. */
static bool
need_places(const struct match_in *m, struct why *why)
{
	size_t total = 1;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (n->op == OP_CONCAT)
			total +=
			    type_elements(matched_type(m, n->output[0]), 0);
	}
	return NEED(
	    why, total < PLACES_MAX, "places", "fewer than 2^24", "%zu", total);
}

bool
accept_reorder(const struct match_in *m, struct why *why)
{
	bool ok = need_elements(m, why, matched_root(m)->output[0]);

	for (uint32_t i = 0; ok && i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);
		const uint32_t moved = n->op == OP_CONCAT ? n->ninputs : 1;

		ok = need_moves(m, why, n) && need_work(m, why, n);
		for (uint32_t k = 0; ok && k < moved; k++)
			ok = need_elements(m, why, n->input[k])
			    && NEED(why,
			        !graph_value(m->graph, n->input[k])->constant,
			        "operands", "variables", "'%s' is constant",
			        matched_name(m, n->input[k]));
	}
	return ok && need_places(m, why);
}

/* Images may lie channels last on either side, or on both. */
uint32_t
ways_reorder(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	return native_ways_of_sides(f, is_image(m, first_input(m), false),
	    is_image(m, matched_root(m)->output[0], true), out, max);
}

/* The same on both sides. */
uint32_t
ways_join(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const format_id nhwc = format_intern(
	    f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});

	if (max < 2)
		return 0;
	out[0] = (struct implementation){.name = "plain"};
	out[1] = (struct implementation){
	    .name = "nhwc", .number = 3, .input = nhwc, .output = nhwc};
	return is_image(m, first_input(m), false)
	        || is_image(m, matched_root(m)->output[0], true)
	    ? 2
	    : 1;
}

/* ---- a kernel ---- */

struct reorder_kernel {
	struct strides strides;
	strides_run *run;
	uint64_t around; /* what a Pad puts around, and zeros */
	uint32_t nin;
	const void **source; /* [1 + nin] that, and the inputs */
	void *out;
};

static void
run_part(void *of, uint32_t i)
{
	const struct reorder_kernel *k = of;
	const struct strides *s = &k->strides;

	k->run(s, k->source, k->out, s->part[i], s->part[i + 1]);
}

static void
run_reorder(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct reorder_kernel *k = kernel->state;

	for (uint32_t i = 0; i < k->nin; i++)
		k->source[1 + i] = in[i];
	k->out = out[0];
	team_run(k->strides.nparts, run_part, k);
}

static void
read_around(
    struct reorder_kernel *k, const struct graph *g, const struct candidate *c)
{
	const struct node *n = graph_node(g, c->match->root);
	const struct tensor *t = NULL;

	if (n->op == OP_PAD && n->ninputs > 2 && n->input[2] != VALUE_NONE)
		t = graph_value(g, n->input[2])->constant;
	for (uint32_t i = 0; t && i < k->strides.size; i++)
		((uint8_t *)&k->around)[i] = ((const uint8_t *)t->data)[i];
	k->source[0] = &k->around;
}

/* false: no loops, which is said, or no moves. */
static bool
find_strides(struct reorder_kernel *k, const struct formats *f,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err)
{
	const struct type *y = &graph_value(g, c->output[0].value)->type;
	const size_t n = type_elements(y, 0);
	struct arena scratch;
	uint32_t *order, *base;
	bool ok;

	arena_init(&scratch);
	order = arena_new(&scratch, uint32_t, n);
	base = arena_new(&scratch, uint32_t, k->nin + 2);
	base[1] = 1;
	for (uint32_t i = 0; i < k->nin; i++)
		base[i + 2] = base[i + 1]
		    + (uint32_t)type_elements(
		        &graph_value(g, c->input[i].value)->type, 0);
	k->strides.size = dtype_bits(y->dtype) / 8;
	ok = places_find(order, f, g, c, &scratch, err)
	    && (strides_find(&k->strides, order, n, base, k->nin + 1, a)
	        || err_set(
	            err, ERR_UNSUPPORTED, "native: these moves are no loops"));
	arena_release(&scratch);
	return ok;
}

bool
compile_reorder(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct reorder_kernel *k = arena_new(a, struct reorder_kernel, 1);

	k->run = native_version_of(t)->strides;
	k->nin = c->ninputs;
	k->source = arena_new(a, const void *, c->ninputs + 1);
	if (!find_strides(k, t->formats, g, c, a, err))
		return false;
	read_around(k, g, c);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_reorder, .state = k};
	return true;
}
