#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "exec/verify_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costmodel/roofline.h"
#include "costmodel/seed.h"
#include "costmodel/trial.h"
#include "exec/executor.h"
#include "targets/convert.h"
#include "targets/threads.h"

/* TUNING: of the range of a composite's output; see costmodel/trial.c. */
#define ALLOWED_F32 1e-4
#define ALLOWED_F16 2e-2
/* TUNING: a process that has not finished by then hangs. */
#define SECONDS 300

/* What the process at work leaves behind, however it ends. */
struct progress {
	bool done;
	struct verified_as verdict;
};

struct work_in {
	const struct plan *plan;
	const struct verify_options *options;
	struct progress *at;
	struct arena *arena;
	struct tensor *value; /* [nvalues] as the reference has them */
	bool *known;
};

/* ---- the stated size ---- */

static bool
is_beyond(const struct plan *p)
{
	uint64_t flops = 0, bytes = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c =
		    &p->candidates->candidate[p->composite[i].candidate];
		struct work w = work_of_candidate(p->graph, p->mix, c);

		flops += w.flops;
		bytes += w.bytes;
	}
	return flops > VERIFY_FLOPS || bytes > VERIFY_BYTES;
}

/* ---- the reference ---- */

static bool
seed_inputs(struct work_in *w, struct err *err)
{
	const struct graph *g = w->plan->graph;

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const value_id v = g->input[i];
		const struct type *t = &graph_value(g, v)->type;
		size_t n, bytes;
		void *data;

		if (t->kind != TYPE_TENSOR || !type_is_static(t)
		    || !tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
			return err_set(err, ERR_UNSUPPORTED,
			    "input '%s' has no static shape",
			    graph_value(g, v)->name);
		data = seed_buffer(w->arena, bytes);
		seed_value(g, v, data);
		w->value[v] = tensor_view(t->dtype, t->rank, t->dim, data);
		w->known[v] = true;
	}
	return true;
}

static bool
run_reference(struct work_in *w, struct err *err)
{
	const struct graph *g = w->plan->graph;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		const uint32_t nin = n->ninputs + n->nimplicit;
		const struct tensor **in =
		    arena_new(w->arena, const struct tensor *, nin);
		struct tensor *out =
		    arena_new(w->arena, struct tensor, n->noutputs);

		for (uint32_t i = 0; i < nin; i++) {
			value_id v = n->input[i];

			if (v == VALUE_NONE)
				continue;
			in[i] = graph_value(g, v)->constant;
			if (in[i] == NULL && w->known[v])
				in[i] = &w->value[v];
		}
		if (!w->options->reference(g, n, in, out, w->arena, err))
			return false;
		for (uint32_t i = 0; i < n->noutputs; i++)
			if (n->output[i] != VALUE_NONE) {
				w->value[n->output[i]] = out[i];
				w->known[n->output[i]] = true;
			}
	}
	return true;
}

/* ---- comparing ---- */

/* Largest difference as a part of the range; where the reference has NaN or
 * infinities nothing is asked, nor where half precision overflows: made-up
 * inputs and weights do that. */
static double
difference(const struct tensor *got, const struct tensor *want, bool half)
{
	double worst = 0, range = 0;

	if (got->dtype != want->dtype || got->count != want->count)
		return (double)INFINITY;
	if (want->kind > TENSOR_FILL)
		return 0;
	for (size_t i = 0; i < want->count; i++) {
		double y = tensor_real(want, i), x = tensor_real(got, i), d;

		if (!isfinite(y) || (half && !isfinite(x)))
			continue;
		d = fabs(x - y);
		worst = d > worst || isnan(d) ? d : worst;
		range = fabs(y) > range ? fabs(y) : range;
		if (isnan(worst))
			return (double)INFINITY;
	}
	return range > 1e-6 ? worst / range : worst;
}

static bool
is_half(const struct plan *p, const struct candidate *c)
{
	const struct format *f = p->mix->formats.format;

	for (uint32_t i = 0; i < c->ninputs; i++)
		if (f[c->input[i].format].dtype == DT_FLOAT16)
			return true;
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (f[c->output[i].format].dtype == DT_FLOAT16
		    || graph_value(p->graph, c->output[i].value)->type.dtype
		        == DT_FLOAT16)
			return true;
	return false;
}

/* ---- one composite ---- */

/* Move a value between a format and C order. */
static bool
convert(struct work_in *w, format_id from, format_id to, value_id v,
    const void *in, void *out, struct err *err)
{
	const struct format *f = w->plan->mix->formats.format;
	const struct type *t = &graph_value(w->plan->graph, v)->type;
	struct converter c;

	if (!converter_new(&c, f[from], f[to], t, w->arena, err))
		return false;
	c.run(&c, in, out);
	if (c.release)
		c.release(&c);
	return true;
}

/* The reference's values in the place of the trial's own. */
static bool
fill_inputs(struct work_in *w, struct trial *t, struct err *err)
{
	const struct candidate *c = t->candidate;

	for (uint32_t i = 0; i < c->ninputs; i++) {
		const struct port *p = &c->input[i];
		const void *plain = tensor_data(&w->value[p->value], w->arena);
		union {
			const void *in;
			void *out;
		} to = {.in = t->in[i]};

		if (p->format == FORMAT_PLAIN)
			memcpy(to.out, plain, w->value[p->value].bytes);
		else if (!convert(w, FORMAT_PLAIN, p->format, p->value, plain,
		             to.out, err))
			return false;
	}
	return true;
}

static double
worst_output(struct work_in *w, struct trial *t, struct err *err)
{
	const struct candidate *c = t->candidate;
	double worst = 0;

	for (uint32_t i = 0; i < c->noutputs; i++) {
		const struct port *p = &c->output[i];
		const struct type *type =
		    &graph_value(w->plan->graph, p->value)->type;
		const struct format *f = w->plan->mix->formats.format;
		void *plain =
		    seed_buffer(w->arena, format_bytes(f[FORMAT_PLAIN], type));
		struct tensor got;
		double d;

		if (!convert(w, p->format, FORMAT_PLAIN, p->value, t->out[i],
		        plain, err))
			return 0;
		got = tensor_view(type->dtype, type->rank, type->dim, plain);
		d = difference(&got, &w->value[p->value], is_half(w->plan, c));
		worst = d > worst ? d : worst;
	}
	return worst;
}

static bool
say(struct work_in *w, enum verified_kind kind, uint32_t composite,
    double error, const char *detail)
{
	struct verified_as *v = &w->at->verdict;

	*v = (struct verified_as){
	    .kind = kind, .composite = composite, .error = error};
	snprintf(v->detail, sizeof v->detail, "%s", detail);
	w->at->done = kind != VERIFY_DIED;
	return false;
}

/* The host computes what the reference does, by the same code. */
static bool
check_composite(struct work_in *w, uint32_t i)
{
	const struct plan *p = w->plan;
	const struct candidate *c =
	    &p->candidates->candidate[p->composite[i].candidate];
	const struct target_kind *k = p->mix->target[c->target].kind;
	struct err err = {.kind = ERR_NONE}, fault = {.kind = ERR_NONE};
	struct trial t;
	double d;

	if (strcmp(k->name, "host") == 0 || !k->compile)
		return true;
	say(w, VERIFY_DIED, i, 0, "");
	if (!trial_open(&t, p->graph, p->mix, c, w->arena, &err))
		return err.kind == ERR_UNSUPPORTED
		    ? say(w, VERIFY_REFUSED, i, 0, err.text)
		    : true;
	if (t.kernel.run == NULL)
		return true;
	t.kernel.fault = &fault;
	if (!fill_inputs(w, &t, &err))
		return true;
	trial_run(&t);
	d = worst_output(w, &t, &err);
	trial_close(&t);
	if (fault.kind != ERR_NONE)
		return say(w, VERIFY_REFUSED, i, 0, fault.text);
	if (d > (is_half(p, c) ? ALLOWED_F16 : ALLOWED_F32))
		return say(w, VERIFY_WRONG, i, d, "");
	return true;
}

/* ---- the whole plan ---- */

static bool
check_whole(struct work_in *w)
{
	const struct executor_options o = {.threads = w->options->threads};
	const struct graph *g = w->plan->graph;
	struct tensor *in = arena_new(w->arena, struct tensor, g->ninputs);
	struct tensor *got = arena_new(w->arena, struct tensor, g->noutputs);
	struct err err = {.kind = ERR_NONE};
	struct executor *x;
	bool half = false;
	double worst = 0;

	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		half |= is_half(w->plan,
		    &w->plan->candidates
		         ->candidate[w->plan->composite[i].candidate]);
	for (uint32_t i = 0; i < g->ninputs; i++)
		in[i] = w->value[g->input[i]];
	if (!executor_open(&x, w->plan, &o, w->arena, &err)
	    || !executor_run(x, in, got, &err))
		return say(w, VERIFY_UNKNOWN, 0, 0, err.text);
	for (uint32_t i = 0; i < g->noutputs; i++) {
		const struct value *v = graph_value(g, g->output[i]);
		double d = v->constant
		    ? 0
		    : difference(&got[i], &w->value[g->output[i]], half);

		worst = d > worst ? d : worst;
	}
	return say(w, VERIFY_RIGHT, 0, worst, "");
}

static void
verify_here(struct work_in *w)
{
	const struct graph *g = w->plan->graph;
	struct err err = {.kind = ERR_NONE};

	target_threads_set(w->options->threads ? w->options->threads : 1);
	w->value = arena_new(w->arena, struct tensor, g->nvalues);
	w->known = arena_new(w->arena, bool, g->nvalues);
	say(w, VERIFY_UNKNOWN, 0, 0, "the reference ended its process");
	w->at->done = false;
	if (!seed_inputs(w, &err) || !run_reference(w, &err)) {
		say(w, VERIFY_UNKNOWN, 0, 0, err.text);
		return;
	}
	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		if (!check_composite(w, i))
			return;
	say(w, VERIFY_UNKNOWN, 0, 0, "the plan ended its process");
	check_whole(w);
}

/* ---- apart ---- */

bool
verify_run(struct verified_as *out, const struct plan *p,
    const struct verify_options *o, struct err *err)
{
	struct work_in w = {.plan = p, .options = o};
	struct arena arena;
	pid_t child;
	int status;

	*out = (struct verified_as){.kind = VERIFY_BEYOND};
	if (!o->whatever_size && is_beyond(p))
		return true;
	w.at = mmap(NULL, sizeof *w.at, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.at == MAP_FAILED || (child = fork()) < 0)
		return err_set(
		    err, ERR_MEASURE, "no process to verify the plan in");
	if (child == 0) {
		arena_init(&arena);
		w.arena = &arena;
		alarm(SECONDS);
		verify_here(&w);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	*out = w.at->verdict;
	munmap(w.at, sizeof *w.at);
	return true;
}
