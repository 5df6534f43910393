#include "exec/accuracy.h"

#include <math.h>
#include <string.h>

#include "costmodel/seed.h"
#include "exec/executor.h"
#include "exec/perturbed.h"
#include "ir/compare.h"
#include "targets/convert.h"
#include "targets/widened.h"

/* ---- one comparison ---- */

static void
add_loss(struct loss *l, const struct tensor *got, const struct tensor *want)
{
	const struct tolerance any = {.made_up = true, .overflows = true};
	struct comparison c;

	for (size_t i = 0; i < want->count; i++) {
		const double x = tensor_real(want, i);
		const double d = tensor_real(got, i) - x;

		if (!isfinite(x) || !isfinite(d))
			continue;
		l->signal += x * x;
		l->noise += d * d;
	}
	tensors_compare(&c, got, want, &any);
	l->max_error = fmax(l->max_error, comparison_relative(&c));
	l->argmax += c.same_argmax;
	l->n++;
}

/* ---- candidates on the reference's values ---- */

/* Values in the formats candidates have them in, while a chain of them runs. */
struct held {
	struct port port;
	void *at;
};

struct chain {
	const struct accuracy_request *request;
	const struct tensor *value; /* [nvalues] the reference's */
	struct arena *arena;
	struct held *held;
	uint32_t nheld, cap;
	struct err *err;
};

static bool
convert(const struct chain *c, const struct port *p, bool back, const void *in,
    void *out)
{
	const struct formats *f = &c->request->mix->formats;
	const struct format_change change = {
	    f->format[back ? p->format : FORMAT_PLAIN],
	    f->format[back ? FORMAT_PLAIN : p->format],
	    &graph_value(c->request->graph, p->value)->type,
	    format_quant(f, p->value)};
	struct converter k;

	if (!converter_new(&k, &change, c->arena, c->err))
		return false;
	k.run(&k, in, out);
	if (k.release)
		k.release(&k);
	return true;
}

static void *
hold(struct chain *c, const struct port *p)
{
	const struct format *f = c->request->mix->formats.format;
	const struct type *t = &graph_value(c->request->graph, p->value)->type;

	c->held = arena_grow(
	    c->arena, c->held, &c->cap, c->nheld + 1, sizeof *c->held);
	c->held[c->nheld] = (struct held){
	    *p, seed_buffer(c->arena, format_bytes(f[p->format], t))};
	return c->held[c->nheld++].at;
}

static const void *
find(const struct chain *c, const struct port *p)
{
	for (uint32_t i = 0; i < c->nheld; i++)
		if (c->held[i].port.value == p->value
		    && c->held[i].port.format == p->format)
			return c->held[i].at;
	return NULL;
}

/* What an earlier one of the chain made, else the reference's. */
static const void *
take(struct chain *c, const struct port *p)
{
	const void *have = find(c, p);
	void *at;

	if (have)
		return have;
	at = hold(c, p);
	return convert(
	           c, p, false, tensor_data(&c->value[p->value], c->arena), at)
	    ? at
	    : NULL;
}

static bool
run_candidate(struct chain *c, const struct candidate *cand)
{
	const struct accuracy_request *r = c->request;
	const struct target *t = &r->mix->target[cand->target];
	const void **in = arena_new(c->arena, const void *, cand->ninputs);
	void **out = arena_new(c->arena, void *, cand->noutputs);
	struct kernel k;

	if (!target_compile(t, r->graph, cand, c->arena, &k, c->err))
		return false;
	k.fault = c->err;
	for (uint32_t i = 0; i < cand->ninputs; i++) {
		in[i] = take(c, &cand->input[i]);
		if (!in[i])
			return false;
	}
	for (uint32_t i = 0; i < cand->noutputs; i++)
		out[i] = hold(c, &cand->output[i]);
	k.run(&k, in, out);
	if (k.release)
		k.release(&k);
	return true;
}

static bool
compare_port(struct chain *c, const struct port *p, struct loss *loss)
{
	const struct type *t = &graph_value(c->request->graph, p->value)->type;
	const struct format *f = c->request->mix->formats.format;
	void *plain = seed_buffer(c->arena, format_bytes(f[FORMAT_PLAIN], t));
	struct tensor got;

	if (!convert(c, p, true, find(c, p), plain))
		return false;
	got = tensor_view(t->dtype, t->rank, t->dim, plain);
	add_loss(loss, &got, &c->value[p->value]);
	return true;
}

/* ---- samples ---- */

static uint32_t
samples_of(const struct accuracy_request *r)
{
	return r->samples->n < ACCURACY_SAMPLES ? r->samples->n
	                                        : ACCURACY_SAMPLES;
}

/* The inputs of sample i and all the reference makes of them. */
static struct tensor *
reference_of(const struct accuracy_request *r, uint32_t i, struct tensor *in,
    struct arena *a, struct err *err)
{
	const struct perturbation none = {.seed = 0};
	struct tensor *value = arena_new(a, struct tensor, r->graph->nvalues);

	if (!samples_take(in, r->samples, i, r->graph, a, err))
		return NULL;
	for (uint32_t k = 0; k < r->graph->ninputs; k++)
		value[r->graph->input[k]] = in[k];
	return reference_values(value, r->graph, r->reference, &none, a, err)
	    ? value
	    : NULL;
}

static bool
compare_candidates(struct loss *loss, const struct candidates *list,
    const struct accuracy_request *r, const struct tensor *value,
    struct arena *a, struct err *err)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < list->n; i++) {
		const struct candidate *cand = &list->candidate[i];
		struct arena_mark mark = arena_mark(a);
		struct chain c = {
		    .request = r, .value = value, .arena = a, .err = err};

		if (!r->mix->target[cand->target].quantises)
			continue;
		ok = run_candidate(&c, cand);
		for (uint32_t k = 0; ok && k < cand->noutputs; k++)
			ok = compare_port(&c, &cand->output[k], &loss[i]);
		arena_back(a, mark);
	}
	return ok;
}

bool
accuracy_of_candidates(struct loss *loss, const struct candidates *list,
    const struct accuracy_request *r, struct err *err)
{
	bool ok = true;

	memset(loss, 0, list->n * sizeof *loss);
	for (uint32_t i = 0; ok && i < samples_of(r); i++) {
		struct arena a;
		struct tensor *in, *value;

		arena_init(&a);
		in = arena_new(&a, struct tensor, r->graph->ninputs);
		value = reference_of(r, i, in, &a, err);
		ok = value && compare_candidates(loss, list, r, value, &a, err);
		arena_release(&a);
	}
	return ok;
}

/* ---- plans ---- */

static bool
region_quantises(const struct plan *p, uint32_t region)
{
	return p->mix->target[p->region[region].target].quantises;
}

bool
plan_quantises(const struct plan *p)
{
	for (uint32_t i = 0; i < p->nregions; i++)
		if (region_quantises(p, i))
			return true;
	return false;
}

static bool
compare_region(struct loss *loss, const struct plan *p, uint32_t region,
    const struct chain *of, struct err *err)
{
	const struct plan_region *r = &p->region[region];
	struct chain c = *of;
	bool ok = true;

	c.err = err;
	for (uint32_t i = r->first; ok && i < r->first + r->ncomposites; i++)
		ok = run_candidate(&c, plan_candidate(p, i));
	for (uint32_t i = 0; ok && i < r->noutputs; i++)
		ok = compare_port(&c, &r->output[i], loss);
	return ok;
}

static bool
compare_whole(struct loss *loss, struct executor *x, const struct graph *g,
    const struct tensor *in, const struct tensor *value, struct err *err)
{
	struct arena scratch;
	struct tensor *got;
	bool ok;

	arena_init(&scratch);
	got = arena_new(&scratch, struct tensor, g->noutputs);
	ok = executor_run(x, in, got, err);
	for (uint32_t i = 0; ok && i < g->noutputs; i++)
		if (!graph_value(g, g->output[i])->constant
		    && got[i].kind <= TENSOR_FILL)
			add_loss(&loss[i], &got[i], &value[g->output[i]]);
	arena_release(&scratch);
	return ok;
}

static bool
compare_sample(struct loss *region, struct loss *output, const struct plan *p,
    const struct accuracy_request *r, uint32_t i, struct executor *x,
    struct err *err)
{
	struct arena a;
	struct chain c = {.request = r, .arena = &a};
	struct tensor *in;
	bool ok;

	arena_init(&a);
	in = arena_new(&a, struct tensor, r->graph->ninputs);
	c.value = reference_of(r, i, in, &a, err);
	ok = c.value != NULL;
	for (uint32_t k = 0; ok && k < p->nregions; k++)
		ok = !region_quantises(p, k)
		    || compare_region(&region[k], p, k, &c, err);
	ok = ok && compare_whole(output, x, r->graph, in, c.value, err);
	arena_release(&a);
	return ok;
}

bool
accuracy_of_plan(struct plan_accuracy *out, const struct plan *p,
    const struct accuracy_request *r, struct arena *a, struct err *err)
{
	const struct executor_options o = {.threads = r->threads};
	struct loss *region = arena_new(a, struct loss, p->nregions);
	struct loss *output = arena_new(a, struct loss, p->graph->noutputs);
	struct arena scratch;
	struct executor *x;
	bool ok;

	out->region = region;
	out->output = output;
	out->nsamples = samples_of(r);
	arena_init(&scratch);
	ok = executor_open(&x, p, &o, &scratch, err);
	for (uint32_t i = 0; ok && i < out->nsamples; i++)
		ok = compare_sample(region, output, p, r, i, x, err);
	if (x)
		executor_close(x);
	arena_release(&scratch);
	return ok;
}

/* ---- limits ---- */

uint32_t
accuracy_worst_region(const struct plan_accuracy *a, const struct plan *p)
{
	uint32_t worst = UINT32_MAX;

	for (uint32_t i = 0; i < p->nregions; i++)
		if (a->region[i].n > 0
		    && (worst == UINT32_MAX
		        || loss_sqnr(&a->region[i])
		            < loss_sqnr(&a->region[worst])))
			worst = i;
	return worst;
}

static const char *
broken(const struct loss *l, const struct accuracy_limits *limits,
    const char *what, struct arena *a)
{
	if (limits->min_sqnr > 0 && loss_sqnr(l) < limits->min_sqnr)
		return arena_printf(a, "%s: SQNR %.1f dB < %g", what,
		    loss_sqnr(l), limits->min_sqnr);
	if (limits->max_error > 0 && l->max_error > limits->max_error)
		return arena_printf(a, "%s: max error %.2g of the range > %g",
		    what, l->max_error, limits->max_error);
	return NULL;
}

bool
accuracy_broken(struct broken_limit *out, const struct plan_accuracy *a,
    const struct plan *p, struct arena *arena)
{
	const struct accuracy_limits by_region = {
	    .min_sqnr = a->limits.min_sqnr};

	*out = (struct broken_limit){.region = UINT32_MAX};
	for (uint32_t i = 0; i < p->nregions; i++) {
		if (a->region[i].n > 0)
			out->words = broken(&a->region[i], &by_region,
			    arena_printf(arena, "region %u", (unsigned)i),
			    arena);
		if (out->words) {
			out->region = i;
			return true;
		}
	}
	for (uint32_t i = 0; !out->words && i < p->graph->noutputs; i++)
		if (a->output[i].n > 0)
			out->words = broken(&a->output[i], &a->limits,
			    arena_printf(arena, "output '%s'",
			        graph_value(p->graph, p->graph->output[i])
			            ->name),
			    arena);
	return out->words != NULL;
}
