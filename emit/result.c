#include "emit/outlook.h"
#include "emit/plan_json.h"
#include "emit/writers.h"

#include <string.h>

#include "costmodel/board.h"
#include "ir/base/json.h"
#include "plan/eager.h"

static void
write_types(struct json *j, const struct graph *g, const char *key,
    const value_id *id, uint32_t n)
{
	struct arena scratch;

	arena_init(&scratch);
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		if (id[i] == VALUE_NONE)
			continue;
		json_inline_object(j);
		json_key_str(j, "name", g->value[id[i]].name);
		json_key_str(j, "type",
		    type_text(&g->value[id[i]].type, g->symbol, &scratch));
		json_close(j);
	}
	json_close(j);
	arena_release(&scratch);
}

static void
write_model(struct json *j, const struct emit_work *w)
{
	const struct model *m = w->in->model;
	const struct graph *g = w->graph;

	json_key(j, "model");
	json_object(j);
	json_key_str(j, "path", m->path);
	json_key_str(j, "name", g->name);
	json_key_str(j, "producer", m->producer);
	json_key_uint(j, "file_bytes", m->file_bytes);
	json_key_uint(j, "ir_version", m->ir_version);
	json_key(j, "opsets");
	json_array(j);
	for (uint32_t i = 0; i < m->nopsets; i++) {
		json_inline_object(j);
		json_key_str(j, "domain", m->opset[i].domain);
		json_key_uint(j, "version", m->opset[i].version);
		json_close(j);
	}
	json_close(j);
	json_key_uint(
	    j, "onnx_nodes", g->origin_table ? g->origin_table->n : 0);
	json_key_uint(j, "graph_nodes", g->nnodes);
	write_types(j, g, "inputs", g->input, g->ninputs);
	write_types(j, g, "outputs", g->output, g->noutputs);
	json_close(j);
}

/* "key=value" lines of what a target's prices depend on. */
static void
write_environment(struct json *j, const struct target *t)
{
	struct buf b;

	buf_init(&b);
	if (t->kind->environment)
		t->kind->environment(t, &b);
	json_key_facts(j, "environment", b.data ? b.data : "");
	buf_release(&b);
}

/* The machine the prices are for, when it is not the one that searched. */
static void
write_board(struct json *j, const struct board *b)
{
	if (!b)
		return;
	json_key(j, "priced_for");
	json_inline_object(j);
	json_key_str(j, "machine", b->name);
	json_key_str(j, "processor", b->words);
	json_close(j);
}

static void
write_mix(struct json *j, const struct emit_work *w)
{
	json_key(j, "mix");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->mix->n; i++) {
		const struct target *t = &w->plan->mix->target[i];

		json_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "kind", t->kind->name);
		json_key_str(j, "text", t->text);
		json_key_str(j, "prices", price_source_text(t->source));
		if (t->kind->launches)
			json_price(
			    j, "launch", prices_launch(w->plan->prices, i));
		write_environment(j, t);
		json_close(j);
	}
	json_close(j);
}

static void
write_total(struct json *j, const struct emit_work *w)
{
	struct plan_sums sums = plan_sums_of(w->plan);
	struct total range = emit_total(w);

	json_key(j, "total");
	json_object(j);
	json_cost(j, "cost_ns", w->plan->cost);
	json_key_str(j, "basis", plan_basis(w->plan));
	json_key_uint(j, "unpriced", plan_unpriced(w->plan));
	json_key_uint(j, "unsized", plan_unsized(w->plan));
	for (uint32_t t = 0; t < NTERMS; t++)
		json_cost(j, term_key(t), sums.ns[t]);
	json_cost(j, "low_ns", range.low);
	json_cost(j, "high_ns", range.high);
	json_close(j);
}

/* Regions whose price as a whole was not the sum of their parts. */
static void
write_moved(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "moved");
	json_array(j);
	for (uint32_t i = 0; i < p->nmoved; i++) {
		const struct plan_move *m = &p->moved[i];

		json_inline_object(j);
		json_key_uint(j, "target", m->target);
		json_key_str(j, "first", w->ref[m->node]);
		json_key_uint(j, "composites", m->ncomposites);
		json_key_uint(j, "nodes", m->nnodes);
		json_cost(j, "parts_ns", m->parts);
		json_cost(j, "whole_ns", m->whole);
		json_close(j);
	}
	json_close(j);
}

/* Why the plan is cheaper than the eager one. */
static void
write_eager(struct json *j, const struct emit_work *w)
{
	struct eager_gain v;

	if (!plan_gain_over_eager(&v, w->plan, w->arena))
		return;
	json_key(j, "eager");
	json_inline_object(j);
	json_cost(j, "cost_ns", v.eager->cost);
	json_key_bool(j, "bound", v.bound);
	json_key_uint(j, "launches", v.launches);
	json_key_uint(j, "eager_launches", v.eager_launches);
	json_key_uint(j, "merged", v.merged);
	json_key_uint(j, "single_composite", v.lone);
	json_key_uint(j, "onloaded", v.left);
	json_key_uint(j, "offloaded", v.gained);
	json_close(j);
}

static void
write_proof(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "proof");
	json_object(j);
	json_key_str(j, "searcher", p->searcher);
	json_key_bool(j, "proven", p->proven);
	if (plan_among(p))
		json_key_uint(j, "among_regions", plan_among(p));
	json_cost(j, "lower_bound_ns", p->lower_bound);
	json_key_real(j, "gap", emit_gap(p));
	json_key_uint(j, "rounds", p->rounds);
	write_moved(j, w);
	json_close(j);
	json_key(j, "baselines");
	json_array(j);
	for (uint32_t i = 0; i < p->nbaselines; i++) {
		const struct plan_baseline *b = &p->baseline[i];
		double ratio;

		json_inline_object(j);
		json_key_str(j, "name", b->name);
		json_cost(j, "cost_ns", b->cost);
		json_key(j, "ratio");
		if (plan_ratio(&ratio, p, b))
			json_real(j, ratio);
		else
			json_null(j);
		json_key_bool(j, "bound", b->bound);
		if (b->plan)
			json_key_str(j, "basis",
			    b->bound ? "bound" : plan_basis(b->plan));
		json_close(j);
	}
	json_close(j);
}

/* The plan, run in turn with those of single targets that are near; null: none
 * is. */
static void
write_confirmation(struct json *j, const struct emit_work *w)
{
	const struct plan_confirmation *c = w->in->confirmation;

	json_key(j, "confirmation");
	if (!c || c->kind == CONFIRM_NOTHING) {
		json_null(j);
		return;
	}
	json_inline_object(j);
	json_key_str(j, "word", confirmation_word(c->kind));
	json_key_str(j, "against", c->against);
	json_key_real(j, "predicted", c->predicted);
	if (c->took)
		json_key_uint(j, "took_ns", c->took);
	json_key_uint(j, "pairs", c->pairs);
	if (c->pairs) {
		json_key_real(j, "ratio", (double)c->ratio / 1e6);
		json_key_real(j, "self_low", (double)c->self_low / 1e6);
		json_key_real(j, "self_high", (double)c->self_high / 1e6);
	}
	if (c->why)
		json_key_str(j, "why", c->why);
	json_close(j);
}

/* Choices closer than their noise: what comparing them in turn showed. */
static void
write_ties(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "near_ties");
	json_array(j);
	for (uint32_t i = 0; i < p->nties; i++) {
		const struct plan_tie *t = &p->tie[i];
		const struct candidate *a = &p->candidates->candidate[t->a];
		const struct candidate *b = &p->candidates->candidate[t->b];

		json_inline_object(j);
		json_key_str(j, "node", w->label[a->node[0]]);
		json_key_uint(j, "nodes", a->nnodes);
		json_key_str(j, "target", p->mix->target[a->target].text);
		json_key_str(j, "implementation", a->implementation_name);
		json_key_str(
		    j, "substitute_target", p->mix->target[b->target].text);
		json_key_str(
		    j, "substitute_implementation", b->implementation_name);
		json_key_real(j, "ratio_low", (double)t->low / 1e6);
		json_key_real(j, "ratio_high", (double)t->high / 1e6);
		json_key_bool(j, "tied", t->tied);
		json_close(j);
	}
	json_close(j);
}

/* Null where nothing is lost: no number says so. */
static void
write_loss(struct json *j, const struct loss *l)
{
	json_key(j, "sqnr_db");
	if (l->noise > 0)
		json_real(j, loss_sqnr(l));
	else
		json_null(j);
	json_key_real(j, "max_error", l->max_error);
}

static void
write_losses(struct json *j, const struct emit_work *w)
{
	const struct plan_accuracy *a = w->in->accuracy;
	const struct plan *p = w->plan;

	json_key(j, "regions");
	json_array(j);
	for (uint32_t i = 0; i < p->nregions; i++) {
		if (a->region[i].n == 0)
			continue;
		json_inline_object(j);
		json_key_uint(j, "region", i);
		write_loss(j, &a->region[i]);
		json_close(j);
	}
	json_close(j);
	json_key(j, "outputs");
	json_array(j);
	for (uint32_t i = 0; i < p->graph->noutputs; i++) {
		if (a->output[i].n == 0)
			continue;
		json_inline_object(j);
		json_key_str(
		    j, "name", p->graph->value[p->graph->output[i]].name);
		write_loss(j, &a->output[i]);
		json_key_uint(j, "same_argmax", a->output[i].argmax);
		json_key_uint(j, "compared", a->output[i].n);
		json_close(j);
	}
	json_close(j);
}

/* Where scales of 8 bits come from, and what they lose; null: nobody has any. */
static void
write_accuracy(struct json *j, const struct emit_work *w)
{
	const struct plan_accuracy *a = w->in->accuracy;

	json_key(j, "int8");
	if (!a) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key_str(j, "data", a->data);
	json_key_str(j, "ranges", a->rule);
	json_key_real(j, "min_sqnr", a->limits.min_sqnr);
	json_key_real(j, "max_error", a->limits.max_error);
	json_key_uint(j, "barred", a->nbarred);
	json_key_uint(j, "samples", a->nsamples);
	if (a->region)
		write_losses(j, w);
	json_close(j);
}

static void
write_counts(struct json *j, const struct plan *p)
{
	uint32_t state[3] = {0}, source[4] = {0};

	for (uint32_t i = 0; i < p->candidates->n; i++) {
		const struct price *price = prices_candidate(p->prices, i);

		state[price->state]++;
		source[price->source] += price->state == PRICE_KNOWN;
	}
	json_key(j, "counts");
	json_object(j);
	json_key_uint(j, "candidates", p->candidates->n);
	json_key_uint(j, "distinct", p->prices->nkeys);
	json_key_uint(j, "known", state[PRICE_KNOWN]);
	json_key_uint(j, "unpriced", state[PRICE_BOUND]);
	json_key_uint(j, "failed", state[PRICE_FAILED]);
	for (enum price_source s = PRICE_MEASURED; s <= PRICE_ESTIMATED; s++)
		json_key_uint(j, price_source_text(s), source[s]);
	json_key_uint(j, "composites", p->ncomposites);
	json_key_uint(j, "conversions", p->nconversions);
	json_key_uint(j, "regions", p->nregions);
	json_close(j);
}

static void
write_constraint(
    struct json *j, const struct emit_work *w, const struct constraint *c)
{
	static const char *const kind[] = {
	    [CONSTRAIN_PIN] = "pin",
	    [CONSTRAIN_FORBID] = "forbid",
	    [CONSTRAIN_STOP] = "stop",
	    [CONSTRAIN_REGIONS] = "regions",
	    [CONSTRAIN_REGION_NODES] = "region_nodes",
	    [CONSTRAIN_INPUTS] = "inputs",
	    [CONSTRAIN_CAPACITY] = "capacity",
	    [CONSTRAIN_PARTITION] = "partition",
	};

	json_inline_object(j);
	json_key_str(j, "kind", kind[c->kind]);
	json_key_str(j, "text", c->text);
	json_key(j, "targets");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->mix->n; i++)
		if (c->targets >> i & 1)
			json_uint(j, i);
	json_close(j);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < c->nnodes; i++)
		json_str(j, w->ref[c->node[i]]);
	json_close(j);
	json_key_uint(j, "amount", c->amount);
	json_close(j);
}

static void
write_constraints(struct json *j, const struct emit_work *w)
{
	const struct constraints *s = w->in->constraints;

	json_key(j, "constraints");
	json_array(j);
	for (uint32_t i = 0; s && i < s->n; i++)
		write_constraint(j, w, &s->item[i]);
	json_close(j);
}

/* What was asked for, where that is not the default: a plan is run and searched again
 * among the same candidates, with as many threads. */
static void
write_asked(struct json *j, const struct emit_work *w)
{
	const struct candidates *c = w->plan->candidates;

	if (w->in->threads > 1)
		json_key_uint(j, "threads", w->in->threads);
	if (!c->keep_nan)
		json_key_str(j, "nan", "ignore");
	if (c->exact)
		json_key_bool(j, "exact_convolutions", true);
	if (c->exact_halves)
		json_key_bool(j, "exact_halves", true);
}

/* Nodes nothing here knows: what the result rests on that nobody checked. */
static void
write_opaque(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "opaque");
	json_array(j);
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
		const struct price *price = emit_price(w, i);

		if (!c->opaque)
			continue;
		json_object(j);
		json_key_str(j, "node", w->ref[c->node[0]]);
		json_key_str(j, "label", w->label[c->node[0]]);
		json_cost(j, "cost_ns", price->ns);
		json_key_bool(j, "told", price->source == PRICE_EXTERNAL);
		write_types(j, w->graph, "outputs",
		    p->graph->node[c->node[0]].output,
		    p->graph->node[c->node[0]].noutputs);
		json_close(j);
	}
	json_close(j);
}

static void
write_nodes(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "nodes");
	json_array(j);
	for (node_id i = 0; i < p->graph->nnodes; i++) {
		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "ref", w->ref[i]);
		json_key_str(j, "label", w->label[i]);
		json_key_str(j, "op_type", p->graph->node[i].op_type);
		json_key_uint(j, "composite", p->composite_of[i]);
		json_close(j);
	}
	json_close(j);
}

bool
write_result(FILE *f, const struct emit_work *w, struct err *err)
{
	struct json j;
	const struct notes *notes = &w->in->model->notes;

	(void)err;
	emit_json(&j, f, w);
	json_object(&j);
	json_key_str(&j, "schema", "marq.result/3");
	write_model(&j, w);
	write_board(&j, w->plan->prices->board);
	write_mix(&j, w);
	write_asked(&j, w);
	write_total(&j, w);
	write_proof(&j, w);
	write_confirmation(&j, w);
	write_ties(&j, w);
	write_eager(&j, w);
	outlook_json(&j, w);
	write_accuracy(&j, w);
	write_counts(&j, w->plan);
	write_constraints(&j, w);
	json_key(&j, "plan");
	plan_json(&j, w);
	write_opaque(&j, w);
	write_nodes(&j, w);
	json_key(&j, "notes");
	json_array(&j);
	for (uint32_t i = 0; i < notes->n; i++)
		json_str(&j, notes->text[i]);
	json_close(&j);
	json_close(&j);
	return true;
}
