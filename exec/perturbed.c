#include "exec/perturbed.h"

#include <math.h>
#include <string.h>

#include "exec/allowed.h"
#include "ir/compare.h"

/* ---- chance ---- */

static uint32_t
next(uint32_t *r)
{
	*r = *r * 1664525u + 1013904223u;
	return *r >> 12; /* the upper bits are the random ones */
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

static void *
perturb_floats(
    const struct tensor *t, double error, uint32_t r, struct arena *a)
{
	float *to = new_data(t, a);
	const double by = error * range_of(t);

	for (size_t i = 0; i < t->count; i++)
		to[i] = (float)((double)to[i] + by * sign(&r));
	return to;
}

static void *
perturb_halves(
    const struct tensor *t, double error, uint32_t r, struct arena *a)
{
	uint16_t *to = new_data(t, a);
	const double by = error * range_of(t);

	for (size_t i = 0; i < t->count; i++) {
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

/* Integers that were made from floats are off when those are. */
static void
perturb(const struct perturbation *p, const struct node *n, value_id v,
    struct tensor *t, struct arena *a)
{
	const double error = p->error[v];
	const uint32_t r = (v + 1) * 2654435761u + p->seed;
	void *data = NULL;

	if (t->kind > TENSOR_FILL || t->count == 0)
		return;
	if (t->dtype == DT_FLOAT)
		data = perturb_floats(t, error, r, a);
	else if (t->dtype == DT_FLOAT16)
		data = perturb_halves(t, error, r, a);
	else if ((t->dtype == DT_INT8 || t->dtype == DT_UINT8)
	    && n->op != OP_QUANTIZELINEAR && node_requantises(n))
		data = perturb_steps(t, r, a);
	if (data)
		*t = tensor_view(t->dtype, t->rank, t->dim, data);
}

/* ---- the model ---- */

struct walk {
	const struct graph *graph;
	node_eval eval;
	struct tensor *value; /* [nvalues] */
	bool *known; /* [nvalues] */
	struct arena *arena;
};

static bool
run_node(
    struct walk *w, const struct node *n, struct tensor *out, struct err *err)
{
	const uint32_t nin = n->ninputs + n->nimplicit;
	const struct tensor **in =
	    arena_new(w->arena, const struct tensor *, nin);

	for (uint32_t i = 0; i < nin; i++) {
		const value_id v = n->input[i];

		if (v == VALUE_NONE)
			continue;
		in[i] = graph_value(w->graph, v)->constant;
		if (in[i] == NULL && w->known[v])
			in[i] = &w->value[v];
	}
	return w->eval(w->graph, n, in, out, w->arena, err);
}

bool
reference_values(struct tensor *value, const struct graph *g, node_eval eval,
    const struct perturbation *p, struct arena *a, struct err *err)
{
	struct walk w = {g, eval, value, arena_new(a, bool, g->nvalues), a};

	for (uint32_t i = 0; i < g->ninputs; i++)
		w.known[g->input[i]] = true;
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		struct tensor *out = arena_new(a, struct tensor, n->noutputs);

		if (!run_node(&w, n, out, err))
			return false;
		for (uint32_t i = 0; i < n->noutputs; i++) {
			const value_id v = n->output[i];

			if (v == VALUE_NONE)
				continue;
			if (p->seed)
				perturb(p, n, v, &out[i], a);
			value[v] = out[i];
			w.known[v] = true;
		}
	}
	return true;
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
    const struct tensor *want, node_eval eval, const double *error,
    struct err *err)
{
	bool ok = true;

	memset(movable, 0, g->nvalues * sizeof *movable);
	for (uint32_t seed = 1; ok && seed <= 2; seed++) {
		const struct perturbation p = {.seed = seed, .error = error};
		struct tensor *got;
		struct arena a;

		arena_init(&a);
		got = arena_new(&a, struct tensor, g->nvalues);
		for (uint32_t i = 0; i < g->ninputs; i++)
			got[g->input[i]] = want[g->input[i]];
		ok = reference_values(got, g, eval, &p, &a, err);
		if (ok)
			note_moves(movable, g, got, want);
		arena_release(&a);
	}
	return ok;
}

bool
outputs_movable(double *movable, const struct graph *g, const struct tensor *in,
    node_eval eval, double error, struct err *err)
{
	const struct perturbation none = {.seed = 0};
	struct tensor *want;
	struct arena a;
	double *all, *errors;
	bool ok;

	arena_init(&a);
	want = arena_new(&a, struct tensor, g->nvalues);
	all = arena_new(&a, double, g->nvalues);
	errors = arena_new(&a, double, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		errors[v] = error;
	for (uint32_t i = 0; i < g->ninputs; i++)
		want[g->input[i]] = in[i];
	ok = reference_values(want, g, eval, &none, &a, err)
	    && values_movable(all, g, want, eval, errors, err);
	for (uint32_t i = 0; ok && i < g->noutputs; i++)
		movable[i] = all[g->output[i]];
	arena_release(&a);
	return ok;
}
