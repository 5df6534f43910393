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
#include "costmodel/tolerance.h"
#include "costmodel/trial.h"
#include "exec/verify_state.h"
#include "targets/convert.h"
#include "targets/threads.h"

/* TUNING: a process that has not finished by then hangs. */
#define SECONDS 300
/* Of a composite that the reference's own code computes: its rounding. */
#define LEAST_ERROR 1e-7

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

bool
verify_inputs(struct verify_state *w, struct err *err)
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

/* The value with VERIFY_TIMES its error at each element, up or down. */
static void
shake(struct verify_state *w, value_id v, struct tensor *t)
{
	uint32_t r = v + 1;
	double range = 0;
	float *to;

	if (t->dtype != DT_FLOAT || t->kind > TENSOR_FILL || w->error[v] == 0)
		return;
	to = seed_buffer(w->arena, t->count * sizeof *to);
	for (size_t i = 0; i < t->count; i++) {
		to[i] = (float)tensor_real(t, i);
		if (isfinite(to[i]) && fabs((double)to[i]) > range)
			range = fabs((double)to[i]);
	}
	for (size_t i = 0; i < t->count; i++) {
		r = r * 1664525u + 1013904223u;
		to[i] += (float)(VERIFY_TIMES * w->error[v] * range)
		    * (r >> 31 ? 1.f : -1.f);
	}
	*t = tensor_view(t->dtype, t->rank, t->dim, to);
}

bool
verify_reference(struct verify_state *w, struct err *err)
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
				if (w->shaken)
					shake(w, n->output[i], &out[i]);
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
double
verify_difference(
    const struct tensor *got, const struct tensor *want, bool half)
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

/* ---- one composite ---- */

/* Move a value between a format and C order. */
static bool
convert(struct verify_state *w, format_id from, format_id to, value_id v,
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
fill_inputs(struct verify_state *w, struct trial *t, struct err *err)
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
worst_output(struct verify_state *w, struct trial *t, struct err *err)
{
	const struct candidate *c = t->candidate;
	const bool half = tolerance_is_half(t->graph, t->mix, c);
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
		d = verify_difference(&got, &w->value[p->value], half);
		worst = d > worst ? d : worst;
	}
	return worst;
}

bool
verify_say(struct verify_state *w, enum verified_kind kind, uint32_t composite,
    double error, const char *detail)
{
	struct verified_as *v = &w->at->verdict;

	*v = (struct verified_as){
	    .kind = kind, .composite = composite, .error = error};
	snprintf(v->detail, sizeof v->detail, "%s", detail);
	w->at->done = kind != VERIFY_DIED;
	return false;
}

const struct candidate *
verify_candidate(const struct verify_state *w, uint32_t composite)
{
	const struct plan *p = w->plan;

	return &p->candidates->candidate[p->composite[composite].candidate];
}

static void
note_error(struct verify_state *w, const struct candidate *c, double error)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		w->error[c->output[i].value] =
		    error > LEAST_ERROR ? error : LEAST_ERROR;
}

/* The host computes what the reference does, by the same code. */
static bool
check_composite(struct verify_state *w, uint32_t i)
{
	const struct plan *p = w->plan;
	const struct candidate *c = verify_candidate(w, i);
	const struct target *target = &p->mix->target[c->target];
	struct err err = {.kind = ERR_NONE}, fault = {.kind = ERR_NONE};
	struct trial t;
	double d;

	note_error(w, c, 0);
	if (strcmp(target->kind->name, "host") == 0 || !target->kind->compile
	    || target->only_prices)
		return true;
	verify_say(w, VERIFY_DIED, i, 0, "");
	if (!trial_open(&t, p->graph, p->mix, c, w->arena, &err))
		return err.kind == ERR_UNSUPPORTED
		    ? verify_say(w, VERIFY_REFUSED, i, 0, err.text)
		    : true;
	if (t.kernel.run == NULL)
		return true;
	t.kernel.fault = &fault;
	if (!fill_inputs(w, &t, &err)) {
		trial_close(&t);
		return true;
	}
	trial_run(&t);
	d = worst_output(w, &t, &err);
	trial_close(&t);
	if (fault.kind != ERR_NONE)
		return verify_say(w, VERIFY_REFUSED, i, 0, fault.text);
	if (!(d <= tolerance_of(p->graph, p->mix, c)))
		return verify_say(w, VERIFY_WRONG, i, d, "");
	note_error(w, c, d);
	return true;
}

/* ---- in its process ---- */

static void
verify_here(struct verify_state *w)
{
	const struct graph *g = w->plan->graph;
	struct err err = {.kind = ERR_NONE};

	target_threads_set(w->options->threads ? w->options->threads : 1);
	w->value = arena_new(w->arena, struct tensor, g->nvalues);
	w->known = arena_new(w->arena, bool, g->nvalues);
	w->error = arena_new(w->arena, double, g->nvalues);
	verify_say(w, VERIFY_UNKNOWN, 0, 0, "the reference ended its process");
	w->at->done = false;
	if (!verify_inputs(w, &err) || !verify_reference(w, &err)) {
		verify_say(w, VERIFY_UNKNOWN, 0, 0, err.text);
		return;
	}
	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		if (!check_composite(w, i))
			return;
	verify_say(w, VERIFY_UNKNOWN, 0, 0, "the plan ended its process");
	verify_whole(w);
}

/* ---- apart ---- */

bool
verify_run(struct verified_as *out, const struct plan *p,
    const struct verify_options *o, struct err *err)
{
	struct verify_state w = {.plan = p, .options = o};
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
