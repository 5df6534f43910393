#include "bench/common/contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/seed.h"
#include "ir/compare.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"
#include "ir/normalize.h"
#include "plan/search.h"
#include "targets/host/host.h"

cost_ns
cost_median(cost_ns *x, uint32_t n)
{
	qsort(x, n, sizeof *x, by_u64);
	return x[n / 2];
}

/* ---- prices ---- */

static void
seed(struct contest *c)
{
	const struct graph *g = c->model.graph;

	c->in = arena_new(c->arena, struct tensor, g->ninputs);
	c->out = arena_new(c->arena, struct tensor, g->noutputs);
	for (uint32_t i = 0; i < g->ninputs; i++)
		seed_tensor(&c->in[i], g, g->input[i], 0, c->arena);
}

bool
contest_open(struct contest *c, const char *path, const char *db,
    uint32_t threads, struct err *err)
{
	static const char *const targets[] = {
	    "dnnl", "xnnpack", "blas", "native", "host"};
	const struct infer_options infer = {.eval = host_eval};
	const struct onnx_options onnx = {0};
	const struct pricer_options o = {.db = db,
	    .measure = true,
	    .threads = threads,
	    .reference = host_eval};

	if (!onnx_read(&c->model, path, &onnx, c->arena, err)
	    || !normalize(c->model.graph, &infer, err)
	    || !mix_open(&c->mix, targets, 5, c->arena, err)
	    || !candidates_find(
	        &c->candidates, c->model.graph, &c->mix, NULL, c->arena, err)
	    || !pricer_open(&c->pricer, c->model.graph, &c->mix, &c->candidates,
	        &o, c->arena, err)
	    || !pricer_begin(c->pricer, &c->prices, err))
		return false;
	seed(c);
	return true;
}

static bool
starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool
may_use(const struct contest *b, const struct contender *who,
    const struct candidate *c)
{
	const struct target *t = &b->mix.target[c->target];
	bool conv = strstr(t->kind->rule[c->rule].name, ".conv") != NULL;
	enum layout out = b->mix.formats.format[c->output[0].format].layout;

	if (strcmp(t->kind->name, "host") == 0)
		return true;
	if (who->without && strcmp(t->kind->name, who->without) == 0)
		return false;
	if (who->kind && strcmp(t->kind->name, who->kind) != 0)
		return false;
	if (!who->winograd && starts(c->implementation_name, "winograd"))
		return false;
	if (who->layout < 0 || (!conv && out == LAYOUT_PLAIN))
		return true;
	return out == (enum layout)who->layout
	    || (who->layout == LAYOUT_BLK16 && out == LAYOUT_BLK8);
}

bool
contest_plan(struct contest *c, const struct contender *who, struct plan *out,
    bool *found, struct err *err)
{
	bool *only = arena_new(c->arena, bool, c->candidates.n);
	const struct plan_request q = {.graph = c->model.graph,
	    .mix = &c->mix,
	    .candidates = &c->candidates,
	    .prices = &c->prices,
	    .pricer = c->pricer,
	    .only = who->kind || who->without ? only
	                                      : NULL, /* else as a user asks */
	    .searcher = who->searcher};
	cost_ns began = clock_ns();

	for (uint32_t i = 0; i < c->candidates.n; i++)
		only[i] = may_use(c, who, &c->candidates.candidate[i]);
	*found = plan_search(out, &q, c->arena, err);
	c->pricing_ns += clock_ns() - began;
	if (!*found && err->kind != ERR_NO_COVER)
		return err_in(err, "%s", who->name);
	err_clear(err);
	return true;
}

bool
contest_priced(struct contest *c, struct err *err)
{
	struct pricer *p = c->pricer;

	c->counts = pricer_counts(p);
	c->pricer = NULL;
	return pricer_close(p, err);
}

/* ---- running ---- */

bool
contest_check(
    struct contest *c, const char *name, struct executor *x, struct err *err)
{
	const struct tolerance t = {.absolute = 1e-5, .relative = 1e-4};
	const struct graph *g = c->model.graph;
	struct comparison d;

	if (!c->want) {
		c->want = arena_new(c->arena, struct tensor, g->noutputs);
		if (!host_run(g, c->in, c->want, c->arena, err))
			return false;
	}
	if (!executor_run(x, c->in, c->out, err))
		return false;
	for (uint32_t o = 0; o < g->noutputs; o++) {
		tensors_compare(&d, &c->out[o], &c->want[o], &t);
		if (!d.matches)
			printf("%s DIFFERS from the reference by %g of a "
			       "range of %g\n",
			    name, d.max_error, d.range);
	}
	return true;
}

void
contest_close(struct contest *c)
{
	struct err err = {.kind = ERR_NONE};

	if (c->pricer)
		pricer_close(c->pricer, &err);
	c->pricer = NULL;
	if (c->model.graph)
		model_close(&c->model);
}

/* ---- steps ---- */

#define RECORD_MAX 256

struct record {
	const struct plan *plan;
	struct arena *arena;
	uint32_t n;
	cost_ns *composite, *conversion; /* RECORD_MAX apart */
};

struct record *
record_new(const struct plan *p, struct arena *a)
{
	struct record *r = arena_new(a, struct record, 1);

	r->plan = p;
	r->arena = a;
	r->composite =
	    arena_new(a, cost_ns, (size_t)p->ncomposites * RECORD_MAX);
	r->conversion =
	    arena_new(a, cost_ns, (size_t)p->nconversions * RECORD_MAX);
	return r;
}

void
record_steps(struct record *r, const struct executor *x)
{
	const cost_ns *composite = executor_composite_ns(x);
	const cost_ns *conversion = executor_conversion_ns(x);

	if (r->n == RECORD_MAX)
		return;
	for (uint32_t i = 0; i < r->plan->ncomposites; i++)
		r->composite[i * RECORD_MAX + r->n] = composite[i];
	for (uint32_t i = 0; i < r->plan->nconversions; i++)
		r->conversion[i * RECORD_MAX + r->n] = conversion[i];
	r->n++;
}

static const cost_ns *
medians(struct record *r, cost_ns *seen, uint32_t n)
{
	cost_ns *m = arena_new(r->arena, cost_ns, n);

	for (uint32_t i = 0; r->n && i < n; i++)
		m[i] = cost_median(&seen[i * RECORD_MAX], r->n);
	return m;
}

void
record_settle(struct record *r, struct profile *out)
{
	*out = (struct profile){.runs = r->n};
	out->composite = medians(r, r->composite, r->plan->ncomposites);
	out->conversion = medians(r, r->conversion, r->plan->nconversions);
}
