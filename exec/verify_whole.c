#include "exec/verify_state.h"

#include "costmodel/tolerance.h"
#include "exec/executor.h"

/* What a whole plan may differ by. */
struct limit {
	bool half;
	double floor; /* what its loosest composite may */
	const struct tensor *shaken; /* [nvalues], NULL: not asked yet */
};

static struct limit
limit_of_plan(const struct verify_state *w)
{
	const struct plan *p = w->plan;
	struct limit l = {.half = false};

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = verify_candidate(w, i);
		const double allowed = tolerance_of(p->graph, p->mix, c);

		l.half |= tolerance_is_half(p->graph, p->mix, c);
		l.floor = allowed > l.floor ? allowed : l.floor;
	}
	return l;
}

/* The composites' errors by themselves, put into the reference and carried
 * through it: what they explain is no fault of the whole. */
static bool
shake_reference(struct verify_state *w, struct limit *l, struct err *err)
{
	const struct graph *g = w->plan->graph;
	struct verify_state other = *w;

	other.shaken = true;
	other.value = arena_new(w->arena, struct tensor, g->nvalues);
	other.known = arena_new(w->arena, bool, g->nvalues);
	if (!verify_inputs(&other, err) || !verify_reference(&other, err))
		return false;
	l->shaken = other.value;
	return true;
}

static double
limit_at(const struct verify_state *w, const struct limit *l, value_id v)
{
	double d = VERIFY_TIMES
	    * verify_difference(&l->shaken[v], &w->value[v], l->half);

	return d > l->floor ? d : l->floor;
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

static double
worst_of_plan(
    const struct verify_state *w, const struct tensor *got, struct limit *l)
{
	const struct graph *g = w->plan->graph;
	double worst = 0;

	for (uint32_t i = 0; i < g->noutputs; i++) {
		const value_id v = g->output[i];
		double d = graph_value(g, v)->constant
		    ? 0
		    : verify_difference(&got[i], &w->value[v], l->half);

		if (l->shaken && d <= limit_at(w, l, v))
			continue;
		worst = d > worst ? d : worst;
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
		const struct candidate *c = verify_candidate(w, i);

		for (uint32_t k = 0; k < c->noutputs; k++) {
			const value_id v = c->output[k].value;
			struct tensor t;

			if (executor_value(x, v, &t)
			    && !(verify_difference(&t, &w->value[v], l->half)
			        <= limit_at(w, l, v)))
				first = i;
		}
	}
	executor_close(x);
	return first;
}

/* What the plan gave, against the reference. */
static bool
judge(struct verify_state *w, const struct tensor *got)
{
	struct limit l = limit_of_plan(w);
	struct err err = {.kind = ERR_NONE};
	double worst, beyond;
	uint32_t at;

	worst = worst_of_plan(w, got, &l);
	if (worst <= l.floor)
		return verify_say(w, VERIFY_RIGHT, 0, worst, "");
	if (!shake_reference(w, &l, &err))
		return verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
	beyond = worst_of_plan(w, got, &l);
	if (beyond == 0)
		return verify_say(w, VERIFY_RIGHT, 0, worst, "");
	at = first_wrong(w, &l);
	return at < w->plan->ncomposites
	    ? verify_say(w, VERIFY_WRONG_TOGETHER, at, beyond, "")
	    : verify_say(w, VERIFY_WRONG_WHOLE, 0, beyond, "");
}

bool
verify_whole(struct verify_state *w)
{
	struct tensor *got =
	    arena_new(w->arena, struct tensor, w->plan->graph->noutputs);
	struct err err = {.kind = ERR_NONE};
	struct executor *x;

	if (!run_whole(w, false, &x, got, &err))
		return verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
	judge(w, got);
	executor_close(x);
	return true;
}
