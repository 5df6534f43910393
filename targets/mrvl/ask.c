#include "targets/mrvl/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/command.h"
#include "targets/convert.h"
#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/cost.h"
#include "targets/mrvl/options.h"

/* A region between the ports it has in a plan (float16 on the device) and what
 * the tools read and write: float32, inputs in the order of their ONNX shape,
 * outputs in the order of their port. */
struct tooled {
	const struct region *region;
	struct layers layers;
	struct tool_session *session;
	struct tool_result result;
	struct converter *before, *after; /* [ninputs], [noutputs] */
	float **in, **out;
	struct arena arena; /* all of it, and what the session makes */
};

/* ---- preparing ---- */

static bool
add_buffer(struct tooled *x, struct converter *c, float **buffer,
    const struct port *port, bool is_input, struct err *err)
{
	const struct format *known = x->region->target->formats->format;
	const struct type *type =
	    &graph_value(x->region->graph, port->value)->type;
	struct format outside = known[port->format], inside = outside;

	inside.space = SPACE_HOST;
	inside.dtype = DT_FLOAT;
	if (is_input)
		inside.layout = LAYOUT_PLAIN;
	*buffer = arena_alloc(&x->arena, format_bytes(inside, type) + 64);
	return converter_new(c,
	    &(struct format_change){is_input ? outside : inside,
	        is_input ? inside : outside, type, NULL},
	    &x->arena, err);
}

static bool
add_buffers(struct tooled *x, struct err *err)
{
	const struct region *r = x->region;

	x->before = arena_new(&x->arena, struct converter, r->ninputs);
	x->after = arena_new(&x->arena, struct converter, r->noutputs);
	x->in = arena_new(&x->arena, float *, r->ninputs);
	x->out = arena_new(&x->arena, float *, r->noutputs);
	for (uint32_t i = 0; i < r->ninputs; i++)
		if (!add_buffer(
		        x, &x->before[i], &x->in[i], &r->input[i], true, err))
			return false;
	for (uint32_t i = 0; i < r->noutputs; i++)
		if (!add_buffer(
		        x, &x->after[i], &x->out[i], &r->output[i], false, err))
			return false;
	return true;
}

static void
tooled_close(struct tooled *x)
{
	for (uint32_t i = 0; x->before && i < x->region->ninputs; i++)
		if (x->before[i].release)
			x->before[i].release(&x->before[i]);
	for (uint32_t i = 0; x->after && i < x->region->noutputs; i++)
		if (x->after[i].release)
			x->after[i].release(&x->after[i]);
	if (x->session)
		tool_session_close(x->session, &x->result);
	arena_release(&x->arena);
}

/* Compile. What the compiler did is in the result; false: a region it could not
 * even be given, or a fault on this side. */
static bool
tooled_open(struct tooled *x, const struct region *r, struct err *err)
{
	const struct tool_job job = {
	    &mrvl_of(r->target)->tools, r->target, &x->layers};

	*x = (struct tooled){.region = r};
	arena_init(&x->arena);
	return mrvl_layers(&x->layers, r, &x->arena, err) && add_buffers(x, err)
	    && tool_session_open(&x->session, &x->result, &job, &x->arena, err);
}

static bool
tooled_run(
    struct tooled *x, const void *const *in, void *const *out, struct err *err)
{
	const struct region *r = x->region;

	for (uint32_t i = 0; i < r->ninputs; i++)
		x->before[i].run(&x->before[i], in[i], x->in[i]);
	if (!tool_session_run(x->session, &x->result,
	        (const float *const *)x->in, x->out, err))
		return false;
	for (uint32_t i = 0; x->result.outcome == TOOL_OK && i < r->noutputs;
	     i++)
		x->after[i].run(&x->after[i], x->out[i], out[i]);
	return true;
}

/* ---- prices ---- */

static bool
changes_shapes_only(const struct region *r)
{
	struct arena scratch;
	struct layer l;
	bool free = true;

	arena_init(&scratch);
	for (uint32_t i = 0; free && i < r->ncandidates; i++) {
		const struct candidate *c = r->candidate[i];

		mrvl_layer_sizes_of(&l, r->graph, c->rule, c->match, &scratch);
		free = work_of(&l, mrvl_of(r->target)->int8).free;
	}
	arena_release(&scratch);
	return free;
}

static void
set_figures(struct sample *answer, const struct estimate *e)
{
	answer->outcome = OUTCOME_OK;
	answer->n = 1;
	answer->low = answer->median = answer->min = e->ns ? e->ns : 1;
	answer->high = e->high > answer->low ? e->high : answer->low;
}

/* What the simulation of this program says, when the tools have no figure. */
static void
answer_simulated(
    const struct tooled *x, struct sample *answer, const char *words)
{
	struct estimate e = {.ns = 0};

	mrvl_simulate(x->region, &e);
	set_figures(answer, &e);
	snprintf(answer->detail, sizeof answer->detail, "%s%s%s", words,
	    e.assumed ? "; cycles rest on " : "", e.assumed ? e.assumed : "");
}

static void
answer_compiled(const struct tooled *x, struct sample *answer)
{
	const struct mrvl_tools *tools = &mrvl_of(x->region->target)->tools;
	const struct mrvl_binary *b = &x->result.binary;
	char words[sizeof answer->detail];

	snprintf(words, sizeof words,
	    "compiled: %u layers, %u B code, %u B data, tiles %u-%u",
	    b->nlayers, b->code_bytes, b->data_bytes, b->first_tile,
	    b->last_tile);
	if (!tools->latency) {
		answer_simulated(x, answer, words);
		return;
	}
	set_figures(answer,
	    &(struct estimate){
	        .ns = (cost_ns)(x->result.latency * tools->ns_per_unit + 0.5)});
	snprintf(answer->detail, sizeof answer->detail, "%s", words);
}

static void
answer_failure(struct sample *answer, const struct tool_result *r)
{
	static const enum outcome outcome[] = {
	    [TOOL_MISSING] = OUTCOME_UNSUPPORTED,
	    [TOOL_FAILED] = OUTCOME_UNSUPPORTED,
	    [TOOL_TIMEOUT] = OUTCOME_TIMEOUT,
	    [TOOL_CRASHED] = OUTCOME_CRASH,
	    [TOOL_GARBAGE] = OUTCOME_WRONG,
	};

	answer->outcome = outcome[r->outcome];
	snprintf(answer->detail, sizeof answer->detail, "%s%s%s", r->detail,
	    r->folder ? "; see " : "", r->folder ? r->folder : "");
}

bool
mrvl_ask(const struct region *r, const void *const *in, void *const *out,
    struct sample *answer)
{
	struct err err = {.kind = ERR_NONE};
	struct tooled x = {.region = r};
	bool simulates = mrvl_of(r->target)->tools.simulator != NULL,
	     computed = false;

	*answer = (struct sample){.outcome = OUTCOME_CRASH};
	if (changes_shapes_only(r)) {
		answer_simulated(&x, answer,
		    "shapes only: absorbed by its neighbours, not compiled");
		return false;
	}
	if (tooled_open(&x, r, &err) && x.result.outcome == TOOL_OK
	    && simulates)
		tooled_run(&x, in, out, &err);
	if (x.session)
		tool_session_close(x.session, &x.result);
	if (err.kind != ERR_NONE) {
		if (err.kind == ERR_UNSUPPORTED)
			answer->outcome = OUTCOME_UNSUPPORTED;
		snprintf(answer->detail, sizeof answer->detail, "%s", err.text);
	} else if (x.result.outcome != TOOL_OK) {
		answer_failure(answer, &x.result);
	} else {
		computed = simulates;
		answer_compiled(&x, answer);
	}
	tooled_close(&x);
	return computed;
}

void
mrvl_tools_facts(struct buf *b, const struct mrvl_tools *t)
{
	if (!t->compiler) {
		buf_str(b, "tmlc=none\n");
		return;
	}
	command_facts(b, "tmlc", t->compiler);
	if (t->simulator)
		command_facts(b, "mlsim", t->simulator);
	if (t->latency)
		buf_printf(b, "latency=%s\nns_per_unit=%.17g\n", t->latency,
		    t->ns_per_unit);
}

/* ---- running ---- */

static bool
tool_fault(const struct tooled *x, struct err *err)
{
	return err_set(err, ERR_TARGET, "'%s': %s%s%s", x->region->target->text,
	    x->result.detail, x->result.folder ? "; see " : "",
	    x->result.folder ? x->result.folder : "");
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct tooled *x = k->state;
	struct err err = {.kind = ERR_NONE};

	if (tooled_run(x, in, out, &err) && x->result.outcome != TOOL_OK)
		tool_fault(x, &err);
	if (err.kind != ERR_NONE && k->fault)
		*k->fault = err;
}

static void
release(struct kernel *k)
{
	tooled_close(k->state);
}

bool
mrvl_compile_region(const struct region *r, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct tooled *x;

	*out = (struct kernel){.kind = r->target->kind};
	if (!mrvl_of(r->target)->tools.simulator)
		return true;
	x = arena_new(a, struct tooled, 1);
	if (!tooled_open(x, r, err) || x->result.outcome != TOOL_OK) {
		if (x->session)
			tool_session_close(x->session, &x->result);
		if (err->kind == ERR_NONE)
			tool_fault(x, err);
		tooled_close(x);
		return false;
	}
	out->run = run;
	out->release = release;
	out->state = x;
	return true;
}
