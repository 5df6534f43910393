/* The host on nodes nobody would write: any operator, opset, dtypes, shapes,
 * attributes and values. It may refuse; it may not crash, hang or hand out
 * a tensor that does not hold together. Run under the sanitizers this is the
 * test that every kernel checks what it is given.
 *
 * usage: prop_host_hostile [CASES [SEED]] */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/host/access.h"
#include "targets/host/host.h"
#include "tests/support/support.h"

#define MOST_INPUTS 7u
#define MOST_ATTRS 6u

struct scene {
	struct rng rng;
	struct arena arena;
	struct graph *g;
	struct node node;
	value_id input[MOST_INPUTS], output[4];
	struct attr attr[MOST_ATTRS];
	const struct tensor *in[MOST_INPUTS];
	struct tensor out[4];
};

/* Mostly small, sometimes at an edge of int64. */
static int64_t
some_int(struct rng *r)
{
	static const int64_t edge[] = {INT64_MIN, INT64_MAX, INT32_MIN,
	    INT32_MAX, INT64_C(1) << 40, -100, 100, 65536};

	if (rng_below(r, 24) == 0)
		return edge[rng_below(r, sizeof edge / sizeof *edge)];
	return (int64_t)rng_below(r, 8) - 2;
}

static float
some_float(struct rng *r)
{
	static const float edge[] = {
	    NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, 0.5f};

	if (rng_below(r, 16) == 0)
		return edge[rng_below(r, sizeof edge / sizeof *edge)];
	return (float)rng_below(r, 64) / 8 - 3;
}

static const char *const int_names[] = {"axis", "keepdims", "group", "k",
    "largest", "sorted", "mode", "to", "dtype", "ceil_mode", "storage_order",
    "count_include_pad", "transA", "transB", "batch_dims", "blocksize", "p",
    "size", "block_size", "num_groups", "exclusive", "reverse", "upper",
    "stash_type", "q_num_heads", "kv_num_heads", "num_heads", "is_causal",
    "hidden_size", "layout", "linear_before_reset", "ignore_index",
    "num_outputs", "select_last_index", "allowzero", "training_mode",
    "saturate", "start", "end", "new_axis", "antialias", "batch_axis",
    "time_axis", "noop_with_empty_axes", "fmod", "periodic", "output_datatype",
    "rotary_embedding_dim", "interleaved", "center_point_box", "onesided",
    "inverse", "align_corners", "sampling_ratio", "output_height",
    "output_width", "offset_group"};
static const char *const list_names[] = {"axes", "kernel_shape", "strides",
    "pads", "dilations", "perm", "starts", "ends", "split", "shape",
    "output_padding", "output_shape"};
static const char *const word_names[] = {"mode", "auto_pad", "direction",
    "reduction", "coordinate_transformation_mode", "nearest_mode",
    "approximate", "update_rule", "activation", "padding_mode", "equation",
    "keep_aspect_ratio_policy"};
static const char *const words[] = {"constant", "edge", "reflect", "wrap",
    "SAME_UPPER", "SAME_LOWER", "VALID", "reverse", "bidirectional", "none",
    "add", "max", "mean", "sum", "linear", "cubic", "nearest", "align_corners",
    "tf_crop_and_resize", "asymmetric", "floor", "LEFT", "RIGHT", "tanh", "DCR",
    "CRD", "circular", "ij,jk->ik", "ii->i", "...a,a...->...", "border",
    "not_larger", "border", "reflection"};
#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof *(a)))

static void
add_attr(struct scene *s)
{
	struct attr *a = &s->attr[s->node.nattrs++];
	struct rng *r = &s->rng;
	int64_t *ints;
	float *f;
	struct string_view *word;

	switch (rng_below(r, 5)) {
	case 0:
	case 1:
		a->name = int_names[rng_below(r, COUNT(int_names))];
		a->kind = ATTR_INT;
		a->n = 1;
		break;
	case 2:
		a->name = list_names[rng_below(r, COUNT(list_names))];
		a->kind = ATTR_INTS;
		a->n = rng_below(r, 7);
		break;
	case 3:
		a->name = word_names[rng_below(r, COUNT(word_names))];
		a->kind = ATTR_STRING;
		a->n = 1;
		word = arena_new(&s->arena, struct string_view, 1);
		word->s = words[rng_below(r, COUNT(words))];
		word->n = strlen(word->s);
		a->strings = word;
		return;
	default:
		a->name = rng_below(r, 2) ? "alpha" : "epsilon";
		a->kind = ATTR_FLOAT;
		a->n = 1;
		f = arena_new(&s->arena, float, 1);
		*f = some_float(r);
		a->floats = f;
		return;
	}
	ints = arena_new(&s->arena, int64_t, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		ints[i] = some_int(r);
	a->ints = ints;
}

static void
fill_content(struct scene *s, struct tensor *t)
{
	unsigned char *p = arena_alloc(&s->arena, t->bytes + 1);
	struct sink to = {p + 1, t->dtype};

	t->data = p + 1; /* nowhere near aligned */
	for (size_t i = 0; i < t->count; i++) {
		double x = (double)some_float(&s->rng);
		int64_t n = some_int(&s->rng);

		if (lane_of(t->dtype) == LANE_REAL)
			store_real(&to, i, 1, 1, &x);
		else
			store_int(&to, i, 1, 1, &n);
	}
}

/* Dtype of input i: mostly those that let kernels run. */
static enum dtype
some_dtype(struct scene *s, uint32_t i)
{
	static const enum dtype any[] = {DT_FLOAT, DT_DOUBLE, DT_FLOAT16,
	    DT_INT8, DT_UINT8, DT_INT32, DT_INT64, DT_UINT64, DT_BOOL, DT_INT4,
	    DT_FLOAT8E4M3FN, DT_BFLOAT16};

	if (rng_below(&s->rng, 5) == 0)
		return any[rng_below(&s->rng, COUNT(any))];
	if (i > 0 && rng_below(&s->rng, 2))
		return rng_below(&s->rng, 2) ? DT_INT64
		    : s->in[0]               ? s->in[0]->dtype
		                             : DT_FLOAT;
	return rng_below(&s->rng, 3) ? DT_FLOAT : DT_INT64;
}

static void
add_input(struct scene *s)
{
	static const struct type unknown = {.kind = TYPE_UNKNOWN};
	uint32_t i = s->node.ninputs++, rank = rng_below(&s->rng, 6);
	int64_t *dim = arena_new(&s->arena, int64_t, rank);
	struct tensor *t = arena_new(&s->arena, struct tensor, 1);
	unsigned char element[16] = {0};

	s->input[i] = VALUE_NONE;
	s->in[i] = NULL;
	if (rng_below(&s->rng, 12) == 0)
		return;
	for (uint32_t d = 0; d < rank; d++)
		dim[d] = rng_below(&s->rng, 5);
	*t = tensor_view(some_dtype(s, i), rank, dim, NULL);
	if (rng_below(&s->rng, 8) == 0 && dtype_bits(t->dtype) >= 8)
		*t = tensor_fill(t->dtype, rank, dim, element);
	else
		fill_content(s, t);
	s->in[i] = t;
	s->input[i] = graph_add_value(s->g, "x", &unknown);
}

static void
set_scene(struct scene *s, uint64_t seed)
{
	static const struct type unknown = {.kind = TYPE_UNKNOWN};
	uint32_t want;
	const struct op_info *o;

	memset(s, 0, sizeof *s);
	s->rng = rng_seeded(seed);
	arena_init(&s->arena);
	s->g = graph_new(&s->arena, "hostile");
	s->node.op = (enum op)(1 + rng_below(&s->rng, NOP - 1));
	o = op_get(s->node.op);
	s->node.op_type = o->type;
	s->node.domain = s->node.name = "";
	s->node.opset = 1 + rng_below(&s->rng, 28);
	s->node.input = s->input;
	s->node.output = s->output;
	s->node.attr = s->attr;
	want = o->min_inputs + rng_below(&s->rng, 4);
	want = want > o->max_inputs ? o->max_inputs : want;
	while (s->node.ninputs < want && s->node.ninputs < MOST_INPUTS)
		add_input(s);
	s->node.noutputs = 1 + rng_below(&s->rng, 3);
	if (s->node.noutputs > o->max_outputs)
		s->node.noutputs = o->max_outputs;
	if (s->node.noutputs < o->min_outputs)
		s->node.noutputs = o->min_outputs;
	for (uint32_t i = 0; i < s->node.noutputs; i++)
		s->output[i] = graph_add_value(s->g, "y", &unknown);
	want = rng_below(&s->rng, MOST_ATTRS);
	while (s->node.nattrs < want)
		add_attr(s);
}

/* Does an output say the truth about itself? */
static bool
holds_together(const struct tensor *t)
{
	size_t n, bytes;

	if (t->kind > TENSOR_FILL)
		return true;
	if (!tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
		return false;
	if (n != t->count || bytes != t->bytes)
		return false;
	for (size_t i = 0; i < n && i < 1000; i++) /* must be readable */
		(void)load_one(t, i);
	return true;
}

static bool
play(uint64_t seed, uint32_t *evaluated)
{
	struct scene s;
	struct err err = {.kind = ERR_NONE};
	bool good = true;

	set_scene(&s, seed);
	s.arena.limit = (size_t)64 << 20;
	if (host_eval(s.g, &s.node, s.in, s.out, &s.arena, &err)) {
		++*evaluated;
		for (uint32_t i = 0; i < s.node.noutputs; i++)
			good = good && holds_together(&s.out[i]);
	} else if (err.kind == ERR_NONE || err.text[0] == '\0') {
		good = false;
	}
	if (!good)
		printf("seed %llu: %s: %s\n", (unsigned long long)seed,
		    s.node.op_type,
		    err.text[0] ? err.text : "a bad output or no reason");
	arena_release(&s.arena);
	return good;
}

int
main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint32_t evaluated = 0, bad = 0;
	bool loud = argc > 2;

	for (uint64_t seed = first; seed < first + cases; seed++) {
		if (loud) {
			printf("seed %llu\n", (unsigned long long)seed);
			fflush(stdout);
		}
		bad += !play(seed, &evaluated);
	}
	printf("%llu cases, %u evaluated, %u failed\n",
	    (unsigned long long)cases, evaluated, bad);
	return bad ? 1 : 0;
}
