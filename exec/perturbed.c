#include "exec/perturbed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "costmodel/requantised.h"
#include "costmodel/seed.h"
#include "ir/compare.h"

/* ---- chance ---- */

static uint32_t
next(uint32_t *r)
{
	*r = *r * 1664525u + 1013904223u;
	return *r >> 12; /* the upper bits are the random ones */
}

/* Chance begins elsewhere for neighbouring seeds, in all bits. */
static uint32_t
scattered(uint32_t seed)
{
	seed = (seed ^ (seed >> 16)) * 0x7feb352du;
	seed = (seed ^ (seed >> 15)) * 0x846ca68bu;
	return seed ^ (seed >> 16);
}

static double
sign(uint32_t *r)
{
	return next(r) & 1 ? 1 : -1;
}

/* ---- one value ---- */

static double
range_of(const struct tensor *t)
{
	double range = 0;

	for (size_t i = 0; i < t->count; i++) {
		double x = fabs(tensor_real(t, i));

		range = isfinite(x) && x > range ? x : range;
	}
	return range;
}

static void *
new_data(const struct tensor *t, struct arena *a)
{
	return memcpy(arena_alloc(a, t->bytes), tensor_data(t, a), t->bytes);
}

/* Of operators that add nothing up each element is off by a part of itself: one
 * that is large, a number over hardly anything, says nothing of the others. */
static bool
adds_nothing_up(enum op op)
{
	switch (op) {
	case OP_RELU:
	case OP_LEAKYRELU:
	case OP_CLIP:
	case OP_MAX:
	case OP_MIN:
	case OP_MAXPOOL:
	case OP_GLOBALMAXPOOL:
	case OP_REDUCEMAX:
	case OP_REDUCEMIN:
	case OP_NEG:
	case OP_ABS:
	case OP_MUL:
	case OP_DIV:
	case OP_RECIPROCAL:
	case OP_POW:
	case OP_EXP:
		return true;
	default:
		return false;
	}
}

/* A logarithm of what is close to 1 is off by what that is. */
static bool
takes_logarithms(enum op op)
{
	return op == OP_LOGSOFTMAX || op == OP_SOFTPLUS || op == OP_REDUCELOGSUM
	    || op == OP_REDUCELOGSUMEXP;
}

static void *
perturb_floats(const struct perturbation *p, enum op op, double error,
    const struct tensor *t, uint32_t r, struct arena *a)
{
	float *to = new_data(t, a);
	const bool each = adds_nothing_up(op);
	double range = range_of(t);

	if (takes_logarithms(op) && range < 1)
		range = 1;
	for (size_t i = 0; error > 0 && i < t->count; i++) {
		const double x = (double)to[i];
		const double by = error * (each ? fabs(x) : range);

		if (isfinite(x) && by > 0)
			to[i] = (float)(x
			    + by * (p->one_way ? p->one_way : sign(&r)));
	}
	return to;
}

static void *
perturb_halves(
    const struct tensor *t, double error, uint32_t r, struct arena *a)
{
	uint16_t *to = new_data(t, a);
	const double by = error * range_of(t);

	for (size_t i = 0; by > 0 && i < t->count; i++) {
		const double x = tensor_real(t, i), last = fabs(x) * 0x1p-10;

		to[i] =
		    f32_to_f16((float)(x + (by > last ? by : last) * sign(&r)));
	}
	return to;
}

static void *
perturb_steps(const struct tensor *t, uint32_t r, struct arena *a)
{
	const bool is_signed = t->dtype == DT_INT8;
	uint8_t *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++) {
		const bool down = next(&r) & 1;
		const uint8_t end =
		    (uint8_t)((is_signed ? 0x80 : 0) - (down ? 0 : 1));

		if (next(&r) % 4096 == 0 && to[i] != end)
			to[i] = (uint8_t)(down ? to[i] - 1 : to[i] + 1);
	}
	return to;
}

/* To a neighbour in half precision; what has its place there stays. */
static void *
halve_floats(const struct tensor *t, uint32_t r, struct arena *a)
{
	float *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++) {
		const float x = to[i], near = f16_to_f32(f32_to_f16(x));

		if (near == x || !isfinite(near))
			continue;
		to[i] = next(&r) & 1 ? near : x + (x - near);
	}
	return to;
}

/* Which sign element i has where it is zero. */
static float
zero_of(const struct perturbation *p, value_id v, size_t i)
{
	const bool each = p->seed % 2 == 0;
	uint32_t r = (v + 1) * 2246822519u + p->seed
	    + (each ? scattered((uint32_t)i + 1) : 0);

	return p->seed == 1 || (p->seed > 2 && next(&r) & 1) ? 0.f : -0.f;
}

/* TUNING: where denormals are off, what is one on the way to a result is zero.
 * SOURCE: oneDNN's exp() halves it first. */
#define LEAST_KEPT (4 * FLT_MIN)

static void *
sign_zeros(const struct perturbation *p, value_id v, const struct tensor *t,
    struct arena *a)
{
	float *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++)
		if (fabsf(to[i]) < LEAST_KEPT)
			to[i] = zero_of(p, v, i);
	return to;
}

static void
replace(struct tensor *t, void *data)
{
	if (data)
		*t = tensor_view(t->dtype, t->rank, t->dim, data);
}

static bool
is_data(const struct tensor *t)
{
	return t->kind <= TENSOR_FILL && t->count > 0;
}

static void
halve(
    const struct perturbation *p, value_id v, struct tensor *t, struct arena *a)
{
	const uint32_t r = (v + 1) * 3266489917u + p->seed;

	if (is_data(t) && t->dtype == DT_FLOAT)
		replace(t, halve_floats(t, r, a));
}

/* Libraries compute it, nearest neighbours too. */
static bool
resizes(enum op op)
{
	return op == OP_RESIZE || op == OP_UPSAMPLE;
}

/* Integers that were made from floats are off when those are. */
static void
perturb(const struct perturbation *p, const struct node *n, value_id v,
    struct tensor *t, struct arena *a)
{
	const double error = p->error ? p->error[v] : p->all;
	const uint32_t r = (v + 1) * 2654435761u + p->seed;
	void *data = NULL;

	if (!is_data(t))
		return;
	if (t->dtype == DT_FLOAT)
		data = perturb_floats(p, n->op, error, t, r, a);
	else if (t->dtype == DT_FLOAT16)
		data = perturb_halves(t, error, r, a);
	else if ((p->error || p->all > 0) && dtype_is_byte(t->dtype)
	    && n->op != OP_QUANTIZELINEAR && node_requantises(n))
		data = perturb_steps(t, r, a);
	replace(t, data);
	if (p->zeros && t->dtype == DT_FLOAT
	    && (op_get(n->op)->fusion != FUSE_INJECTIVE || resizes(n->op)))
		replace(t, sign_zeros(p, v, t, a));
	if (p->halved && p->halved[v])
		halve(p, v, t, a);
}

/* ---- the model ---- */

struct perturbed_run {
	const struct graph *graph;
	node_eval eval;
	struct tensor *value; /* [nvalues] */
	bool *known; /* [nvalues] */
	struct arena *arena;
};

/* Of a node that nothing here can run: made-up values of its outputs' types. */
static bool
make_up(struct perturbed_run *w, const struct node *n, struct tensor *out,
    struct err *err)
{
	for (uint32_t i = 0; i < n->noutputs; i++) {
		const struct value *v = node_out(w->graph, n, i);

		if (v
		    && (!type_has_size(&v->type)
		        || !seed_tensor(
		            &out[i], w->graph, n->output[i], 0, w->arena)))
			return err_set(err, ERR_UNSUPPORTED,
			    "nothing here makes '%s'", v->name);
	}
	return true;
}

static bool
is_maximum(enum op op)
{
	return op == OP_MAXPOOL || op == OP_GLOBALMAXPOOL || op == OP_REDUCEMAX
	    || op == OP_REDUCEMIN;
}

/* What may stand where no finite number does: among others what maxima begin
 * with, and what rounds to either end of a quantiser's steps. */
static float
stand_in(uint32_t which, float x)
{
	static const float any[] = {-FLT_MAX, -1e4f, 0, 1e4f, FLT_MAX, NAN};

	return which < sizeof any / sizeof *any ? any[which] : x;
}

/* Elements of t that are marked get a stand-in: one for all, or each by chance. */
static void
put_stand_ins(struct tensor *t, const bool *marked, uint32_t r, struct arena *a)
{
	const bool each = next(&r) & 1;
	const uint32_t one = next(&r) % 5;
	float *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++)
		if (marked[i])
			to[i] = stand_in(each ? next(&r) % 8 : one, to[i]);
	replace(t, to);
}

static bool
is_floats(const struct tensor *t)
{
	return is_data(t) && t->dtype == DT_FLOAT;
}

static bool
has_infinite(const struct tensor *t)
{
	if (!is_floats(t))
		return false;
	for (size_t i = 0; i < t->count; i++)
		if (!isfinite(tensor_real(t, i)))
			return true;
	return false;
}

static void
open_all(struct tensor *t, uint32_t r, struct arena *a)
{
	bool *marked = arena_new(a, bool, t->count);

	memset(marked, true, t->count * sizeof *marked);
	if (is_floats(t))
		put_stand_ins(t, marked, r, a);
}

static void
lose_nan(struct tensor *t, uint32_t r, struct arena *a)
{
	bool *marked = arena_new(a, bool, t->count);

	if (!is_floats(t))
		return;
	for (size_t i = 0; i < t->count; i++)
		marked[i] = isnan(tensor_real(t, i));
	put_stand_ins(t, marked, r, a);
}

/* Zero where a divisor is that small, one elsewhere; also for zero, whose sign is
 * all that is open. */
static const struct tensor *
divisors(const struct tensor *t, double small, struct arena *a)
{
	struct tensor *copy = arena_new(a, struct tensor, 1);
	float *to = new_data(t, a);

	*copy = *t;
	for (size_t i = 0; i < t->count; i++)
		to[i] = to[i] != 0 && fabs((double)to[i]) <= small ? 0 : 1;
	replace(copy, to);
	return copy;
}

static bool
divides(enum op op)
{
	return op == OP_DIV || op == OP_RECIPROCAL || op == OP_POW;
}

/* Ones over those, or those to a negative power, are infinite where a quotient is
 * open. */
static bool
open_quotient(struct perturbed_run *w, const struct perturbation *p,
    const struct node *n, const struct tensor **in, struct tensor *out,
    uint32_t r, struct err *err)
{
	const uint32_t divisor = n->op == OP_DIV ? 1 : 0;
	struct tensor *where = arena_new(w->arena, struct tensor, n->noutputs);
	bool *marked = arena_new(w->arena, bool, out[0].count);

	if (!is_floats(in[divisor]) || !is_floats(&out[0]))
		return true;
	if (divisor)
		in[0] = divisors(in[0], -1, w->arena);
	in[divisor] = divisors(
	    in[divisor], p->open_poles * range_of(in[divisor]), w->arena);
	if (!w->eval(w->graph, n, in, where, w->arena, err))
		return false;
	for (size_t i = 0; i < out[0].count; i++)
		marked[i] = isinf(tensor_real(&where[0], i));
	put_stand_ins(&out[0], marked, r, w->arena);
	return true;
}

/* All elements, or each by chance. */
static void
put_nan(struct tensor *t, bool all, uint32_t r, struct arena *a)
{
	float *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++)
		to[i] = all || next(&r) & 1 ? NAN : to[i];
	replace(t, to);
}

/* Where `from` is NaN: all at one end of their type, or each by chance. */
static void
open_bytes(struct tensor *t, const struct tensor *from, const uint8_t *end,
    uint32_t r, struct arena *a)
{
	uint8_t *to = new_data(t, a);

	for (size_t i = 0; i < t->count; i++)
		if (isnan(tensor_real(from, i)))
			to[i] = end ? *end : (uint8_t)next(&r);
	replace(t, to);
}

static bool
adds_not_finite(const struct node *n, const struct tensor **in)
{
	if (op_get(n->op)->fusion == FUSE_INJECTIVE)
		return false;
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (in[i] && has_infinite(in[i]))
			return true;
	return false;
}

static bool
makes_bytes(const struct tensor *from, const struct tensor *t)
{
	return from && is_floats(from) && is_data(t) && from->count == t->count
	    && dtype_is_byte(t->dtype);
}

/* What saturates is the same for most numbers, so two of four seeds take all of
 * it and an end. */
static void
spread_nan(struct perturbed_run *w, const struct perturbation *p,
    const struct node *n, const struct tensor **in, struct tensor *out,
    uint32_t r)
{
	static const uint8_t end[][2] = {{0x80, 0x7f}, {0, 0xff}};
	const uint32_t which = p->seed / 2 % 4;

	if (is_floats(out) && adds_not_finite(n, in))
		put_nan(out, which < 2, r, w->arena);
	if (makes_bytes(in[0], out))
		open_bytes(out, in[0],
		    which < 2 ? &end[out->dtype == DT_UINT8][which] : NULL, r,
		    w->arena);
}

/* Zero where it is a finite number, elsewhere one that is more extreme. */
static const struct tensor *
extremes(const struct tensor *t, float more, struct arena *a)
{
	struct tensor *copy = arena_new(a, struct tensor, 1);
	float *to = new_data(t, a);

	*copy = *t;
	for (size_t i = 0; i < t->count; i++)
		to[i] = isfinite(to[i]) ? 0 : more;
	replace(copy, to);
	return copy;
}

/* A maximum over what is not finite may be anything: kernels drop what they had
 * before NaN, begin with the lowest number, or end with NaN. */
static bool
open_maximum(struct perturbed_run *w, const struct node *n,
    const struct tensor **in, struct tensor *out, uint32_t r, struct err *err)
{
	struct tensor *where = arena_new(w->arena, struct tensor, n->noutputs);
	bool *marked = arena_new(w->arena, bool, out[0].count);

	if (!is_floats(in[0]) || !is_floats(&out[0]))
		return true;
	in[0] = extremes(in[0], n->op == OP_REDUCEMIN ? -1 : 1, w->arena);
	if (!w->eval(w->graph, n, in, where, w->arena, err))
		return false;
	for (size_t i = 0; i < out[0].count; i++)
		marked[i] = fabs(tensor_real(&where[0], i)) == 1;
	put_stand_ins(&out[0], marked, r, w->arena);
	return true;
}

static bool
loses_nan(const struct perturbed_run *w, const struct perturbation *p,
    const struct node *n)
{
	return p->nan_lost
	    && (p->nan_lost_by == NODE_NONE
	        || graph_node(w->graph, p->nan_lost_by) == n);
}

static bool
run_node(struct perturbed_run *w, const struct perturbation *p,
    const struct node *n, struct tensor *out, struct err *err)
{
	const uint32_t nin = n->ninputs + n->nimplicit;
	const struct tensor **in =
	    arena_new(w->arena, const struct tensor *, nin);
	const uint32_t r =
	    scattered((n->output[0] + 1) * 2654435769u + p->seed);

	if (node_is_opaque(n))
		return make_up(w, n, out, err);
	for (uint32_t i = 0; i < nin; i++) {
		const value_id v = n->input[i];

		if (v != VALUE_NONE && w->known[v])
			in[i] = &w->value[v];
	}
	if (!w->eval(w->graph, n, in, out, w->arena, err))
		return false;
	if (!p->seed)
		return true;
	if (p->open_infinite && is_maximum(n->op)
	    && !open_maximum(w, n, in, out, r, err))
		return false;
	if (p->open_infinite && resizes(n->op) && has_infinite(in[0]))
		open_all(&out[0], r, w->arena);
	if (p->open_poles > 0 && divides(n->op)
	    && !open_quotient(w, p, n, in, out, r, err))
		return false;
	if (p->nan_spreads)
		spread_nan(w, p, n, in, &out[0], r);
	for (uint32_t i = 0; loses_nan(w, p, n) && i < n->noutputs; i++)
		lose_nan(&out[i], r + i, w->arena);
	return true;
}

/* What is there before the first node runs. */
static void
begin(struct perturbed_run *w, const struct perturbation *p)
{
	const struct graph *g = w->graph;

	for (uint32_t i = 0; i < g->ninputs; i++)
		w->known[g->input[i]] = true;
	for (value_id v = 0; v < g->nvalues; v++) {
		if (g->value[v].constant) {
			w->value[v] = *g->value[v].constant;
			w->known[v] = true;
		}
		if (p->seed && w->known[v]
		    && (p->halves || (p->halved && p->halved[v])))
			halve(p, v, &w->value[v], w->arena);
	}
}

static bool
run_walk(struct perturbed_run *w, const struct perturbation *p,
    const struct node *n, struct err *err)
{
	struct tensor *out = arena_new(w->arena, struct tensor, n->noutputs);

	if (!run_node(w, p, n, out, err))
		return false;
	for (uint32_t i = 0; i < n->noutputs; i++) {
		const value_id v = n->output[i];

		if (v == VALUE_NONE)
			continue;
		if (p->seed)
			perturb(p, n, v, &out[i], w->arena);
		w->value[v] = out[i];
		w->known[v] = true;
	}
	return true;
}

bool
reference_values(struct tensor *value, const struct graph *g, node_eval eval,
    const struct perturbation *p, struct arena *a, struct err *err)
{
	struct perturbed_run w = {
	    g, eval, value, arena_new(a, bool, g->nvalues), a};
	bool ok = true;

	begin(&w, p);
	for (node_id id = 0; ok && id < g->nnodes; id++)
		ok = run_walk(&w, p, graph_node(g, id), err);
	return ok;
}

/* ---- how far it moves ---- */

/* Values are compared that the model has either way, in type and shape. */
static void
note_moves(double *movable, const struct graph *g, const struct tensor *got,
    const struct tensor *want)
{
	const struct tolerance t = {.made_up = true, .overflows = true};

	for (value_id v = 0; v < g->nvalues; v++) {
		struct comparison c;
		double d;

		if (g->value[v].constant || want[v].dtype == DT_UNDEFINED)
			continue;
		tensors_compare(&c, &got[v], &want[v], &t);
		d = PERTURBED_TIMES * comparison_relative(&c);
		if (isfinite(d) && d > movable[v])
			movable[v] = d;
	}
}

bool
values_movable(double *movable, const struct graph *g,
    const struct tensor *want, node_eval eval, const struct perturbation *how,
    struct err *err)
{
	bool ok = true;

	memset(movable, 0, g->nvalues * sizeof *movable);
	for (uint32_t seed = 1; ok && seed <= 2; seed++) {
		struct perturbation p = *how;
		struct tensor *got;
		struct arena a;

		arena_init(&a);
		got = arena_new(&a, struct tensor, g->nvalues);
		for (uint32_t i = 0; i < g->ninputs; i++)
			got[g->input[i]] = want[g->input[i]];
		p.seed = seed;
		ok = reference_values(got, g, eval, &p, &a, err);
		if (ok)
			note_moves(movable, g, got, want);
		arena_release(&a);
	}
	return ok;
}

bool
outputs_movable(double *movable, const struct graph *g, const struct tensor *in,
    node_eval eval, const struct perturbation *how, struct err *err)
{
	const struct perturbation none = {.seed = 0};
	struct tensor *want;
	struct arena a;
	double *all;
	bool ok;

	arena_init(&a);
	want = arena_new(&a, struct tensor, g->nvalues);
	all = arena_new(&a, double, g->nvalues);
	for (uint32_t i = 0; i < g->ninputs; i++)
		want[g->input[i]] = in[i];
	ok = reference_values(want, g, eval, &none, &a, err)
	    && values_movable(all, g, want, eval, how, err);
	for (uint32_t i = 0; ok && i < g->noutputs; i++)
		movable[i] = all[g->output[i]];
	arena_release(&a);
	return ok;
}
