#include "emit/plan_json.h"

#include "ir/base/json.h"

void
ports_json(struct json *j, const struct emit_work *w, const char *key,
    const struct port *port, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(j);
		json_key_str(j, "value", w->graph->value[port[i].value].name);
		json_key_str(j, "format", emit_format(w, port[i].format));
		json_close(j);
	}
	json_close(j);
}

static void
write_composite(struct json *j, const struct emit_work *w, uint32_t id)
{
	const struct plan_composite *composite = &w->plan->composite[id];
	const struct candidate *c = plan_candidate(w->plan, id);

	json_object(j);
	json_key_uint(j, "id", id);
	json_key_uint(j, "region", composite->region);
	json_key_uint(j, "target", c->target);
	json_key_str(j, "rule", emit_rule(w, c)->name);
	json_key_str(j, "implementation", c->implementation_name);
	json_key(j, "nodes");
	json_inline_array(j);
	for (uint32_t i = 0; i < c->nnodes; i++)
		json_str(j, w->ref[c->node[i]]);
	json_close(j);
	json_key(j, "node_ids");
	json_inline_array(j);
	for (uint32_t i = 0; i < c->nnodes; i++)
		json_uint(j, c->node[i]);
	json_close(j);
	ports_json(j, w, "inputs", c->input, c->ninputs);
	ports_json(j, w, "outputs", c->output, c->noutputs);
	json_cost(j, "cost_ns", composite->cost);
	json_price(j, "price", emit_price(w, id));
	json_close(j);
}

static void
write_region(struct json *j, const struct emit_work *w, uint32_t id)
{
	const struct plan_region *r = &w->plan->region[id];

	json_object(j);
	json_key_uint(j, "id", id);
	json_key_str(j, "name", w->region[id]);
	json_key_uint(j, "target", r->target);
	json_key_uint(j, "first", r->first);
	json_key_uint(j, "composites", r->ncomposites);
	ports_json(j, w, "inputs", r->input, r->ninputs);
	ports_json(j, w, "outputs", r->output, r->noutputs);
	json_cost(j, "launch_ns", r->launch);
	json_cost(j, "cost_ns", r->cost);
	json_close(j);
}

static void
write_conversion(
    struct json *j, const struct emit_work *w, const struct plan_conversion *c)
{
	const struct price *price = emit_conversion_price(w, c);

	json_object(j);
	json_key_str(j, "value", w->graph->value[c->value].name);
	json_key_str(j, "from", emit_format(w, c->from));
	json_key_str(j, "to", emit_format(w, c->to));
	json_key(j, "before");
	if (c->before < w->plan->ncomposites)
		json_uint(j, c->before);
	else
		json_null(j);
	json_key_uint(j, "payer", plan_payer(w->plan, c));
	json_key_uint(j, "bytes", emit_value_bytes(w, c->value, c->to));
	json_cost(j, "cost_ns", c->cost);
	if (price)
		json_price(j, "price", price);
	json_close(j);
}

void
plan_json(struct json *j, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	json_object(j);
	json_key_str(j, "schema", "marq.plan/1");
	json_key_str(j, "graph", p->graph->name);
	json_key_uint(j, "nodes", p->graph->nnodes);
	json_key(j, "targets");
	json_inline_array(j);
	for (uint32_t i = 0; i < p->mix->n; i++)
		json_str(j, p->mix->target[i].text);
	json_close(j);
	json_key(j, "composites");
	json_array(j);
	for (uint32_t i = 0; i < p->ncomposites; i++)
		write_composite(j, w, i);
	json_close(j);
	json_key(j, "regions");
	json_array(j);
	for (uint32_t i = 0; i < p->nregions; i++)
		write_region(j, w, i);
	json_close(j);
	json_key(j, "conversions");
	json_array(j);
	for (uint32_t i = 0; i < p->nconversions; i++)
		write_conversion(j, w, &p->conversion[i]);
	json_close(j);
	json_close(j);
}
