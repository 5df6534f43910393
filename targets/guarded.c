#include "targets/guarded.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "targets/convert.h"
#include "targets/host/host.h"
#include "targets/host/walk.h"
#include "targets/team.h"

/* Products of three such, summed 2^31 times, stay below the largest float: nothing
 * overflows, so nothing is infinity less infinity. Its bits without the sign. */
#define LIMIT 0x1p32f
#define LIMIT_BITS 0x4f800000u

/* ---- looking ---- */

#define LANES 16u
#define SIZE 0x7fffffffu /* all but the sign */
#define OVER (0x80000000u - LIMIT_BITS) /* with it, bit 31: not below */
#define OVER_TINY (0x80000000u - 0x41800000u) /* 2 to MAGNITUDE_TINY_POWER */
#define OVER_FINITE (0x80000000u - 0x7f800000u)
#define OVER_INFINITY (0x80000000u - 0x7f800001u)

static uint16_t
half_at(const unsigned char *data, size_t i)
{
	uint16_t x;

	memcpy(&x, data + i * sizeof x, sizeof x);
	return x;
}

static uint32_t
word_at(const unsigned char *data, size_t i)
{
	uint32_t x;

	memcpy(&x, data + i * sizeof x, sizeof x);
	return x;
}

/* Any number that a half can be is below it; is every element one? */
static bool
all_finite_halves(const unsigned char *data, size_t n)
{
	bool finite = true;

	for (size_t i = 0; i < n; i++)
		finite &= (half_at(data, i) & 0x7fff) < 0x7c00;
	return finite;
}

static inline uint32_t
is_large(uint32_t x)
{
	return (x & SIZE) + OVER;
}

static inline uint32_t
is_not_tiny(uint32_t x)
{
	return (x & SIZE) + OVER_TINY;
}

/* NaN or infinity, but for minus infinity. */
static inline uint32_t
is_no_mask(uint32_t x)
{
	return ((x & SIZE) + OVER_INFINITY) | ((x + OVER_FINITE) & ~x);
}

/* Does no element have bit 31 of fault()? At any alignment; a fixed inner loop becomes
 * SIMD. */
static inline bool
without(uint32_t (*fault)(uint32_t x), const unsigned char *data, size_t n)
{
	uint32_t found[LANES] = {0}, any = 0, x[LANES];
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		memcpy(x, data + i * sizeof *x, sizeof x);
		for (uint32_t k = 0; k < LANES; k++)
			found[k] |= fault(x[k]);
	}
	memcpy(x, data + i * sizeof *x, (n - i) * sizeof *x);
	for (uint32_t k = 0; k < n - i; k++)
		any |= fault(x[k]);
	for (uint32_t k = 0; k < LANES; k++)
		any |= found[k];
	return any >> 31 == 0;
}

/* Bytes are always small. */
static bool
is_small(enum dtype dtype, const void *data, size_t n)
{
	if (dtype == DT_FLOAT)
		return without(is_large, data, n);
	return dtype != DT_FLOAT16 || all_finite_halves(data, n);
}

/* Looked at by several. */
struct inspection {
	const unsigned char *data;
	enum dtype dtype;
	atomic_bool large;
};

static void
look_at_part(void *of, size_t first, size_t n)
{
	struct inspection *l = of;
	const unsigned char *at = l->data + first * (dtype_bits(l->dtype) / 8);

	if (!is_small(l->dtype, at, n))
		atomic_store(&l->large, true);
}

static bool
is_small_for_all(enum dtype dtype, const void *data, size_t n)
{
	struct inspection l = {.data = data, .dtype = dtype};

	if (dtype == DT_FLOAT || dtype == DT_FLOAT16)
		team_split(n, look_at_part, &l);
	return !atomic_load(&l.large);
}

bool
guard_all_small(const float *x, size_t n)
{
	return is_small_for_all(DT_FLOAT, x, n);
}

/* ---- what a mask hides ---- */

/* A softmax's input; n = 0: it is another operator. */
struct rows {
	enum dtype dtype;
	size_t outer, n, inner;
};

static struct rows
rows_of(const struct graph *g, const struct candidate *c)
{
	const struct node *n = graph_node(g, c->node[0]);
	const bool flat = n->opset < 13;
	const struct type *t;
	uint32_t at, end;
	int64_t axis;

	if (c->nnodes > 1 || (n->op != OP_SOFTMAX && n->op != OP_LOGSOFTMAX)
	    || c->input[0].format != FORMAT_PLAIN)
		return (struct rows){0};
	t = &graph_value(g, n->input[0])->type;
	axis = attr_int_or(n, "axis", flat ? 1 : -1);
	at = (uint32_t)(axis < 0 ? axis + t->rank : axis);
	end = flat ? t->rank : at + 1;
	return (struct rows){t->dtype, shape_count(t->dim, 0, at),
	    shape_count(t->dim, at, end), shape_count(t->dim, end, t->rank)};
}

static bool
none_but_masks(const struct rows *r, const unsigned char *data)
{
	const size_t n = r->outer * r->n * r->inner;
	bool ok = true;

	if (r->dtype == DT_FLOAT)
		return without(is_no_mask, data, n);
	for (size_t i = 0; i < n; i++) {
		const uint16_t half = half_at(data, i);

		ok &= half != 0x7c00 && (half & 0x7fff) <= 0x7c00;
	}
	return ok;
}

static bool
has_finite(const struct rows *r, const unsigned char *data, size_t first)
{
	const bool is_float = r->dtype == DT_FLOAT;
	bool found = false;

	for (size_t i = 0; !found && i < r->n; i++) {
		const size_t at = first + i * r->inner;

		found = is_float ? (word_at(data, at) & SIZE) < 0x7f800000
		                 : (half_at(data, at) & 0x7fff) < 0x7c00;
	}
	return found;
}

/* A softmax takes the largest of its row away, so that nothing overflows upwards: no NaN
 * comes of finite numbers however large, nor of minus infinity beside one. So
 * do masks hide what they hide. */
static bool
is_masked_at_most(const struct rows *r, const unsigned char *data)
{
	const size_t row = r->n * r->inner;

	if (row == 0 || !none_but_masks(r, data))
		return false;
	for (size_t i = 0; i < r->outer; i++)
		for (size_t k = 0; k < r->inner; k++)
			if (!has_finite(r, data, i * row + k))
				return false;
	return true;
}

/* ---- where it suffices ---- */

static bool
is_bounded_by_inputs(enum op op)
{
	switch (op) {
	case OP_CONV:
	case OP_CONVTRANSPOSE:
	case OP_GEMM:
	case OP_MATMUL:
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_MAX:
	case OP_MIN:
	case OP_SUM:
	case OP_RELU:
	case OP_CLIP:
	case OP_LEAKYRELU:
	case OP_ELU:
	case OP_SIGMOID:
	case OP_HARDSIGMOID:
	case OP_HARDSWISH:
	case OP_AVERAGEPOOL:
	case OP_MAXPOOL:
	case OP_GLOBALAVERAGEPOOL:
	case OP_REDUCEMEAN:
	case OP_TANH:
	case OP_GELU:
	case OP_SOFTMAX:
	case OP_LOGSOFTMAX:
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
	case OP_BATCHNORMALIZATION:
	case OP_DEQUANTIZELINEAR:
	case OP_MATMULINTEGER:
	case OP_CAST:
		return true;
	default: /* whatever divides */
		return false;
	}
}

static enum magnitude
magnitude_of(enum dtype dtype, const void *data, size_t n)
{
	if (dtype == DT_FLOAT && without(is_not_tiny, data, n))
		return MAGNITUDE_TINY;
	return is_small(dtype, data, n) ? MAGNITUDE_SMALL : MAGNITUDE_LARGE;
}

/* (bfloat16 goes as far as floats do) */
static enum magnitude
magnitude_of_halves(const struct tensor *t)
{
	bool small =
	    t->held == DT_FLOAT16 ? all_finite_halves(t->data, t->count) : true;

	for (size_t i = 0; t->held != DT_FLOAT16 && i < t->count; i++)
		small = small && fabs(tensor_real(t, i)) < (double)LIMIT;
	return small ? MAGNITUDE_SMALL : MAGNITUDE_LARGE;
}

/* Weights are read once, however many rules match their node. */
enum magnitude
constant_magnitude(struct value *v)
{
	const struct tensor *t = v->constant;

	if (v->magnitude != MAGNITUDE_UNKNOWN)
		return v->magnitude;
	if (t->kind == TENSOR_FILL)
		v->magnitude =
		    magnitude_of(t->dtype, t->fill, t->count ? 1 : 0);
	else if (t->kind == TENSOR_VIEW)
		v->magnitude = magnitude_of(t->dtype, t->data, t->count);
	else if (t->kind == TENSOR_HALVES)
		v->magnitude = magnitude_of_halves(t);
	else
		v->magnitude = MAGNITUDE_SMALL;
	return v->magnitude;
}

/* Bounds may be as large as they like. */
static bool
constants_are_small(const struct graph *g, const struct node *n)
{
	if (n->op == OP_CLIP)
		return true;
	for (uint32_t i = 0; i < n->ninputs; i++) {
		struct value *v = n->input[i] == VALUE_NONE
		    ? NULL
		    : graph_value(g, n->input[i]);

		if (v && v->constant
		    && constant_magnitude(v) == MAGNITUDE_LARGE)
			return false;
	}
	return true;
}

/* A state with functions of the model's own may grow with each step. */
static bool
state_is_bounded(const struct node *n)
{
	return node_attr(n, "activations") == NULL;
}

/* What the normalisation multiplies by: it divides, too. */
static bool
factors_are_small(const struct graph *g, const struct node *n)
{
	const struct tensor *scale, *variance;
	const double epsilon = (double)attr_float_or(n, "epsilon", 1e-5f);

	if (n->op != OP_BATCHNORMALIZATION)
		return true;
	scale = node_in(g, n, 1)->constant;
	variance = node_in(g, n, 4)->constant;
	if (!scale || !variance || scale->count != variance->count)
		return false;
	for (size_t i = 0; i < scale->count; i++)
		if (!(fabs(tensor_real(scale, i))
		            / sqrt(tensor_real(variance, i) + epsilon)
		        < (double)LIMIT))
			return false;
	return true;
}

bool
guard_suffices(const struct match_in *m)
{
	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (!is_bounded_by_inputs(n->op)
		    || !constants_are_small(m->graph, n)
		    || !factors_are_small(m->graph, n) || !state_is_bounded(n))
			return false;
	}
	return true;
}

/* ---- the host instead ---- */

struct guarded {
	struct kernel inner;
	const struct graph *graph;
	const struct format *format; /* by id */
	const size_t *count; /* [ninputs] elements */
	struct rows rows;
	bool known; /* small where what they rest on is (targets/known.h) */
	/* What computes NaN right, compiled once it is needed; NULL: the host. */
	const struct candidate *otherwise;
	const struct target *target;
	struct arena *arena;
	struct kernel other;
};

/* One composite on the host: values by demand, from its ports and constants. */
struct by_host {
	const struct guarded *g;
	struct tensor *port; /* [ninputs], in C order */
	struct arena *arena;
	struct err *err;
};

static bool
convert(struct by_host *h, const struct port *p, bool to_plain, const void *in,
    void *out)
{
	const struct format *f = h->g->format;
	const struct type *t = &graph_value(h->g->graph, p->value)->type;
	struct converter c;

	if (!converter_new(&c,
	        &(struct format_change){f[to_plain ? p->format : FORMAT_PLAIN],
	            f[to_plain ? FORMAT_PLAIN : p->format], t, NULL},
	        h->arena, h->err))
		return false;
	c.run(&c, in, out);
	if (c.release)
		c.release(&c);
	return true;
}

static bool
take_inputs(struct by_host *h, const void *const *in)
{
	const struct candidate *c = h->g->inner.candidate;

	h->port = arena_new(h->arena, struct tensor, c->ninputs);
	for (uint32_t i = 0; i < c->ninputs; i++) {
		const struct type *t =
		    &graph_value(h->g->graph, c->input[i].value)->type;
		const size_t bytes = h->g->count[i] * dtype_bits(t->dtype) / 8;
		void *plain = arena_alloc(h->arena, bytes + 64);

		if (c->input[i].format == FORMAT_PLAIN)
			memcpy(plain, in[i], bytes);
		else if (!convert(h, &c->input[i], true, in[i], plain))
			return false;
		h->port[i] = tensor_view(t->dtype, t->rank, t->dim, plain);
	}
	return true;
}

static const struct tensor *value_of(struct by_host *h, value_id v);

static const struct tensor *
run_producer(struct by_host *h, value_id v)
{
	const struct graph *g = h->g->graph;
	const struct node *n = graph_node(g, graph_value(g, v)->producer);
	const struct tensor **in =
	    arena_new(h->arena, const struct tensor *, n->ninputs);
	struct tensor *out = arena_new(h->arena, struct tensor, n->noutputs);
	uint32_t which = 0;

	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !(in[i] = value_of(h, n->input[i])))
			return NULL;
	if (!host_eval(g, n, in, out, h->arena, h->err))
		return NULL;
	while (n->output[which] != v)
		which++;
	return &out[which];
}

static const struct tensor *
value_of(struct by_host *h, value_id v)
{
	const struct candidate *c = h->g->inner.candidate;
	const struct value *value = graph_value(h->g->graph, v);

	for (uint32_t i = 0; i < c->ninputs; i++)
		if (c->input[i].value == v)
			return &h->port[i];
	return value->constant ? value->constant : run_producer(h, v);
}

static void
run_by_host(struct kernel *k, const void *const *in, void *const *out)
{
	const struct candidate *c = k->candidate;
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct by_host h = {.g = k->state, .arena = &a, .err = &err};
	bool ok;

	arena_init(&a);
	ok = take_inputs(&h, in);
	for (uint32_t i = 0; ok && i < c->noutputs; i++) {
		const struct tensor *t = value_of(&h, c->output[i].value);

		if (!t)
			ok = false;
		else if (c->output[i].format == FORMAT_PLAIN)
			memcpy(out[i], tensor_data(t, &a), t->bytes);
		else
			ok = convert(&h, &c->output[i], false,
			    tensor_data(t, &a), out[i]);
	}
	if (!ok && k->fault)
		err_set(k->fault, ERR_UNSUPPORTED, "%s", err.text);
	arena_release(&a);
}

/* ---- both ---- */

static enum dtype
dtype_of(const struct graph *g, const struct port *p)
{
	return graph_value(g, p->value)->type.dtype;
}

static bool
has_other(struct guarded *g)
{
	struct err err = {.kind = ERR_NONE};

	if (g->otherwise
	    && !g->target->kind->compile(
	        g->target, g->graph, g->otherwise, g->arena, &g->other, &err))
		g->other.run = NULL;
	g->otherwise = NULL;
	return g->other.run != NULL;
}

/* It may allocate; NaN is no common case. */
static void
run_instead(struct kernel *k, const void *const *in, void *const *out)
{
	struct guarded *g = k->state;

	if (!has_other(g)) {
		run_by_host(k, in, out);
		return;
	}
	g->other.fault = k->fault;
	g->other.run(&g->other, in, out);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct guarded *g = k->state;
	const struct candidate *c = k->candidate;
	const bool known = g->known && k->small && *k->small;
	bool small = true;

	for (uint32_t i = 0; !known && small && i < c->ninputs; i++)
		small = is_small_for_all(dtype_of(g->graph, &c->input[i]),
		            in[i], g->count[i])
		    || is_masked_at_most(&g->rows, in[i]);
	g->inner.fault = k->fault;
	if (small)
		g->inner.run(&g->inner, in, out);
	else
		run_instead(k, in, out);
}

static void
release(struct kernel *k)
{
	struct guarded *g = k->state;

	if (g->inner.release)
		g->inner.release(&g->inner);
	if (g->other.release)
		g->other.release(&g->other);
}

void
guard_kernel(struct kernel *k, const struct target *t, const struct graph *g,
    struct arena *a)
{
	const struct candidate *c = k->candidate;
	struct guarded *state = arena_new(a, struct guarded, 1);
	size_t *count = arena_new(a, size_t, c->ninputs);

	for (uint32_t i = 0; i < c->ninputs; i++)
		count[i] = format_bytes(t->formats->format[c->input[i].format],
		               &graph_value(g, c->input[i].value)->type)
		    * 8 / dtype_bits(dtype_of(g, &c->input[i]));
	*state = (struct guarded){.inner = *k,
	    .graph = g,
	    .format = t->formats->format,
	    .count = count,
	    .rows = rows_of(g, c),
	    .known = c->known};
	*k = (struct kernel){.kind = state->inner.kind,
	    .candidate = c,
	    .run = run,
	    .release = release,
	    .state = state};
}

void
guard_otherwise(struct kernel *k, const struct target *t,
    const struct candidate *otherwise, struct arena *a)
{
	struct guarded *g = k->state;

	g->otherwise = otherwise;
	g->target = t;
	g->arena = a;
}
