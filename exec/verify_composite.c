#include "exec/verify_composite.h"

#include <math.h>
#include <string.h>

#include "costmodel/seed.h"
#include "costmodel/tolerance.h"
#include "costmodel/trial.h"
#include "exec/perturbed.h"
#include "ir/compare.h"
#include "targets/convert.h"
#include "targets/widened.h"

/* Move a port's value from C order into its format, or back. */
static bool
convert(struct verify_state *w, const struct port *p, bool back, const void *in,
    void *out, struct err *err)
{
	const struct formats *f = &w->plan->mix->formats;
	const struct format_change change = {
	    f->format[back ? p->format : FORMAT_PLAIN],
	    f->format[back ? FORMAT_PLAIN : p->format],
	    &graph_value(w->plan->graph, p->value)->type,
	    format_quant(f, p->value)};
	struct converter c;

	if (!converter_new(&c, &change, w->arena, err))
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
		else if (!convert(w, p, false, plain, to.out, err))
			return false;
	}
	return true;
}

static double
worst_output(struct verify_state *w, struct trial *t, struct err *err)
{
	const struct candidate *c = t->candidate;
	const struct tolerance how = {.made_up = true,
	    .overflows = tolerance_is_half(t->graph, t->mix, c)};
	const double allowed = tolerance_of(t->graph, t->mix, c);
	double worst = 0;

	for (uint32_t i = 0; i < c->noutputs; i++) {
		const struct port *p = &c->output[i];
		const struct type *type =
		    &graph_value(w->plan->graph, p->value)->type;
		const struct format *f = w->plan->mix->formats.format;
		void *plain =
		    seed_buffer(w->arena, format_bytes(f[FORMAT_PLAIN], type));
		struct comparison compared;
		struct tensor got;
		double d;

		if (!convert(w, p, true, t->out[i], plain, err))
			return 0;
		got = tensor_view(type->dtype, type->rank, type->dim, plain);
		tensors_compare(&compared, &got, &w->value[p->value], &how);
		d = tolerance_difference(
		    t->graph, c, p->value, &compared, allowed);
		worst = d > worst ? d : worst;
	}
	return worst;
}

/* TUNING: the signs of errors are put in by chance, and may all be one. */
#define VERIFY_TIMES 2

/* Behind a quantiser an error shows where it moves a float over a step: what a
 * composite quantises at its end it rounds inside, whatever it shows today. */
static void
note_inside(struct verify_state *w, const struct candidate *c)
{
	const struct graph *g = w->plan->graph;

	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);
		const struct value *x = node_in(g, n, 0);

		if (n->op == OP_QUANTIZELINEAR
		    && w->error[n->input[0]] < PERTURBED_LEAST
		    && x->type.kind == TYPE_TENSOR
		    && dtype_is_float(x->type.dtype))
			w->error[n->input[0]] = PERTURBED_LEAST;
	}
}

static void
note_error(struct verify_state *w, const struct candidate *c, double error)
{
	error *= VERIFY_TIMES;
	for (uint32_t i = 0; i < c->noutputs; i++)
		w->error[c->output[i].value] =
		    error > PERTURBED_LEAST ? error : PERTURBED_LEAST;
	note_inside(w, c);
}

static bool
refuse(struct verify_state *w, uint32_t i, const struct err *err)
{
	return err->kind == ERR_UNSUPPORTED
	    ? verify_say(w, VERIFY_REFUSED, i, 0, err->text)
	    : true;
}

/* What the composite's roundings to half precision make of its outputs at most:
 * more than its tolerance where terms cancel. */
static double
moved_by_halves(
    struct verify_state *w, const struct candidate *c, struct err *err)
{
	const struct graph *g = w->plan->graph;
	struct perturbation how = {.all = 0};
	double *movable = arena_new(w->arena, double, g->nvalues), most = 0;
	bool *halved = arena_new(w->arena, bool, g->nvalues);

	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE)
				halved[n->input[k]] = true;
	}
	how.halved = halved;
	if (!values_movable(
	        movable, g, w->value, w->options->reference, &how, err))
		return 0;
	for (uint32_t i = 0; i < c->noutputs; i++)
		most = fmax(most, movable[c->output[i].value]);
	return most;
}

static bool
is_right(struct verify_state *w, const struct candidate *c, double difference)
{
	const struct plan *p = w->plan;
	struct err err = {.kind = ERR_NONE};

	return difference <= tolerance_of(p->graph, p->mix, c)
	    || (tolerance_is_half(p->graph, p->mix, c)
	        && difference <= moved_by_halves(w, c, &err));
}

/* Was it built for its price, here and by this library? */
static bool
was_built(const struct plan *p, uint32_t i)
{
	const struct price *price =
	    prices_candidate(p->prices, p->composite[i].candidate);

	return price->source == PRICE_MEASURED
	    && (price->origin == FROM_MEASURING
	        || price->origin == FROM_DB_EXACT);
}

static bool
build(struct verify_state *w, uint32_t i)
{
	const struct plan *p = w->plan;
	const struct candidate *c = plan_candidate(p, i);
	const struct target *target = &p->mix->target[c->target];
	struct kernel k = {.run = NULL};
	struct err err = {.kind = ERR_NONE};
	struct arena scratch;
	bool built;

	if (was_built(p, i))
		return true;
	arena_init(&scratch);
	built = target_compile(target, p->graph, c, &scratch, &k, &err);
	if (built && k.release)
		k.release(&k);
	arena_release(&scratch);
	return built || refuse(w, i, &err);
}

static bool
build_and_run(struct verify_state *w, uint32_t i)
{
	const struct plan *p = w->plan;
	const struct candidate *c = plan_candidate(p, i);
	struct err err = {.kind = ERR_NONE}, fault = {.kind = ERR_NONE};
	struct trial t;
	double d;

	if (!trial_open(&t, p->graph, p->mix, c, w->arena, &err))
		return refuse(w, i, &err);
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
	if (!is_right(w, c, d))
		return verify_say(w, VERIFY_WRONG, i, d, "");
	note_error(w, c, d);
	return true;
}

/* The host computes what the reference does, by the same code, but for an idiom
 * as one operator; what 8 bits lose is another question (exec/accuracy.h). */
bool
verify_composite(struct verify_state *w, uint32_t i)
{
	const struct plan *p = w->plan;
	const struct candidate *c = plan_candidate(p, i);
	const struct target *target = &p->mix->target[c->target];

	note_error(w, c, 0);
	if ((target_is_host(target) && match_idiom(c->match, 0) == NULL
	        && !c->widened)
	    || !target->kind->compile || target->only_prices
	    || target->quantises)
		return true;
	verify_say(w, VERIFY_DIED, i, 0, "");
	return w->only_build ? build(w, i) : build_and_run(w, i);
}
