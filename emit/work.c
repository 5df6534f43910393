#include "emit/work.h"

#include <inttypes.h>
#include <string.h>

#include "ir/base/json.h"
#include "ir/base/plural.h"

static const char *
reference(const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			return g->value[n->output[i]].name;
	return "";
}

static void
name_nodes(struct emit_work *w)
{
	const struct graph *g = w->graph;
	const char **label = arena_new(w->arena, const char *, g->nnodes);
	const char **ref = arena_new(w->arena, const char *, g->nnodes);

	for (node_id i = 0; i < g->nnodes; i++) {
		label[i] = node_label(g, i, w->arena);
		ref[i] = reference(g, &g->node[i]);
	}
	w->label = label;
	w->ref = ref;
}

static void
name_regions(struct emit_work *w)
{
	const struct plan *p = w->plan;
	const char **name = arena_new(w->arena, const char *, p->nregions);
	uint32_t *number = arena_new(w->arena, uint32_t, p->nregions);

	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct target_kind *kind = emit_target(w, i)->kind;

		name[i] = arena_printf(w->arena, "%s_%u", kind->name, i);
		for (uint32_t k = 0; k < i; k++)
			number[i] +=
			    strcmp(emit_target(w, k)->kind->name, kind->name)
			    == 0;
	}
	w->region = name;
	w->number = number;
}

void
emit_work_init(struct emit_work *w, const struct emit_in *in, struct arena *a)
{
	*w = (struct emit_work){
	    .in = in,
	    .plan = in->plan,
	    .graph = in->plan->graph,
	    .arena = a,
	};
	name_nodes(w);
	name_regions(w);
}

const struct price *
emit_price(const struct emit_work *w, uint32_t composite)
{
	const struct plan *p = w->plan;

	return prices_candidate(p->prices, p->composite[composite].candidate);
}

const struct target *
emit_target(const struct emit_work *w, uint32_t region)
{
	const struct plan *p = w->plan;

	return &p->mix->target[p->region[region].target];
}

const struct rule *
emit_rule(const struct emit_work *w, const struct candidate *c)
{
	return &w->plan->mix->target[c->target].kind->rule[c->rule];
}

bool
emit_region_is_host(const struct emit_work *w, uint32_t region)
{
	return target_is_host(emit_target(w, region));
}

const char *
emit_placement(const struct emit_work *w, uint32_t composite)
{
	const struct plan_composite *at = &w->plan->composite[composite];
	const struct candidate *c = plan_candidate(w->plan, composite);

	return arena_printf(w->arena,
	    "%s, composite %" PRIu32 " (%s, %s; %" PRIu32 " node%s, %s)",
	    w->region[at->region], composite, emit_rule(w, c)->name,
	    c->implementation_name, c->nnodes, plural(c->nnodes),
	    cost_text(at->cost, w->arena));
}

const struct price *
emit_conversion_price(
    const struct emit_work *w, const struct plan_conversion *c)
{
	const struct prices *p = w->plan->prices;

	if (!p->value_class || !p->conversion
	    || p->value_class[c->value] == UINT32_MAX)
		return NULL;
	return &conversion_at(p, p->value_class[c->value], c->from, c->to)
	            ->price;
}

size_t
emit_value_bytes(const struct emit_work *w, value_id v, format_id f)
{
	const struct type *t = &w->graph->value[v].type;

	if (t->kind != TYPE_TENSOR || !type_is_static(t))
		return 0;
	return format_bytes(w->plan->mix->formats.format[f], t);
}

const char *
cost_text(cost_ns ns, struct arena *a)
{
	if (ns == COST_NEVER)
		return "never";
	if (ns == 0)
		return "0 µs";
	if (ns < 10000)
		return arena_printf(a, "%.3f µs", (double)ns / 1e3);
	if (ns < 1000000)
		return arena_printf(a, "%.1f µs", (double)ns / 1e3);
	if (ns < 1000000000)
		return arena_printf(a, "%.3f ms", (double)ns / 1e6);
	return arena_printf(a, "%.3f s", (double)ns / 1e9);
}

const char *
emit_format(const struct emit_work *w, format_id f)
{
	return format_text(w->plan->mix->formats.format[f], w->arena);
}

void
emit_json(struct json *j, FILE *f, const struct emit_work *w)
{
	if (w->tree)
		json_init_tree(j, w->tree);
	else
		json_init(j, f, 1);
}

void
json_cost(struct json *j, const char *key, cost_ns ns)
{
	json_key(j, key);
	if (ns == COST_NEVER)
		json_null(j);
	else
		json_uint(j, ns);
}

void
json_price(struct json *j, const char *key, const struct price *p)
{
	json_key(j, key);
	json_inline_object(j);
	json_key_str(j, "basis", price_basis(p, false));
	json_key_str(j, "state",
	    p->state == PRICE_KNOWN        ? "known"
	        : p->state == PRICE_FAILED ? "failed"
	                                   : "bound");
	json_cost(j, "ns", price_expected(p));
	if (p->state == PRICE_BOUND)
		json_cost(j, "bound_ns", p->bound);
	if (p->state != PRICE_FAILED) {
		json_cost(j, "low_ns", p->low);
		json_cost(j, "high_ns", p->high);
	}
	json_key_str(j, "source", price_source_text(p->source));
	if (p->samples)
		json_key_uint(j, "samples", p->samples);
	if (p->cpu)
		json_cost(j, "cpu_ns", p->cpu);
	if (p->detail && *p->detail)
		json_key_str(j, "rests_on", p->detail);
	json_close(j);
}

bool
emit_leave_out(const struct emit_work *w, const struct outdir *o, FILE *f,
    const char *name, struct err *err)
{
	out_discard(o, f, name);
	if (err->kind != ERR_UNSUPPORTED || !w->in->notes)
		return err_in(err, "%s", name);
	notes_add(w->in->notes, "%s is left out: %s", name, err->text);
	err_clear(err);
	return true;
}
