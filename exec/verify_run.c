#include "exec/verify_run.h"

#include "costmodel/roofline.h"
#include "costmodel/seed.h"
#include "exec/apart.h"
#include "exec/perturbed.h"
#include "exec/verify_composite.h"
#include "exec/verify_state.h"
#include "exec/verify_whole.h"
#include "ir/base/shared_memory.h"
#include "targets/threads.h"

/* TUNING: a process that has not finished by then hangs. */
#define SECONDS 300

/* ---- the stated size ---- */

static bool
is_beyond(const struct plan *p)
{
	uint64_t flops = 0, bytes = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
		struct work w = work_of_candidate(p->graph, p->mix, c);

		flops += w.flops;
		bytes += w.bytes;
	}
	return flops > VERIFY_FLOPS || bytes > VERIFY_BYTES;
}

/* ---- in its process ---- */

static bool
seed_inputs(struct verify_state *w, struct err *err)
{
	const struct graph *g = w->plan->graph;

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const value_id v = g->input[i];

		if (!seed_tensor(&w->value[v], g, v, 0, w->arena))
			return err_set(err, ERR_UNSUPPORTED,
			    "input '%s' has no static shape",
			    graph_value(g, v)->name);
	}
	return true;
}

static bool
compute_reference(struct verify_state *w, struct err *err)
{
	const struct perturbation none = {.seed = 0};
	const struct graph *g = w->plan->graph;

	w->value = arena_new(w->arena, struct tensor, g->nvalues);
	return seed_inputs(w, err)
	    && reference_values(
	        w->value, g, w->options->reference, &none, w->arena, err);
}

static bool
has_opaque(const struct verify_state *w)
{
	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		if (plan_candidate(w->plan, i)->opaque)
			return true;
	return false;
}

/* What remains to be said once every composite was found to be buildable. */
static void
conclude(struct verify_state *w, const struct verified_as *unknown)
{
	if (unknown->kind == VERIFY_UNKNOWN) {
		*w->verdict = *unknown;
	} else if (w->only_build) {
		verify_say(w,
		    w->options->only_build ? VERIFY_BUILT : VERIFY_BEYOND, 0, 0,
		    "");
	} else if (has_opaque(w)) {
		verify_say(w, VERIFY_PARTS, 0, 0, "");
	} else {
		verify_say(
		    w, VERIFY_UNKNOWN, 0, 0, "the plan ended its process");
		verify_whole(w);
	}
}

/* What the reference cannot run is built all the same. */
static void
verify_here(struct verify_state *w)
{
	struct verified_as unknown = {.kind = VERIFY_RIGHT};
	struct err err = {.kind = ERR_NONE};

	target_threads_set(w->options->threads ? w->options->threads : 1);
	w->error = arena_new(w->arena, double, w->plan->graph->nvalues);
	verify_say(w, VERIFY_UNKNOWN, 0, 0, "the reference ended its process");
	if (!w->only_build && !compute_reference(w, &err)) {
		verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
		unknown = *w->verdict;
		w->only_build = true;
	}
	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		if (!verify_composite(w, i))
			return;
	conclude(w, &unknown);
}

/* ---- apart ---- */

static void
verify_apart(void *context, struct arena *a)
{
	struct verify_state *w = context;

	w->arena = a;
	verify_here(w);
}

bool
verify_run(struct verified_as *out, const struct plan *p,
    const struct verify_options *o, struct err *err)
{
	struct verify_state w = {.plan = p, .options = o};
	bool ok;

	w.only_build = o->only_build || (!o->whatever_size && is_beyond(p));
	w.verdict = shared_memory_new(sizeof *w.verdict);
	if (!w.verdict)
		return err_set(
		    err, ERR_MEASURE, "no memory to verify the plan with");
	ok = apart_run(verify_apart, &w, SECONDS, err);
	*out = *w.verdict;
	shared_memory_end(w.verdict, sizeof *w.verdict);
	return ok;
}
