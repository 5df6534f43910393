#include "exec/verify_whole.h"

#include <math.h>

#include "costmodel/tolerance.h"
#include "exec/allowed.h"
#include "exec/executor.h"
#include "exec/perturbed.h"
#include "ir/compare.h"
#include "targets/quant.h"

/* What a whole plan may differ by, as parts of values' ranges. */
struct limit {
	bool half;
	double floor; /* what its loosest composite may */
	struct allowance allowance;
	const double *movable; /* [nvalues]: what the composites' errors by
	                        * themselves, carried through the model, do;
	                        * NULL: not asked yet */
};

/* Does the candidate round to 8 bits what the model does not? What that loses is
 * another question (exec/accuracy.h). */
static bool
rounds(const struct plan *p, const struct candidate *c)
{
	const struct formats *f = &p->mix->formats;

	for (uint32_t i = 0; i < c->ninputs + c->noutputs; i++) {
		const struct port *port =
		    i < c->ninputs ? &c->input[i] : &c->output[i - c->ninputs];
		const struct quant *q = format_quant(f, port->value);

		if (q && !q->is_own && p->mix->target[c->target].quantises)
			return true;
	}
	return false;
}

static struct limit
limit_of_plan(const struct verify_state *w)
{
	const struct plan *p = w->plan;
	struct limit l = {.allowance = allowance_of(p->graph)};

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
		const double allowed = tolerance_of(p->graph, p->mix, c);

		if (rounds(p, c))
			l.floor = (double)INFINITY;
		l.half |= tolerance_is_half(p->graph, p->mix, c);
		l.floor = allowed > l.floor ? allowed : l.floor;
	}
	return l;
}

/* What the composites' errors explain is no fault of the whole. */
static bool
perturb_reference(struct verify_state *w, struct limit *l, struct err *err)
{
	const struct graph *g = w->plan->graph;
	const struct perturbation how = {.error = w->error, .zeros = true};
	double *movable = arena_new(w->arena, double, g->nvalues);

	l->movable = movable;
	return values_movable(
	    movable, g, w->value, w->options->reference, &how, err);
}

static bool
is_within(const struct limit *l, value_id v, double difference)
{
	return difference <= l->floor
	    || (l->movable && difference <= l->movable[v]);
}

/* Behind a requantisation a right output may be a step off. */
static bool
is_within_step(const struct limit *l, value_id v, const struct tensor *got,
    const struct tensor *want)
{
	const struct tolerance made_up = {.made_up = true};
	struct comparison c;

	if (!l->allowance.requantises)
		return false;
	tensors_compare(&c, got, want, &made_up);
	return c.same_shape
	    && c.max_error <= output_allowed(&l->allowance, v, c.range);
}

/* What it opens is the caller's to close. */
static bool
run_whole(struct verify_state *w, bool keep_all, struct executor **x,
    struct tensor *got, struct err *err)
{
	const struct executor_options o = {
	    .threads = w->options->threads, .keep_all = keep_all};
	const struct graph *g = w->plan->graph;
	struct tensor *in = arena_new(w->arena, struct tensor, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++)
		in[i] = w->value[g->input[i]];
	if (!executor_open(x, w->plan, &o, w->arena, err))
		return false;
	if (executor_run(*x, in, got, err))
		return true;
	executor_close(*x);
	return false;
}

/* The largest difference of an output from what it should be, *wrong of one that
 * is beyond what it may be off by. */
static double
worst_of_plan(const struct verify_state *w, const struct tensor *got,
    const struct limit *l, double *wrong)
{
	const struct graph *g = w->plan->graph;
	double worst = 0;

	*wrong = 0;
	for (uint32_t i = 0; i < g->noutputs; i++) {
		const value_id v = g->output[i];
		double d;

		if (graph_value(g, v)->constant)
			continue;
		d = verify_difference(&got[i], &w->value[v], l->half);
		worst = fmax(worst, d);
		if (!is_within(l, v, d)
		    && !is_within_step(l, v, &got[i], &w->value[v]))
			*wrong = fmax(*wrong, d);
	}
	return worst;
}

/* The first composite of the plan whose output is not what is expected, seen
 * with all values kept; ncomposites if none: then it takes reused memory. */
static uint32_t
first_wrong(struct verify_state *w, const struct limit *l)
{
	const struct plan *p = w->plan;
	struct tensor *got =
	    arena_new(w->arena, struct tensor, p->graph->noutputs);
	struct err err = {.kind = ERR_NONE};
	struct executor *x;
	uint32_t first = p->ncomposites;

	if (!run_whole(w, true, &x, got, &err))
		return first;
	for (uint32_t i = 0; i < first; i++) {
		const struct candidate *c = plan_candidate(p, i);

		for (uint32_t k = 0; k < c->noutputs; k++) {
			const value_id v = c->output[k].value;
			struct tensor t;

			if (executor_value(x, v, &t)
			    && !is_within(l, v,
			        verify_difference(&t, &w->value[v], l->half)))
				first = i;
		}
	}
	executor_close(x);
	return first;
}

/* What the plan gave, against the reference. */
static void
judge(struct verify_state *w, const struct tensor *got)
{
	struct limit l = limit_of_plan(w);
	struct err err = {.kind = ERR_NONE};
	double worst, wrong;
	uint32_t at;

	worst = worst_of_plan(w, got, &l, &wrong);
	if (wrong > 0) {
		if (!perturb_reference(w, &l, &err)) {
			verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
			return;
		}
		worst_of_plan(w, got, &l, &wrong);
	}
	if (wrong == 0) {
		verify_say(w, VERIFY_RIGHT, 0, worst, "");
		return;
	}
	at = first_wrong(w, &l);
	if (at < w->plan->ncomposites)
		verify_say(w, VERIFY_WRONG_TOGETHER, at, wrong, "");
	else
		verify_say(w, VERIFY_WRONG_WHOLE, 0, wrong, "");
}

void
verify_whole(struct verify_state *w)
{
	struct tensor *got =
	    arena_new(w->arena, struct tensor, w->plan->graph->noutputs);
	struct err err = {.kind = ERR_NONE};
	struct executor *x;

	if (!run_whole(w, false, &x, got, &err)) {
		verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
		return;
	}
	judge(w, got);
	executor_close(x);
}
