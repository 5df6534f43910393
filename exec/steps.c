/* What is done to run a plan, in order, with everything ready to run. */
#include "exec/executor_parts.h"

#include <stdlib.h>

#include "ir/base/file_guard.h"
#include "targets/widened.h"

static struct exec_step *
add_step(struct executor *x, enum step_kind kind, uint32_t index)
{
	struct exec_step *s = &x->step[x->nsteps++];

	*s = (struct exec_step){.kind = kind, .index = index};
	return s;
}

static void
add_conversion(struct executor *x, uint32_t index)
{
	const struct plan_conversion *k = &x->plan->conversion[index];
	struct exec_step *s = add_step(x, STEP_CONVERSION, index);
	struct port *port = arena_new(x->arena, struct port, 2);

	port[0] = (struct port){k->value, k->from};
	port[1] = (struct port){k->value, k->to};
	s->input = &port[0];
	s->output = &port[1];
	s->ninputs = s->noutputs = 1;
}

static void
add_composite(struct executor *x, uint32_t index)
{
	const struct candidate *c = plan_candidate(x->plan, index);
	struct exec_step *s = add_step(x, STEP_COMPOSITE, index);

	s->input = c->input;
	s->ninputs = c->ninputs;
	s->output = c->output;
	s->noutputs = c->noutputs;
}

/* Conversions come right before the composite that first needs them. */
static void
add_region(struct executor *x, const struct plan_region *r, uint32_t *next)
{
	const struct plan *p = x->plan;

	for (uint32_t c = r->first; c < r->first + r->ncomposites; c++) {
		while (
		    *next < p->nconversions && p->conversion[*next].before <= c)
			add_conversion(x, (*next)++);
		add_composite(x, c);
	}
}

static bool
is_made_in(const struct executor *x, const struct plan_region *r, value_id v)
{
	const struct value *value = graph_value(x->plan->graph, v);
	uint32_t at;

	if (value->producer == NODE_NONE || value->constant)
		return false;
	at = x->plan->composite_of[value->producer];
	return at >= r->first && at < r->first + r->ncomposites;
}

/* A region that runs as a whole: what its composites read from outside is
 * converted before it, for all of that was made before it. */
static bool
add_whole_region(
    struct executor *x, uint32_t index, uint32_t *next, struct err *err)
{
	const struct plan *p = x->plan;
	const struct plan_region *r = &p->region[index];
	uint32_t last = r->first + r->ncomposites - 1;
	struct exec_step *s;

	for (; *next < p->nconversions && p->conversion[*next].before <= last;
	     ++*next) {
		value_id v = p->conversion[*next].value;

		if (is_made_in(x, r, v))
			return err_set(err, ERR_UNSUPPORTED,
			    "region %u (%s) cannot run as a whole: '%s' "
			    "changes its format inside it",
			    index, p->mix->target[r->target].text,
			    graph_value(p->graph, v)->name);
		add_conversion(x, *next);
	}
	s = add_step(x, STEP_REGION, index);
	s->input = r->input;
	s->ninputs = r->ninputs;
	s->output = r->output;
	s->noutputs = r->noutputs;
	return true;
}

/* Does the target run the region as a whole? Then its kernel is ready. */
static bool
compile_region(
    struct executor *x, uint32_t index, struct kernel *out, struct err *err)
{
	const struct plan *p = x->plan;
	const struct target_kind *kind =
	    p->mix->target[p->region[index].target].kind;
	struct region *region;

	out->run = NULL;
	if (!kind->tool || !kind->tool->compile)
		return true;
	region = arena_new(x->arena, struct region, 1);
	*region = plan_region_of(p, index, x->arena);
	return kind->tool->compile(region, x->arena, out, err)
	    || err_in(err, "region %u", index);
}

bool
steps_order(struct executor *x, struct err *err)
{
	const struct plan *p = x->plan;
	uint32_t next = 0;

	x->step = arena_new(
	    x->arena, struct exec_step, p->ncomposites + p->nconversions);
	for (uint32_t i = 0; i < p->nregions; i++) {
		struct kernel k;

		if (!compile_region(x, i, &k, err))
			return false;
		if (!k.run) {
			add_region(x, &p->region[i], &next);
			continue;
		}
		if (!add_whole_region(x, i, &next, err)) {
			k.release(&k);
			return false;
		}
		k.fault = &x->fault;
		x->step[x->nsteps - 1].kernel = k;
	}
	while (next < p->nconversions)
		add_conversion(x, next++);
	return true;
}

static void
add_bytes(void *sum, const struct tensor *weights)
{
	size_t *bytes = sum;

	*bytes += weights->bytes;
}

/* Most kernels have packed copies of their weights now; the model's, in its file,
 * need not be in memory beside them. */
static void
let_go(void *context, const struct tensor *weights)
{
	(void)context;
	if (weights->kind == TENSOR_VIEW)
		file_guard_let_go(weights->data, weights->bytes);
}

/* The same composite's kernel of the other executor. */
static bool
borrow_kernel(struct executor *x, struct exec_step *s)
{
	const struct executor *with = x->with;

	for (uint32_t i = 0; with && i < with->nsteps; i++) {
		const struct exec_step *other = &with->step[i];

		if (other->kind != STEP_COMPOSITE
		    || plan_candidate(with->plan, other->index)
		        != plan_candidate(x->plan, s->index))
			continue;
		s->kernel = other->kernel;
		s->kernel.fault = &x->fault;
		s->kernel.small = NULL;
		s->lent = true;
		return true;
	}
	return false;
}

static bool
compile_composite(struct executor *x, struct exec_step *s, struct err *err)
{
	const struct plan *p = x->plan;
	const struct candidate *c = plan_candidate(p, s->index);
	const struct target *t = &p->mix->target[c->target];

	if (borrow_kernel(x, s))
		return true;
	if (t->kind->compile == NULL)
		err_set(err, ERR_UNSUPPORTED,
		    "target '%s' has prices and no kernels", t->text);
	else if (target_compile(t, p->graph, c, x->arena, &s->kernel, err)) {
		s->kernel.fault = &x->fault;
		candidate_constants(p->graph, c, let_go, NULL);
		return true;
	}
	return err_in(err, "composite %u (%s%s%s)", (unsigned)s->index,
	    t->kind->rule[c->rule].name, c->implementation_name[0] ? ", " : "",
	    c->implementation_name);
}

/* The format a conversion passes through when that is cheaper; `to` itself when
 * it is direct. */
static format_id
detour_of(const struct executor *x, const struct plan_conversion *k)
{
	const struct prices *p = x->plan->prices;
	uint32_t class = p->value_class[k->value];

	if (class == UINT32_MAX)
		return k->to;
	return conversion_at(p, class, k->from, k->to)->via;
}

static bool
compile_conversion(struct executor *x, struct exec_step *s, struct err *err)
{
	const struct plan_conversion *k = &x->plan->conversion[s->index];
	const struct formats *formats = &x->plan->mix->formats;
	const struct format *f = formats->format;
	const struct type *t = &graph_value(x->plan->graph, k->value)->type;
	format_id via = detour_of(x, k);
	struct format_change change = {
	    f[k->from], f[k->to], t, format_quant(formats, k->value)};
	struct format_change rest = change;
	bool ok;

	if (via == k->to || via == k->from)
		ok = converter_new(&s->converter, &change, x->arena, err);
	else {
		change.to = rest.from = f[via];
		ok = converter_new(&s->converter, &change, x->arena, err)
		    && converter_new(&s->second, &rest, x->arena, err);
	}
	if (!ok)
		return err_in(err, "conversion of '%s'",
		    graph_value(x->plan->graph, k->value)->name);
	if (s->second.run)
		s->between = common_scratch_or(
		    format_bytes(f[via], t) + MEMORY_SLACK + 256, x->arena);
	return true;
}

struct heavy_step {
	struct exec_step *step;
	size_t bytes; /* of weights */
};

static int
by_weights(const void *a, const void *b)
{
	const struct heavy_step *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->step < y->step ? -1 : x->step > y->step;
}

static bool
compile_step(struct executor *x, struct exec_step *s, struct err *err)
{
	switch (s->kind) {
	case STEP_CONVERSION:
		return compile_conversion(x, s, err);
	case STEP_COMPOSITE:
		return compile_composite(x, s, err);
	case STEP_REGION:
		break;
	}
	return true;
}

/* Those with the most weights first: what a kernel packs is there twice for a while, so
 * that should be beside as little as possible. */
bool
steps_compile(struct executor *x, struct err *err)
{
	struct heavy_step *order =
	    arena_new(x->arena, struct heavy_step, x->nsteps);

	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct exec_step *s = order[i].step = &x->step[i];

		if (s->kind == STEP_COMPOSITE)
			candidate_constants(x->plan->graph,
			    plan_candidate(x->plan, s->index), add_bytes,
			    &order[i].bytes);
	}
	qsort(order, x->nsteps, sizeof *order, by_weights);
	for (uint32_t i = 0; i < x->nsteps; i++)
		if (!compile_step(x, order[i].step, err))
			return false;
	return true;
}

void
steps_release(struct executor *x)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct exec_step *s = &x->step[i];

		if (s->kernel.release && !s->lent)
			s->kernel.release(&s->kernel);
		if (s->converter.release)
			s->converter.release(&s->converter);
		if (s->second.release)
			s->second.release(&s->second);
	}
}
