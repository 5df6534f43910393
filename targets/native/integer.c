/* Convolutions and products of bytes with constant weights: QLinearConv, QLinearMatMul
 * and what exporters write between quantisers, and products of bytes that are
 * quantised in each run. */
#include <assert.h>

#include "ir/base/common_scratch.h"
#include "targets/byte_product.h"
#include "targets/dynamic.h"
#include "targets/lanes.h"
#include "targets/native/conv_bytes.h"
#include "targets/native/integer_quads.h"
#include "targets/native/integer_tiles.h"
#include "targets/native/native.h"
#include "targets/native/pixels.h"
#include "targets/need.h"
#include "targets/threads.h"

#define NEED why_need

/* ---- what is taken ---- */

bool
accept_conv_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const int64_t group = attr_int_or(n, "group", 1);

	return accept_integer(m, why)
	    && NEED(why, group == 1, "group", "1", "%d", (int)group);
}

uint32_t
ways_conv_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const format_id id = format_intern(
	    f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});

	(void)m;
	(void)max;
	out[0] =
	    (struct implementation){.name = "nhwc", .input = id, .output = id};
	return 1;
}

/* The numbers of ways. */
enum { AS_PAIRS, IN_TILES, IN_QUADS };

/* Weights that are made up are not small. */
static uint32_t
add_quads(const struct codes_at *w, const struct tensor *zero, size_t outputs,
    size_t depth, const char *name, struct implementation *out, uint32_t n,
    uint32_t max)
{
	if (n == max || !quads_fit(w, zero, outputs, depth))
		return n;
	out[n] = out[0];
	out[n].name = name;
	out[n].number = IN_QUADS;
	out[n].own_weights = true;
	return n + 1;
}

static struct codes_at
codes_of_conv(const struct tensor *w)
{
	const size_t depth = w->dim[0] ? w->count / (size_t)w->dim[0] : 0;
	size_t taps = 1;

	for (uint32_t i = 2; i < w->rank; i++)
		taps *= (size_t)w->dim[i];
	return (struct codes_at){
	    .codes = w, .output = depth, .step = 1, .taps = taps};
}

static struct codes_at
codes_of_matrix(const struct tensor *w, bool by_output)
{
	return (struct codes_at){.codes = w,
	    .output = by_output ? (size_t)w->dim[1] : 1,
	    .step = by_output ? 1 : (size_t)w->dim[1],
	    .taps = 1};
}

/* By definition, in tiles where they fit, or in quads. */
uint32_t
ways_integer_conv(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct node *node = match_as_node(m->match, m->graph);
	const struct graph *in = match_graph(m->match, m->graph);
	const struct integer_places *at = integer_places(node);
	const struct tensor *w = integer_constant(in, node, at->w);
	const struct codes_at codes = codes_of_conv(w);
	uint32_t n = ways_conv_bytes(m, f, out, max);

	if (n < max && tiles_fit(m)) {
		out[n] = out[0];
		out[n].name = "winograd2/nhwc";
		out[n++].number = IN_TILES;
	}
	return add_quads(&codes, integer_constant(in, node, at->w_zero),
	    (size_t)w->dim[0], codes.output, "quads/nhwc", out, n, max);
}

uint32_t
ways_product_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const uint32_t n = ways_one(m, f, out, max);
	struct byte_product p;
	const struct tensor *w;
	struct codes_at codes;

	if (!byte_product_read(&p, m->match, m->graph))
		return n;
	w = integer_constant(m->graph, &p.node, 3);
	codes = codes_of_matrix(w, p.by_output);
	return add_quads(&codes, integer_constant(m->graph, &p.node, 5),
	    (size_t)w->dim[p.by_output ? 0 : 1],
	    (size_t)w->dim[p.by_output ? 1 : 0], "quads", out, n, max);
}

uint32_t
ways_dynamic_rows(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);
	const struct tensor *w = integer_constant(m->graph, d.product, 1);
	const struct codes_at codes = codes_of_matrix(w, false);

	return add_quads(&codes, integer_constant(m->graph, d.product, 3),
	    (size_t)w->dim[1], (size_t)w->dim[0], "quads", out,
	    ways_one(m, f, out, max), max);
}

bool
accept_dynamic_rows(const struct match_in *m, struct why *why)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);

	return need_dynamic(m, why, &d);
}

/* ---- a kernel ---- */

struct integer_kernel {
	struct integer_form f;
	integer_run *run;
	struct integer_data data;
	uint32_t threads;
	int32_t in; /* port */
	size_t bytes; /* of what comes in there */
	struct zero_of_run zero;
	int32_t by; /* the port of what comes in's scale; -1: none */
	int32_t *scratch; /* [threads][f.scratch] */
};

static void
run_unit(void *of, uint32_t lane, size_t unit, bool copied)
{
	const struct integer_kernel *k = of;

	k->run(&k->f, unit, copied, &k->data, k->scratch + lane * k->f.scratch);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct integer_kernel *k = kernel->state;

	k->data = (struct integer_data){
	    .in = in[k->in], .out = out[0], .zero = dynamic_zero(&k->zero, in)};
	k->data.end = k->data.in + k->bytes;
	if (k->by >= 0)
		k->data.scale = *(const float *)in[k->by];
	lanes_groups(integer_units(&k->f), k->f.parts, k->threads, run_unit, k);
}

/* Blocks of rows for every thread, or, where weights are more to read than rows are and
 * there is something for each, parts of the filters. */
static void
divide(struct integer_form *f, uint32_t threads, size_t pairs)
{
	size_t n = integer_blocks(
	    f, f->padded * (f->quads ? 1 : sizeof(int16_t) * f->points));

	f->parts = 1;
	if (threads > 1 && f->filters > f->rows && pairs >= threads)
		f->parts = lanes_cut(pairs, threads);
	else if (threads > 1)
		n = rounded(n, threads);
	f->block = (f->rows + n - 1) / n;
}

/* Weights less their zeros, of the outputs whose vectors lie side by side. */
static void
pack_panel(const struct integer_form *f, const struct codes_at *w,
    const uint8_t *codes, size_t first, size_t pair, int16_t *to)
{
	const size_t n = f->outputs - first < pair ? f->outputs - first : pair;
	const size_t channels = f->depth / w->taps;
	const bool is_unsigned = w->codes->dtype == DT_UINT8;
	size_t i = 0;

	for (size_t tap = 0; tap < w->taps; tap++)
		for (size_t c = 0; c < channels; c++, i++) {
			const uint8_t *at = codes + first * w->output
			    + (c * w->taps + tap) * w->step;
			int16_t *row = to + i / 2 * 2 * pair + i % 2;

			for (size_t k = 0; k < n; k++, at += w->output)
				row[2 * k] =
				    (int16_t)((is_unsigned
				                      ? (int32_t)*at
				                      : (int32_t)(int8_t)*at)
				        - w->zero[first + k]);
		}
}

static const int16_t *
packed(const struct integer_form *f, const struct codes_at *w, size_t pair,
    struct arena *a)
{
	const size_t each = f->padded * f->points;
	int16_t *to = arena_new(a, int16_t, f->filters * each);
	struct arena scratch;
	const uint8_t *codes;

	arena_init(&scratch);
	codes = tensor_data(w->codes, &scratch);
	for (size_t k = 0; k < f->outputs; k += pair)
		if (f->points > 1)
			tiles_pack(f, w, codes, k, pair, to + k * each);
		else
			pack_panel(f, w, codes, k, pair, to + k * each);
	arena_release(&scratch);
	return to;
}

static int32_t *
padded_whole(const int32_t *from, const struct integer_form *f, struct arena *a)
{
	int32_t *to = arena_new(a, int32_t, f->filters);

	for (size_t i = 0; from && i < f->outputs; i++)
		to[i] = from[i];
	return to;
}

static int32_t *
zeros_of(const struct tensor *t, const struct integer_form *f, struct arena *a)
{
	int32_t *to = arena_new(a, int32_t, f->outputs);

	for (size_t i = 0; i < f->outputs; i++)
		to[i] = (int32_t)integer_entry(t, i);
	return to;
}

static integer_run *
run_of(const struct native_version *v, const struct integer_form *f)
{
	if (f->quads)
		return v->quads;
	return f->points > 1 ? v->tiles : v->integer;
}

static size_t
room_of(const struct native_version *v, const struct integer_form *f)
{
	if (f->quads)
		return v->quads_room(f);
	return f->points > 1 ? v->tiles_room(f) : v->integer_room(f);
}

/* Constants as kernels read them, and how the work is divided. */
static void
finish_kernel(struct integer_kernel *k, const struct codes_at *w,
    const struct target *t, const struct candidate *c, struct arena *a,
    struct kernel *out)
{
	const struct native_version *version = native_version_of(t);
	const size_t pair = (size_t)2 * version->width;
	struct integer_form *f = &k->f;

	f->filters = rounded(f->outputs, pair);
	f->multiplier = floats_padded(f->multiplier, f->outputs, f->filters, a);
	f->shift = floats_padded(f->shift, f->outputs, f->filters, a);
	f->bias = padded_whole(f->bias, f, a);
	if (c->implementation == IN_QUADS) {
		f->padded = rounded(f->depth, 2 * pair);
		f->quads = quads_pack(f, w, pair, a);
	} else {
		f->padded = rounded(f->depth, pair);
		f->weights = packed(f, w, pair, a);
	}
	k->run = run_of(version, f);
	k->threads = target_threads();
	divide(f, k->threads, f->filters / pair);
	f->scratch = rounded(room_of(version, f), 16);
	k->scratch =
	    common_scratch_or(k->threads * f->scratch * sizeof *k->scratch, a);
	assert(k->in >= 0);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
}

static void
set_input(struct integer_kernel *k, const struct graph *g, const struct node *n,
    const struct candidate *c)
{
	k->in = candidate_input(c, n->input[0]);
	k->bytes = type_elements(&node_in(g, n, 0)->type, 0);
}

/* Of an operator that requantises. */
static void
set_requantising(
    struct integer_kernel *k, const struct requantising *q, int32_t from_zero)
{
	struct integer_form *f = &k->f;

	k->zero = (struct zero_of_run){.port = -1, .constant = from_zero};
	k->by = -1;
	f->multiplier = q->multiplier;
	f->bias = q->bias;
	f->zero = q->zero;
	f->to_unsigned = q->is_unsigned;
}

/* ---- convolutions ---- */

bool
compile_conv_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct integer_kernel *k = arena_new(a, struct integer_kernel, 1);
	struct integer_form *f = &k->f;
	struct conv_bytes b;
	struct codes_at codes;

	if (!conv_bytes_read(&b, g, c, a, err))
		return false;
	f->window = integer_window_of(&b.window, b.in, b.out);
	f->rows = (size_t)b.out->dim[0] * f->window.rows * f->window.columns;
	f->outputs = (size_t)b.out->dim[1];
	f->depth = b.weights->count / f->outputs;
	f->points = 1;
	f->from_unsigned = b.in->dtype == DT_UINT8;
	set_requantising(k, &b.how, b.from_zero);
	set_input(k, b.graph, b.node, c);
	codes = codes_of_conv(b.weights);
	codes.zero = zeros_of(b.weights_zero, f, a);
	if (c->implementation == IN_TILES)
		tiles_set(f, (size_t)b.out->dim[0]);
	finish_kernel(k, &codes, t, c, a, out);
	return true;
}

/* ---- products ---- */

/* Rows of a matrix, and its weights: outputs by depth, or depth by outputs. */
static struct codes_at
set_matrix(struct integer_form *f, const struct type *in,
    const struct tensor *w, bool by_output)
{
	f->depth = (size_t)w->dim[by_output ? 1 : 0];
	f->outputs = (size_t)w->dim[by_output ? 0 : 1];
	f->rows = type_elements(in, 0) / f->depth;
	f->from_unsigned = in->dtype == DT_UINT8;
	f->points = 1;
	f->window.in_place = true;
	return codes_of_matrix(w, by_output);
}

bool
compile_product_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct integer_kernel *k = arena_new(a, struct integer_kernel, 1);
	struct requantising q = {.bias = NULL};
	struct byte_product p;
	const struct node *n = &p.node;
	struct codes_at codes;

	if (!byte_product_read(&p, c->match, g))
		return err_set(err, ERR_INTERNAL, "native: no product");
	codes = set_matrix(&k->f, &node_in(g, n, 0)->type,
	    integer_constant(g, n, 3), p.by_output);
	if (!requantising_of(&q, g, n, k->f.outputs, a))
		return err_set(
		    err, ERR_UNSUPPORTED, "native: a scale is out of range");
	set_requantising(k, &q,
	    (int32_t)integer_entry(
	        integer_constant(g, n, integer_places(n)->x_zero), 0));
	set_input(k, g, n, c);
	codes.zero = zeros_of(integer_constant(g, n, 5), &k->f, a);
	finish_kernel(k, &codes, t, c, a, out);
	return true;
}

bool
compile_dynamic_rows(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct dynamic_product d = dynamic_read(c->match, g);
	struct integer_kernel *k = arena_new(a, struct integer_kernel, 1);
	struct integer_form *f = &k->f;
	struct codes_at codes = set_matrix(f, &node_in(g, d.product, 0)->type,
	    integer_constant(g, d.product, 1), false);

	(void)err;
	f->to_floats = true;
	f->multiplier = integer_entries(d.scales, f->outputs, a);
	f->shift = integer_entries(d.bias, f->outputs, a);
	set_input(k, g, d.product, c);
	k->zero = dynamic_read_zero(&d, g, c);
	k->by = candidate_input(c, d.scale);
	codes.zero = zeros_of(integer_constant(g, d.product, 3), f, a);
	finish_kernel(k, &codes, t, c, a, out);
	return true;
}
