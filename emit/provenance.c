#include "emit/writers.h"

#include "ir/base/json.h"
#include "plan/origins.h"

static const char *
origin_text(enum price_origin o)
{
	static const char *const text[] = {
	    [FROM_NOWHERE] = "nowhere",
	    [FROM_DB_EXACT] = "database",
	    [FROM_DB_COMPATIBLE] = "database, compatible environment",
	    [FROM_DB_OTHER] = "database, another environment",
	    [FROM_MEASURING] = "measured now",
	    [FROM_SIMULATION] = "simulated now",
	    [FROM_EXTERNAL] = "external tool now",
	    [FROM_ESTIMATE] = "estimated now",
	};

	return text[o];
}

static void
write_price(struct json *j, const struct price *p)
{
	json_key_str(j, "origin", origin_text(p->origin));
	json_key_str(j, "source", price_source_text(p->source));
	if (price_class(p)) {
		json_key_str(j, "class", price_class(p));
		json_key_str(j, "machine", p->machine);
	}
	json_key_str(j, "when", p->when ? p->when : "");
	json_key_uint(j, "samples", p->samples);
	if (p->cpu)
		json_cost(j, "cpu_ns", p->cpu);
	json_key_str(j, "detail", p->detail ? p->detail : "");
}

static const char *const whys[NWHY] = {
#define WHY(member, words, fact) #member,
#include "costmodel/why.def"
};

static void
write_counts(struct json *j, const struct pricer_counts *n)
{
	json_key(j, "counts");
	json_object(j);
	json_key_uint(j, "distinct", n->distinct);
	json_key_uint(j, "exact", n->exact);
	json_key_uint(j, "compatible", n->compatible);
	json_key_uint(j, "stale", n->stale);
	json_key_uint(j, "missed", n->missed);
	json_key_uint(j, "measured", n->measured);
	json_key_uint(j, "failed", n->failed);
	json_key_uint(j, "simulated", n->simulated);
	json_key_uint(j, "estimated", n->estimated);
	json_key_uint(j, "stored", n->stored);
	json_key_uint(j, "reused", n->reused);
	json_key_uint(j, "accepted", n->accepted);
	json_key_uint(j, "accepted_any", n->accepted_any);
	json_key_uint(j, "refused", n->refused);
	json_key_uint(j, "shape_changed", n->shape_changed);
	json_key_uint(j, "attribute_changed", n->attribute_changed);
	json_key_uint(j, "operator_changed", n->operator_changed);
	json_key(j, "measured_why");
	json_inline_object(j);
	for (int i = 0; i < NWHY; i++)
		json_key_uint(j, whys[i], n->why[i]);
	json_close(j);
	json_key_uint(j, "canaries", n->canaries);
	json_key_uint(j, "drift_permille", n->drift_permille);
	json_close(j);
}

/* How many prices of the plan are of which class and machine. */
static void
write_machines(struct json *j, const struct emit_work *w)
{
	uint32_t n;
	const struct plan_origin *o = plan_origins(w->plan, &n, w->arena);

	json_key(j, "machines");
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(j);
		json_key_str(j, "class", o[i].class);
		json_key_str(j, "machine", o[i].machine);
		json_key_uint(j, "prices", o[i].n);
		json_close(j);
	}
	json_close(j);
}

static void
write_composites(struct json *j, const struct emit_work *w)
{
	json_key(j, "composites");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->ncomposites; i++) {
		json_inline_object(j);
		json_key_uint(j, "id", i);
		write_price(j, emit_price(w, i));
		json_close(j);
	}
	json_close(j);
}

static void
write_conversions(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "conversions");
	json_array(j);
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];
		const struct price *price = emit_conversion_price(w, c);

		json_inline_object(j);
		json_key_str(j, "value", w->graph->value[c->value].name);
		json_key_str(j, "from", emit_format(w, c->from));
		json_key_str(j, "to", emit_format(w, c->to));
		if (price)
			write_price(j, price);
		json_close(j);
	}
	json_close(j);
}

/* Candidates that crashed, hung or gave a wrong result, and how. */
static void
write_failures(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_key(j, "failures");
	json_array(j);
	for (uint32_t i = 0; i < p->candidates->n; i++) {
		const struct candidate *c = &p->candidates->candidate[i];

		if (prices_candidate(p->prices, i)->state != PRICE_FAILED)
			continue;
		json_inline_object(j);
		json_key_str(j, "node", w->label[c->match->root]);
		json_key_str(j, "target", p->mix->target[c->target].text);
		json_key_str(j, "rule", emit_rule(w, c)->name);
		json_key_str(j, "implementation", c->implementation_name);
		write_price(j, prices_candidate(p->prices, i));
		json_close(j);
	}
	json_close(j);
}

static void
write_prices(struct json *j, const struct emit_work *w)
{
	write_machines(j, w);
	write_composites(j, w);
	write_conversions(j, w);
	write_failures(j, w);
}

bool
write_provenance(FILE *f, const struct emit_work *w, struct err *err)
{
	struct json j;

	(void)err;
	emit_json(&j, f, w);
	json_object(&j);
	json_key_str(&j, "schema", "marq.provenance/1");
	json_key_str(&j, "command", w->in->command);
	write_counts(&j, &w->in->counts);
	if (!w->tree)
		write_prices(&j, w);
	json_close(&j);
	return true;
}
