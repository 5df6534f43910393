#include "tests/support/leeway.h"

#include <math.h>

#include "exec/perturbed.h"
#include "targets/widened.h"
#include "targets/host/host.h"

/* TUNING: what a float32 kernel's sums differ by at worst; what several roundings
 * to half precision do. */
#define ERROR_FLOAT 2e-6
#define ERROR_HALF 0x1p-9
/* TUNING: choices of signs for computed zeros, all the same in the first two; and
 * of which way rounding goes, where that decides between a number and none. */
#define ZEROS 18
#define ROUNDINGS 10 /* the last two all one way */
#define STAND_INS 16 /* of what is no number */
#define LOSSES 4 /* of NaN, by each node that makes some */
/* TUNING: how far from zero other roundings of a divisor may be, in roundings. */
#define BESIDE_POLE 4
/* TUNING: what rounding moves an element by at most, as the most of those. */
#define ROUNDING_TIMES 3
#define CHOICES (ZEROS + ROUNDINGS)

static struct perturbation
rounding(bool half)
{
	return (struct perturbation){
	    .all = half ? ERROR_HALF : ERROR_FLOAT, .halves = half};
}

static bool
run_perturbed(struct tensor *out, const struct check_set *s,
    const struct graph *g, const struct perturbation *how, struct arena *a)
{
	struct tensor *value = arena_new(a, struct tensor, g->nvalues);
	struct err err = {.kind = ERR_NONE};

	for (uint32_t i = 0; i < g->ninputs; i++)
		value[g->input[i]] = s->in[i];
	if (!reference_values(value, g, host_eval, how, a, &err))
		return false;
	for (uint32_t i = 0; i < g->noutputs; i++)
		out[i] = value[g->output[i]];
	return true;
}

/* From no number to one it moves by that. */
static double
moved(double x, double want)
{
	const double d =
	    ROUNDING_TIMES * (isfinite(want) ? fabs(x - want) : fabs(x));

	return isfinite(d) ? d : 0;
}

/* What rounding moves each element of an output by. */
static double *
slack_of(const struct check_set *s, uint32_t output, uint32_t noutputs,
    struct arena *a)
{
	const struct tensor *want = &s->want[output];
	double *slack = arena_new(a, double, want->count);

	for (uint32_t k = ZEROS; k < s->nalso; k++) {
		const struct tensor *t = &s->also[k * noutputs + output];

		for (size_t i = 0; t->count == want->count && i < t->count;
		     i++) {
			double d =
			    moved(tensor_real(t, i), tensor_real(want, i));

			slack[i] = d > slack[i] ? d : slack[i];
		}
	}
	return slack;
}

static bool
are_same(double x, double y)
{
	return x == y || (isnan(x) && isnan(y));
}

/* Elements that two runs do not agree on are left open; with `numbers`, where
 * both are numbers. */
static void
open_where_they_differ(double **slack, const struct tensor *want,
    const struct tensor *got, bool numbers, uint32_t noutputs)
{
	for (uint32_t i = 0; i < noutputs; i++)
		for (size_t e = 0; e < want[i].count && e < got[i].count; e++) {
			const double x = tensor_real(&want[i], e);
			const double y = tensor_real(&got[i], e);

			if (!are_same(x, y) && !(numbers && isnan(y)))
				slack[i][e] = (double)INFINITY;
		}
}

/* Another run: where it comes to another number, that is open. With .nan_spreads
 * what is NaN only then is no number. */
static bool
open_by(double **slack, const struct check_set *s, const struct graph *g,
    const struct perturbation *how, struct arena *a)
{
	struct tensor *out = arena_new(a, struct tensor, g->noutputs);

	if (!run_perturbed(out, s, g, how, a))
		return false;
	open_where_they_differ(
	    slack, s->want, out, how->nan_spreads, g->noutputs);
	return true;
}

/* What depends on what is not finite under a maximum, and on quotients beside a
 * pole: anything may stand for it. Where NaN may be lost, what depends on any; its
 * stand-ins meet zeros of either sign. Where more of it may come out, what is made
 * of that on the way: it is NaN or the right number itself, but a quantiser makes
 * any number of it. */
static bool
open_what_depends(double **slack, const struct check_set *s,
    const struct graph *g, bool half, struct arena *a)
{
	bool ok = true;

	for (uint32_t k = 1; ok && k <= STAND_INS; k++) {
		const struct perturbation any = {.seed = k,
		    .open_infinite = true,
		    .open_poles = BESIDE_POLE * rounding(half).all,
		    .nan_lost = s->no_nan && k % 2 == 0,
		    .nan_lost_by = NODE_NONE,
		    .nan_spreads = s->more_nan && k % 2 == 1,
		    .zeros = (s->no_nan || s->more_nan) && k % 4 == 0};

		ok = open_by(slack, s, g, &any, a);
	}
	return ok;
}

static bool
has_nan(const struct tensor *t)
{
	bool found = false;

	for (size_t i = 0; t->dtype == DT_FLOAT && i < t->count; i++)
		found |= isnan(tensor_real(t, i));
	return found;
}

/* One kernel may lose what all others keep. */
static bool
open_what_one_loses(double **slack, const struct check_set *s,
    const struct graph *g, struct arena *a)
{
	const struct perturbation none = {.seed = 0};
	struct tensor *value = arena_new(a, struct tensor, g->nvalues);
	struct err err = {.kind = ERR_NONE};
	bool ok;

	for (uint32_t i = 0; i < g->ninputs; i++)
		value[g->input[i]] = s->in[i];
	ok = reference_values(value, g, host_eval, &none, a, &err);
	for (node_id n = 0; ok && n < g->nnodes; n++) {
		const value_id v = graph_node(g, n)->output[0];

		for (uint32_t k = 1;
		     ok && v != VALUE_NONE && k <= LOSSES && has_nan(&value[v]);
		     k++) {
			const struct perturbation one = {
			    .seed = k, .nan_lost = true, .nan_lost_by = n};

			ok = open_by(slack, s, g, &one, a);
		}
	}
	return ok;
}

/* Number i of what may be chosen. */
static struct perturbation
choice(uint32_t i, bool half)
{
	struct perturbation r;

	if (i < ZEROS)
		return (struct perturbation){.zeros = true};
	r = rounding(half);
	r.one_way = i == CHOICES - 1 ? 1 : i == CHOICES - 2 ? -1 : 0;
	return r;
}

static void
give(struct check_set *s, const struct graph *g, bool half, struct arena *a)
{
	struct tensor *also =
	    arena_new(a, struct tensor, CHOICES * g->noutputs);
	double **slack = arena_new(a, double *, g->noutputs);

	s->also = also;
	for (s->nalso = 0; s->nalso < CHOICES; s->nalso++) {
		struct perturbation how = choice(s->nalso, half);

		how.seed = s->nalso + 1;
		if (!run_perturbed(
		        &also[s->nalso * g->noutputs], s, g, &how, a))
			return;
	}
	for (uint32_t i = 0; i < g->noutputs; i++)
		slack[i] = slack_of(s, i, g->noutputs, a);
	if (!open_what_depends(slack, s, g, half, a)
	    || (s->no_nan && !open_what_one_loses(slack, s, g, a)))
		return;
	s->slack = (const double *const *)slack;
	s->nrounded = ROUNDINGS;
}

/* Of a model of halves roundings are looked at in floats. */
void
leeway_give(
    struct check_set *s, const struct graph *g, bool half, struct arena *a)
{
	struct tensor *in = arena_new(a, struct tensor, g->ninputs);
	const struct tensor *own = s->in;
	struct widened_graph w;

	if (!graph_widen(&w, g, a)) {
		give(s, g, half, a);
		return;
	}
	for (uint32_t i = 0; i < g->ninputs; i++) {
		in[i] = tensor_widened(&own[i], a);
		in[i] = tensor_opened(&in[i], a);
	}
	s->in = in;
	give(s, w.graph, true, a);
	s->in = own;
}
