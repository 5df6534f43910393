/* Moves of bytes, one or several: which byte goes where is found by moving numbers
 * of places with the host's kernels, and then read as loops. */
#include "targets/host/host.h"
#include "targets/native/codes.h"
#include "targets/native/loops.h"
#include "targets/native/native.h"
#include "targets/need.h"

#define NEED why_need

/* Places are whole numbers in float32. */
#define PLACES_MAX ((size_t)1 << 24)
#define MOVE_DEPTH 12 /* of the deepest pattern, and more */
#define MOVE_INPUTS 6

/* ---- what is taken ---- */

static bool
is_code(const struct node *n)
{
	return n->op == OP_QUANTIZELINEAR || n->op == OP_DEQUANTIZELINEAR;
}

/* Nearest, and of elements that are there. */
static bool
need_moves(const struct match_in *m, struct why *why, const struct node *n)
{
	bool ok = n->ninputs <= MOVE_INPUTS && n->noutputs == 1;

	for (uint32_t i = 1; i < n->ninputs; i++)
		ok = ok
		    && (n->input[i] == VALUE_NONE
		        || graph_value(m->graph, n->input[i])->constant);
	if (n->op == OP_RESIZE)
		ok = ok && attr_is(n, "mode", "nearest", "nearest")
		    && !attr_is(n, "coordinate_transformation_mode",
		        "half_pixel", "tf_crop_and_resize");
	return NEED(why, ok, "move", "a move that constants tell", "'%s' %s",
	    n->name, ok ? "is one" : "is none");
}

static bool
need_few(const struct match_in *m, struct why *why, value_id v)
{
	const struct type *t = matched_type(m, v);

	return need_size(m, why, v)
	    && NEED(why,
	        dtype_is_byte(t->dtype) && type_elements(t, 0) >= 1
	            && type_elements(t, 0) <= PLACES_MAX,
	        "bytes", "1..2^24", "'%s' has others", matched_name(m, v));
}

/* Bytes come out as they went in: one code for all (de)quantisers. */
static bool
need_one_code(const struct match_in *m, struct why *why)
{
	struct byte_code first = {0}, c;
	bool ok = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (!is_code(n))
			continue;
		ok = ok && byte_code_of(&c, m->graph, n);
		if (ok && first.scale == 0)
			first = c;
		ok = ok && c.scale == first.scale && c.zero == first.zero
		    && c.is_unsigned == first.is_unsigned;
	}
	return NEED(why, ok, "codes", "8 bits with one constant scale and zero",
	    "%s", ok ? "that" : "others");
}

bool
accept_byte_move(const struct match_in *m, struct why *why)
{
	const value_id x = match_value(m->match, "x");
	bool ok = need_one_code(m, why);

	ok = ok && need_few(m, why, x)
	    && need_few(m, why, matched_root(m)->output[0]);
	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		ok = ok && (is_code(n) || need_moves(m, why, n));
	}
	return ok;
}

/* Images may lie channels last on either side. */
uint32_t
ways_byte_move(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	static const char *const name[] = {
	    "plain", "to_nhwc", "to_plain", "nhwc"};
	const format_id id[2] = {0,
	    format_intern(
	        f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED})};
	const bool from =
	    matched_type(m, match_value(m->match, "x"))->rank == 4;
	const bool to = matched_type(m, matched_root(m)->output[0])->rank == 4;
	uint32_t n = 0;

	for (uint32_t i = 0; i < 4 && n < max; i++)
		if ((from || i < 2) && (to || i % 2 == 0))
			out[n++] = (struct implementation){.name = name[i],
			    .number = i,
			    .input = id[i / 2],
			    .output = id[i % 2]};
	return n;
}

/* ---- where bytes come from ---- */

struct place_finder {
	const struct graph *graph;
	value_id from;
	struct tensor places; /* of what goes in */
	struct arena *arena;
	struct err *err;
};

/* The places that a value's elements come from; NULL: it is none of the moves'. */
static const struct tensor *
places_of(struct place_finder *f, value_id v, uint32_t depth)
{
	const struct tensor *in[MOVE_INPUTS] = {NULL};
	const struct node *n;
	struct tensor *out;

	if (v == f->from)
		return &f->places;
	if (depth == 0)
		return NULL;
	n = graph_node(f->graph, graph_value(f->graph, v)->producer);
	in[0] = places_of(f, n->input[0], depth - 1);
	if (!in[0] || is_code(n))
		return in[0];
	for (uint32_t i = 1; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE)
			in[i] = graph_value(f->graph, n->input[i])->constant;
	out = arena_new(f->arena, struct tensor, 1);
	return host_eval(f->graph, n, in, out, f->arena, f->err) ? out : NULL;
}

/* Where element i of an image lies, channels last. */
static size_t
last_place(const struct type *t, size_t i)
{
	const size_t channels = (size_t)t->dim[1];
	const size_t points = (size_t)(t->dim[2] * t->dim[3]);
	const size_t image = i / (channels * points);

	return (image * points + i % points) * channels + i / points % channels;
}

static size_t
place_of(const struct type *t, bool last, size_t i)
{
	return last ? last_place(t, i) : i;
}

bool
layout_loops(
    struct move_loops *l, const struct type *t, uint32_t way, struct arena *a)
{
	const size_t n = type_elements(t, 0);
	struct arena scratch;
	uint32_t *order;

	if (way == 0 || way == 3)
		return false;
	arena_init(&scratch);
	order = arena_new(&scratch, uint32_t, n);
	for (size_t i = 0; i < n; i++)
		order[place_of(t, way % 2, i)] =
		    (uint32_t)place_of(t, way / 2, i);
	move_loops_find(l, order, n, a);
	arena_release(&scratch);
	return true;
}

struct move_kernel {
	struct move_loops loops;
};

static void
run_move(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct move_kernel *k = kernel->state;

	move_bytes(out[0], in[0], &k->loops);
}

/* order[i]: where byte i of the result lies in what goes in. */
static bool
find_order(uint32_t *order, struct place_finder *f, value_id to, uint32_t way)
{
	const struct type *x = &graph_value(f->graph, f->from)->type;
	const struct type *y = &graph_value(f->graph, to)->type;
	const size_t n = type_elements(x, 0), count = type_elements(y, 0);
	float *place = arena_new(f->arena, float, n);
	const struct tensor *got;
	const float *from;

	for (size_t i = 0; i < n; i++)
		place[i] = (float)place_of(x, way / 2, i);
	f->places = tensor_view(DT_FLOAT, x->rank, x->dim, place);
	got = places_of(f, to, MOVE_DEPTH);
	if (!got || got->count != count)
		return f->err->kind == ERR_NONE
		    && err_set(f->err, ERR_UNSUPPORTED,
		        "native: this does not only move");
	from = tensor_data(got, f->arena);
	for (size_t i = 0; i < count; i++)
		order[place_of(y, way % 2, i)] = (uint32_t)from[i];
	return true;
}

bool
compile_byte_move(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct move_kernel *k = arena_new(a, struct move_kernel, 1);
	const value_id to = c->output[0].value;
	const size_t count = type_elements(&graph_value(g, to)->type, 0);
	struct arena scratch;
	struct place_finder f = {
	    g, c->input[0].value, .arena = &scratch, .err = err};
	uint32_t *order;
	bool ok;

	arena_init(&scratch);
	order = arena_new(&scratch, uint32_t, count);
	ok = find_order(order, &f, to, c->implementation);
	if (ok)
		move_loops_find(&k->loops, order, count, a);
	arena_release(&scratch);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_move, .state = k};
	return ok;
}
