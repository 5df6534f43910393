/* An LSTM of bytes: which are taken, their weights packed, on how many threads. */
#include <string.h>

#include "ir/base/size.h"
#include "targets/native/native.h"
#include "targets/native/recurrent_ports.h"
#include "targets/recurrent.h"
#include "targets/team.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* Inputs besides the others' (recurrent_ports.h). */
enum { INPUT_SCALES = 8, STATE_SCALES = 10, NINPUTS = 12 };

/* A scale and a zero for each direction, or for each of its columns. */
static bool
need_scales(const struct match_in *m, struct why *why, const struct node *n,
    uint32_t weights, uint32_t scales)
{
	const struct type *w = matched_type(m, n->input[weights]);
	const int64_t dirs = w->dim[0], columns = w->dim[2];
	const struct tensor *t[2] = {NULL, NULL};
	bool ok = w->dtype == DT_INT8 || w->dtype == DT_UINT8;

	for (uint32_t i = 0; i < 2; i++)
		if (node_input(n, scales + i) != VALUE_NONE)
			t[i] = graph_value(m->graph, n->input[scales + i])
			           ->constant;
	ok = ok && t[0] && t[1] && t[0]->count == t[1]->count
	    && (t[0]->count == (size_t)dirs
	        || t[0]->count == (size_t)(dirs * columns));
	return NEED(why, ok, "weights",
	    "8 bits, constant scales and zeros of directions or columns",
	    "others");
}

bool
accept_byte_sequence(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool ok =
	    need_tensor(m, why, n->input[X]) && need_size(m, why, n->input[X]);

	for (uint32_t i = FIRST_H; i <= FIRST_C; i++)
		if (node_input(n, i) != VALUE_NONE)
			ok = need_tensor(m, why, n->input[i]) && ok;
	ok = ok && need_scales(m, why, n, INPUT_WEIGHTS, INPUT_SCALES);
	ok = ok && need_scales(m, why, n, STATE_WEIGHTS, STATE_SCALES);
	return ok && need_plain_recurrent(m, why, n);
}

struct byte_sequence {
	const struct native_version *version;
	struct byte_layer layer;
	struct recurrent_ports ports;
	struct byte_room room; /* of x */
	struct byte_layer_data data;
	size_t bytes; /* of a direction's scratch */
	uint8_t *scratch;
};

static void
run_direction(void *of, uint32_t direction)
{
	const struct byte_sequence *k = of;

	k->version->byte_layer(
	    &k->layer, &k->data, direction, k->scratch + direction * k->bytes);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct byte_sequence *k = kernel->state;
	const struct byte_layer *l = &k->layer;
	const struct recurrent_places at =
	    recurrent_places_of(&k->ports, in, out);

	k->data = (struct byte_layer_data){
	    k->version->byte_rows(&k->room, at.x, l->steps * l->batch, l->in),
	    at.start[0], at.start[1], at.out[Y], at.out[LAST_H],
	    at.out[LAST_C]};
	team_run((uint32_t)l->directions, run_direction, k);
}

/* ---- packed ---- */

/* ONNX's column of ours; false: padding. */
static bool
column_of(const struct byte_layer *l, size_t width, size_t column, size_t *to)
{
	const size_t gate = column / width % BYTE_GATES;
	const size_t unit =
	    column / (width * BYTE_GATES) * width + column % width;

	*to = gate * l->hidden + unit;
	return unit < l->hidden;
}

/* A side of one direction while it is packed. */
struct side_pack {
	const struct tensor *from, *scales, *zeros; /* as ONNX has them */
	size_t direction, rows, columns; /* of ONNX's */
	size_t depth, width; /* ours, of a vector */
	int8_t *codes;
	float *scale;
	int32_t *sum, *zero;
};

/* A code less what makes signed ones of unsigned. */
static int32_t
code_at(const struct tensor *t, size_t i)
{
	return (int32_t)tensor_int(t, i) - (t->dtype == DT_UINT8 ? 128 : 0);
}

/* Column `at` of ours, which is `column` of ONNX's. */
static void
pack_column(struct side_pack *p, size_t at, size_t column)
{
	const size_t first = p->direction * p->rows * p->columns + column;
	const size_t s = p->scales->count % p->columns != 0
	    ? p->direction
	    : p->direction * p->columns + column;
	const size_t together = p->width * BYTE_GATES;
	int8_t *to = p->codes + at / together * together * p->depth
	    + at % together * BYTE_QUAD;

	p->scale[at] = (float)tensor_real(p->scales, s);
	p->zero[at] = code_at(p->zeros, s);
	p->sum[at] = -p->zero[at] * (int32_t)p->rows;
	for (size_t i = 0; i < p->rows; i++) {
		const int32_t code = code_at(p->from, first + i * p->columns);

		to[i / BYTE_QUAD * together * BYTE_QUAD + i % BYTE_QUAD] =
		    (int8_t)code;
		p->sum[at] += code;
	}
}

static const struct tensor *
constant_of(const struct graph *g, const struct node *n, uint32_t i)
{
	return graph_value(g, n->input[i])->constant;
}

/* Both sides' weights are laid out alike, direction by direction. */
static void
pack_side(struct byte_side *s, const struct byte_layer *l, struct side_pack *p,
    struct arena *a)
{
	const size_t columns = l->units * BYTE_GATES;
	const size_t all = l->directions * columns;
	size_t from;

	p->columns = l->hidden * BYTE_GATES;
	p->depth = size_round_up(p->rows, BYTE_QUAD);
	p->codes = arena_new(a, int8_t, all * p->depth);
	p->scale = arena_new(a, float, all);
	p->sum = arena_new(a, int32_t, all);
	p->zero = arena_new(a, int32_t, all);
	*s = (struct byte_side){
	    p->depth, p->codes, p->scale, p->sum, p->zero, false};
	for (; p->direction < l->directions; p->direction++) {
		for (size_t i = 0; i < columns; i++)
			if (column_of(l, p->width, i, &from))
				pack_column(p, i, from);
		p->codes += columns * p->depth;
		p->scale += columns;
		p->sum += columns;
		p->zero += columns;
	}
	for (size_t i = 0; i < all; i++)
		s->zeros = s->zeros || s->zero[i] != 0;
}

/* Both products' add up. */
static void
pack_bias(struct byte_layer *l, const struct graph *g, const struct node *n,
    size_t width, struct arena *a)
{
	const size_t columns = l->units * BYTE_GATES;
	const size_t rows = l->hidden * BYTE_GATES;
	float *bias = arena_new(a, float, l->directions *columns);
	const value_id v = node_input(n, BIAS);
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : graph_value(g, v)->constant;
	size_t from;

	l->bias = bias;
	for (size_t i = 0; t && i < l->directions * columns; i++)
		if (column_of(l, width, i % columns, &from)) {
			from += i / columns * 2 * rows;
			bias[i] = (float)(tensor_real(t, from)
			    + tensor_real(t, from + rows));
		}
}

/* ---- compiled ---- */

static void
read_sizes(struct byte_layer *l, const struct graph *g, const struct node *n,
    size_t width)
{
	const struct type *x = &node_in(g, n, X)->type;
	const struct type *w = &node_in(g, n, STATE_WEIGHTS)->type;

	*l = (struct byte_layer){
	    .steps = (size_t)x->dim[0],
	    .batch = (size_t)x->dim[1],
	    .in = (size_t)x->dim[2],
	    .directions = (size_t)w->dim[0],
	    .hidden = (size_t)w->dim[1],
	    .units = size_round_up((size_t)w->dim[1], width),
	    .backward = attr_is(n, "direction", "forward", "reverse"),
	};
}

static void
pack(struct byte_layer *l, const struct graph *g, const struct node *n,
    size_t width, struct arena *a)
{
	struct side_pack input = {
	    .from = constant_of(g, n, INPUT_WEIGHTS),
	    .scales = constant_of(g, n, INPUT_SCALES),
	    .zeros = constant_of(g, n, INPUT_SCALES + 1),
	    .rows = l->in,
	    .width = width,
	};
	struct side_pack state = {
	    .from = constant_of(g, n, STATE_WEIGHTS),
	    .scales = constant_of(g, n, STATE_SCALES),
	    .zeros = constant_of(g, n, STATE_SCALES + 1),
	    .rows = l->hidden,
	    .width = width,
	};

	pack_side(&l->input, l, &input, a);
	pack_side(&l->state, l, &state, a);
	pack_bias(l, g, n, width, a);
}

/* Where x is in bytes, and the scratch of the directions. */
static void
make_room(struct byte_sequence *k, struct arena *a)
{
	const struct byte_layer *l = &k->layer;
	const size_t rows = l->steps * l->batch;

	k->room = (struct byte_room){l->in, l->input.depth,
	    arena_new(a, uint8_t, rows * l->input.depth),
	    arena_new(a, int32_t, rows), arena_new(a, float, rows)};
	k->bytes = size_round_up(k->version->byte_layer_room(l), 64);
	k->scratch = arena_new(a, uint8_t, l->directions * k->bytes);
}

bool
compile_byte_sequence(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct byte_sequence *k = arena_new(a, struct byte_sequence, 1);
	const struct node *n = graph_node(g, c->match->root);

	(void)err;
	k->version = native_version_of(t);
	read_sizes(&k->layer, g, n, k->version->width);
	pack(&k->layer, g, n, k->version->width, a);
	k->ports = recurrent_ports_of(g, n, c, a);
	make_room(k, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
