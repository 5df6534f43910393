#include "targets/guarded.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "targets/convert.h"
#include "targets/host/host.h"
#include "targets/host/walk.h"
#include "targets/known.h"
#include "targets/look.h"
#include "targets/magnitude.h"
#include "targets/mask_rows.h"

/* Products of three such, summed 2^31 times, stay below the largest float: nothing
 * overflows, so nothing is infinity less infinity. Inputs may be larger where the sums of the
 * constants tell (known_power). */
#define POWER 32
#define LIMIT 0x1p32

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

		if (v && v->constant && !(magnitude_most(v) < LIMIT))
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
	struct value *by, *over;

	if (n->op != OP_BATCHNORMALIZATION)
		return true;
	by = graph_value(g, n->input[1]);
	over = graph_value(g, n->input[4]);
	scale = by->constant;
	variance = over->constant;
	if (!scale || !variance || scale->count != variance->count)
		return false;
	/* as each of them, if the largest by the least is */
	if (magnitude_most(by) / sqrt(magnitude_least(over) + epsilon) < LIMIT)
		return true;
	for (size_t i = 0; i < scale->count; i++)
		if (!(fabs(tensor_real(scale, i))
		            / sqrt(tensor_real(variance, i) + epsilon)
		        < LIMIT))
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
	struct kernel inner; /* without a `run` while there is only the other */
	bool ran;
	const struct graph *graph;
	const struct format *format; /* by id */
	const size_t *count; /* [ninputs] elements */
	struct mask_rows rows;
	int power; /* what it looks for */
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

static void
forget(struct kernel *k)
{
	if (k->release)
		k->release(k);
	*k = (struct kernel){.run = NULL};
}

/* A model whose numbers are large from the first run on mostly has none that are small:
 * it need not keep weights packed for both. */
static void
leave_to_other(struct guarded *g)
{
	if (g->otherwise && !g->ran && g->inner.release)
		forget(&g->inner);
}

/* It may allocate; NaN is no common case. */
static void
run_instead(struct kernel *k, const void *const *in, void *const *out)
{
	struct guarded *g = k->state;

	leave_to_other(g);
	if (!has_other(g)) {
		run_by_host(k, in, out);
		return;
	}
	g->other.fault = k->fault;
	g->other.run(&g->other, in, out);
}

static void
release(struct kernel *k)
{
	struct guarded *g = k->state;

	forget(&g->inner);
	forget(&g->other);
}

/* There are small ones after all: from now on there are both. */
static bool
has_inner(struct guarded *g, const struct candidate *c)
{
	struct err err = {.kind = ERR_NONE};
	struct kernel again;

	g->ran = true;
	if (!g->inner.run
	    && g->target->kind->compile(
	        g->target, g->graph, c, g->arena, &again, &err)) {
		assert(again.release == release);
		g->inner = ((struct guarded *)again.state)->inner;
	}
	return g->inner.run != NULL;
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct guarded *g = k->state;
	const struct candidate *c = k->candidate;
	const bool known = g->known && k->small && *k->small;
	bool small = true;

	for (uint32_t i = 0; !known && small && i < c->ninputs; i++)
		small = look_at_all(g->power, dtype_of(g->graph, &c->input[i]),
		            in[i], g->count[i])
		    || mask_rows_suffice(&g->rows, in[i]);
	if (!small || !has_inner(g, c)) {
		run_instead(k, in, out);
		return;
	}
	g->inner.fault = k->fault;
	g->inner.run(&g->inner, in, out);
}

static int
power_of(const struct graph *g, const struct candidate *c)
{
	const int known = c->match ? known_power(g, c->match) : 0;

	return known > POWER ? known : POWER;
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
	    .rows = mask_rows_of(g, c),
	    .power = power_of(g, c),
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
