/* Operators between quantisers: dequantise, compute, quantise as one pass over
 * bytes. What is a function of one byte is a table of the host's answers. */
#include <math.h>
#include <string.h>

#include "targets/axes.h"
#include "targets/host/host.h"
#include "targets/native/codes.h"
#include "targets/native/native.h"
#include "targets/need.h"

#define NEED why_need

/* ---- what is taken ---- */

bool
byte_code_read(struct byte_code *c, const struct type *t,
    const struct value *scale, const struct value *zero)
{
	if (t->kind != TYPE_TENSOR || !dtype_is_byte(t->dtype)
	    || !type_is_static(t) || !scale || !scale->constant
	    || scale->constant->count != 1 || scale->constant->dtype != DT_FLOAT
	    || (zero && (!zero->constant || zero->constant->count != 1)))
		return false;
	*c = (struct byte_code){.scale = (float)tensor_real(scale->constant, 0),
	    .zero = zero ? (float)tensor_real(zero->constant, 0) : 0,
	    .is_unsigned = t->dtype == DT_UINT8};
	return c->scale > 0 && isfinite(c->scale);
}

bool
byte_code_of(struct byte_code *c, const struct graph *g, const struct node *n)
{
	const struct value *codes =
	    n->op == OP_QUANTIZELINEAR ? node_out(g, n, 0) : node_in(g, n, 0);

	return byte_code_read(
	    c, &codes->type, node_in(g, n, 1), node_in(g, n, 2));
}

struct byte_enclosed
byte_enclosed_of(const struct graph *g, const struct match *m)
{
	struct byte_enclosed b = {.quantiser = graph_node(g, m->root)};

	b.middle = graph_producer(g, b.quantiser->input[0]);
	b.rectified = b.middle->op == OP_RELU;
	if (b.rectified)
		b.middle = graph_producer(g, b.middle->input[0]);
	return b;
}

bool
need_byte_codes(const struct match_in *m, struct why *why)
{
	struct byte_code c;
	bool ok = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (n->op == OP_QUANTIZELINEAR || n->op == OP_DEQUANTIZELINEAR)
			ok = ok && byte_code_of(&c, m->graph, n);
	}
	return NEED(why, ok, "codes", "8 bits with one constant scale and zero",
	           "%s", ok ? "that" : "others")
	    && need_size(m, why, matched_root(m)->output[0]);
}

value_id
byte_input(const struct graph *g, const struct node *n, uint32_t i)
{
	return graph_producer(g, n->input[i])->input[0];
}

uint32_t
byte_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max, bool last)
{
	uint32_t n = 0;

	out[n++] = (struct implementation){.name = "plain"};
	if (last && n < max) {
		const format_id id = format_intern(
		    f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});

		out[n++] = (struct implementation){
		    .name = "nhwc", .number = 1, .input = id, .output = id};
	}
	(void)m;
	return n;
}

uint32_t
ways_byte_layouts(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const bool last =
	    matched_type(m, matched_root(m)->output[0])->rank == 4;

	return byte_ways(m, f, out, max, last);
}

/* ---- functions of one byte ---- */

/* Constants are one number each, and no more dimensions than there were. */
bool
accept_bytes(const struct match_in *m, struct why *why)
{
	bool ok = true;

	if (!need_byte_codes(m, why))
		return false;
	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);
		const struct type *y = matched_type(m, n->output[0]);

		for (uint32_t k = 0; k < n->ninputs; k++) {
			const struct value *x = node_in(m->graph, n, k);

			ok = ok
			    && (!x
			        || (x->constant ? x->constant->count == 1
			                        : same_shape(&x->type, y)));
		}
	}
	return NEED(why, ok, "function", "of one number, with numbers", "%s",
	    ok ? "that" : "with tensors");
}

/* One value of a composite over all 256 bytes that go in. */
struct table_maker {
	const struct graph *graph;
	value_id from;
	struct tensor all; /* 0..255 */
	struct arena *arena;
	struct err *err;
};

static const struct tensor *
table_value(struct table_maker *t, value_id v, uint32_t depth)
{
	const struct value *value = graph_value(t->graph, v);
	const struct tensor *in[4] = {NULL};
	const struct node *n;
	struct tensor *out;

	if (v == t->from)
		return &t->all;
	if (value->constant || depth == 0)
		return value->constant;
	n = graph_node(t->graph, value->producer);
	if (n->ninputs > 4 || n->noutputs != 1)
		return NULL;
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !(in[i] = table_value(t, n->input[i], depth - 1)))
			return NULL;
	out = arena_new(t->arena, struct tensor, 1);
	return host_eval(t->graph, n, in, out, t->arena, t->err) ? out : NULL;
}

#define TABLE_DEPTH 24 /* of the deepest pattern, and more */

static const int64_t table_dim[] = {256};

/* table[256] of what comes out at `to` where `from` goes in. */
static bool
table_of(uint8_t *table, const struct graph *g, value_id from, value_id to,
    struct err *err)
{
	uint8_t all[256];
	struct arena scratch;
	struct table_maker t = {g, from, .arena = &scratch, .err = err};
	const struct tensor *got;
	bool ok;

	for (size_t i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	arena_init(&scratch);
	t.all =
	    tensor_view(graph_value(g, from)->type.dtype, 1, table_dim, all);
	got = table_value(&t, to, TABLE_DEPTH);
	ok = got && got->count == 256;
	if (ok)
		memcpy(table, tensor_data(got, &scratch), 256);
	arena_release(&scratch);
	if (!ok && err->kind == ERR_NONE)
		err_set(err, ERR_UNSUPPORTED,
		    "native: this is no function of one byte");
	return ok;
}

struct byte_function {
	bytes_table_run *run;
	size_t count;
	uint8_t table[256];
};

static void
run_function(struct kernel *k, const void *const *in, void *const *out)
{
	const struct byte_function *f = k->state;

	f->run(out[0], in[0], f->count, f->table);
}

bool
compile_byte_function(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct byte_function *f = arena_new(a, struct byte_function, 1);

	f->run = native_version_of(t)->bytes_table;
	f->count = format_bytes(t->formats->format[c->output[0].format],
	    &graph_value(g, c->output[0].value)->type);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_function, .state = f};
	return table_of(f->table, g, c->input[0].value, c->output[0].value, err)
	    && err->kind == ERR_NONE;
}

/* ---- means of images ---- */

struct byte_mean {
	bytes_sum_run *sum;
	struct byte_code from, to;
	size_t batch, channels, positions;
	bool last;
	int32_t *sums; /* [channels], or [positions] of one channel */
};

/* TUNING: sums of bytes stay within 32 bits. */
#define POSITIONS_MAX ((int64_t)1 << 22)

bool
accept_byte_mean(const struct match_in *m, struct why *why)
{
	const struct byte_enclosed b = byte_enclosed_of(m->graph, m->match);
	const struct type *t = matched_type(m, b.middle->input[0]);
	bool ok = need_byte_codes(m, why);

	ok = NEED(why, axes_are_images(m->graph, b.middle), "axes",
	         "the last two of four", "others")
	    && ok;
	return ok
	    && NEED(why, t->dim[2] * t->dim[3] <= POSITIONS_MAX, "size",
	        "images of at most 2^22", "a larger one");
}

uint32_t
ways_byte_mean(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	return byte_ways(m, f, out, max, true);
}

static uint8_t
mean_byte(const struct byte_mean *k, int64_t sum)
{
	const double steps =
	    (double)sum / (double)k->positions - (double)k->from.zero;
	const float mean = (float)(steps * (double)k->from.scale);
	uint8_t byte;

	bytes_quantize(&byte, &mean, 1, &k->to);
	return byte;
}

static void
mean_last(const struct byte_mean *k, const uint8_t *from, uint8_t *to)
{
	memset(k->sums, 0, k->channels * sizeof *k->sums);
	k->sum(k->sums, from, k->positions, k->channels, k->from.is_unsigned);
	for (size_t c = 0; c < k->channels; c++)
		to[c] = mean_byte(k, k->sums[c]);
}

static void
mean_plain(const struct byte_mean *k, const uint8_t *from, uint8_t *to)
{
	for (size_t c = 0; c < k->channels; c++) {
		int64_t sum = 0;

		for (size_t i = 0; i < k->positions; i++, from++)
			sum += k->from.is_unsigned ? *from : (int8_t)*from;
		to[c] = mean_byte(k, sum);
	}
}

static void
run_mean(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct byte_mean *k = kernel->state;
	const uint8_t *from = in[0];
	uint8_t *to = out[0];

	for (size_t n = 0; n < k->batch; n++) {
		if (k->last)
			mean_last(k, from, to);
		else
			mean_plain(k, from, to);
		from += k->channels * k->positions;
		to += k->channels;
	}
}

bool
compile_byte_mean(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct byte_mean *k = arena_new(a, struct byte_mean, 1);
	const struct byte_enclosed b = byte_enclosed_of(g, c->match);
	const struct type *x =
	    &graph_value(g, byte_input(g, b.middle, 0))->type;

	if (!byte_code_of(&k->from, g, graph_producer(g, b.middle->input[0]))
	    || !byte_code_of(&k->to, g, b.quantiser))
		return err_set(err, ERR_INTERNAL, "native: codes are lost");
	k->sum = native_version_of(t)->bytes_sum;
	k->batch = (size_t)x->dim[0];
	k->channels = (size_t)x->dim[1];
	k->positions = (size_t)x->dim[2] * (size_t)x->dim[3];
	k->last = c->implementation == 1;
	k->sums = arena_new(a, int32_t, k->channels);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_mean, .state = k};
	return true;
}

/* ---- two tensors ---- */

/* Blocks of elements of the first that go with one byte or one row of the
 * second. */
struct pair_kernel {
	bytes_pair_run *run;
	struct byte_pair pair;
	int32_t a, b; /* ports */
	size_t outer, inner, block; /* outer x inner blocks */
	size_t step_outer, step_inner; /* of the second */
};

/* One value for each channel of an image. */
static bool
is_by_channel(const struct type *t, const struct type *whole)
{
	return whole->rank == 4 && t->rank == 4 && t->dim[0] == whole->dim[0]
	    && t->dim[1] == whole->dim[1] && t->dim[2] == 1 && t->dim[3] == 1;
}

/* Which operand has the result's shape, so that the other broadcasts to it; 2:
 * neither. */
static uint32_t
full_operand(const struct graph *g, const struct byte_enclosed *b)
{
	const struct type *y = &node_out(g, b->quantiser, 0)->type;

	for (uint32_t i = 0; i < 2; i++) {
		const struct type *s =
		    &graph_value(g, byte_input(g, b->middle, i))->type;
		const struct type *t =
		    &graph_value(g, byte_input(g, b->middle, 1 - i))->type;

		if (same_shape(s, y)
		    && (same_shape(t, y) || is_by_channel(t, y)))
			return i;
	}
	return 2;
}

bool
accept_byte_pair(const struct match_in *m, struct why *why)
{
	const struct byte_enclosed b = byte_enclosed_of(m->graph, m->match);
	struct byte_code x, y, z;
	uint32_t full;
	bool ok = need_byte_codes(m, why);

	if (!ok)
		return false;
	full = full_operand(m->graph, &b);
	ok = NEED(why, full == 0 || (full == 1 && b.middle->op != OP_SUB),
	    "shapes", "of the result, the second perhaps one a channel",
	    "others");
	return ok
	    && byte_code_of(
	        &x, m->graph, graph_producer(m->graph, b.middle->input[0]))
	    && byte_code_of(
	        &y, m->graph, graph_producer(m->graph, b.middle->input[1]))
	    && byte_code_of(&z, m->graph, b.quantiser)
	    && NEED(why,
	        x.is_unsigned == y.is_unsigned
	            && y.is_unsigned == z.is_unsigned,
	        "types", "all int8 or all uint8", "both");
}

static void
run_pair(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct pair_kernel *k = kernel->state;
	const uint8_t *a = in[k->a], *b = in[k->b];
	uint8_t *to = out[0];

	for (size_t o = 0; o < k->outer; o++, b += k->step_outer)
		for (size_t i = 0; i < k->inner; i++) {
			k->run(
			    to, a, b + i * k->step_inner, k->block, &k->pair);
			to += k->block;
			a += k->block;
		}
}

static void
pair_blocks(struct pair_kernel *k, const struct type *whole,
    const struct type *other, bool last)
{
	const size_t all = type_elements(whole, 0);

	k->outer = k->inner = 1;
	k->block = all;
	if (same_shape(whole, other))
		return;
	k->outer = (size_t)whole->dim[0];
	k->step_outer = (size_t)whole->dim[1];
	k->inner = last ? (size_t)(whole->dim[2] * whole->dim[3])
	                : (size_t)whole->dim[1];
	k->block = all ? all / k->outer / k->inner : 0;
	k->step_inner = last ? 0 : 1;
	k->pair.one = !last;
}

bool
compile_byte_pair(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct pair_kernel *k = arena_new(a, struct pair_kernel, 1);
	const struct byte_enclosed b = byte_enclosed_of(g, c->match);
	const uint32_t full = full_operand(g, &b);
	const value_id x = byte_input(g, b.middle, full);
	const value_id y = byte_input(g, b.middle, 1 - full);

	if (!byte_code_of(
	        &k->pair.a, g, graph_producer(g, b.middle->input[full]))
	    || !byte_code_of(
	        &k->pair.b, g, graph_producer(g, b.middle->input[1 - full]))
	    || !byte_code_of(&k->pair.y, g, b.quantiser))
		return err_set(err, ERR_INTERNAL, "native: codes are lost");
	k->run = native_version_of(t)->bytes_pair;
	k->pair.operation = b.middle->op == OP_ADD ? BYTES_ADD
	    : b.middle->op == OP_SUB               ? BYTES_SUB
	                                           : BYTES_MUL;
	k->a = candidate_input(c, x);
	k->b = candidate_input(c, y);
	pair_blocks(k, &graph_value(g, x)->type, &graph_value(g, y)->type,
	    c->implementation == 1);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_pair, .state = k};
	return true;
}
