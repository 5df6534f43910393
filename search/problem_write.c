/* Writes what problem_json.c reads. */
#include <inttypes.h>

#include "ir/base/json.h"
#include "search/problem_json.h"

static void
write_cost(struct json *j, cost_ns cost)
{
	if (cost == COST_NEVER)
		json_null(j);
	else
		json_uint(j, cost);
}

static void
write_ids(struct json *j, const char *key, const uint32_t *list, uint32_t n)
{
	json_key(j, key);
	json_inline_array(j);
	for (uint32_t i = 0; i < n; i++)
		json_uint(j, list[i]);
	json_close(j);
}

static void
write_mask(struct json *j, const char *key, uint32_t mask)
{
	if (!mask)
		return;
	json_key(j, key);
	json_inline_array(j);
	for (uint32_t f = 0; f < FORMATS_MAX; f++)
		if (mask >> f & 1)
			json_uint(j, f);
	json_close(j);
}

static void
write_ports(struct json *j, const char *key, const struct problem_port *port,
    uint32_t n)
{
	json_key(j, key);
	json_inline_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_array(j);
		json_uint(j, port[i].value);
		json_uint(j, port[i].format);
		json_close(j);
	}
	json_close(j);
}

static void
write_target(struct json *j, const struct problem_target *t)
{
	json_inline_object(j);
	json_key_str(j, "name", t->name);
	json_key(j, "launch");
	write_cost(j, t->launch);
	if (t->max_runs != NO_LIMIT)
		json_key_uint(j, "max_runs", t->max_runs);
	if (t->max_run_nodes != NO_LIMIT)
		json_key_uint(j, "max_run_nodes", t->max_run_nodes);
	if (t->fed_only)
		json_key_bool(j, "fed_only", true);
	if (t->capacity != UINT64_MAX)
		json_key_uint(j, "capacity", t->capacity);
	if (t->part_of)
		json_key_uint(j, "part_of", t->part_of - 1);
	json_close(j);
}

static void
write_values(struct json *j, const struct problem *p)
{
	json_key(j, "values");
	json_array(j);
	for (uint32_t v = 0; v < p->nvalues; v++) {
		const struct problem_value *x = &p->value[v];

		json_inline_object(j);
		if (x->class != NO_CLASS)
			json_key_uint(j, "class", x->class);
		write_mask(j, "initial", x->initial);
		write_mask(j, "required", x->required);
		if (x->mark)
			json_key_bool(j, "mark", true);
		json_close(j);
	}
	json_close(j);
}

static void
write_conversions(struct json *j, const struct problem *p)
{
	const cost_ns *cost = p->conversion;

	json_key(j, "conversions");
	json_array(j);
	for (uint32_t class = 0; class < p->nclasses; class ++) {
		json_inline_array(j);
		for (uint32_t from = 0; from < p->nformats; from++) {
			json_inline_array(j);
			for (uint32_t to = 0; to < p->nformats; to++)
				write_cost(j, *cost++);
			json_close(j);
		}
		json_close(j);
	}
	json_close(j);
}

static void
write_candidates(struct json *j, const struct problem *p)
{
	json_key(j, "candidates");
	json_array(j);
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		const struct problem_candidate *c = &p->candidate[i];

		json_inline_object(j);
		json_key_uint(j, "target", c->target);
		json_key(j, "cost");
		write_cost(j, c->cost);
		write_ids(j, "nodes", c->node, c->nnodes);
		write_ports(j, "inputs", c->input, c->ninputs);
		write_ports(j, "outputs", c->output, c->noutputs);
		if (c->resource)
			json_key_uint(j, "resource", c->resource);
		json_key_uint(j, "class", c->class);
		if (c->banned)
			json_key_bool(j, "banned", true);
		json_close(j);
	}
	json_close(j);
}

void
problem_write(const struct problem *p, struct json *j)
{
	json_object(j);
	json_key_str(j, "schema", PROBLEM_SCHEMA);
	json_key(j, "formats");
	json_inline_array(j);
	for (uint32_t f = 0; f < p->nformats; f++)
		if (p->format_name)
			json_str(j, p->format_name[f]);
		else
			json_strf(j, "format %" PRIu32, f);
	json_close(j);
	write_mask(j, "local", p->local);
	json_key(j, "targets");
	json_array(j);
	for (uint32_t t = 0; t < p->ntargets; t++)
		write_target(j, &p->target[t]);
	json_close(j);
	write_conversions(j, p);
	write_values(j, p);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t n = 0; n < p->nnodes; n++) {
		json_inline_object(j);
		if (p->node[n].name)
			json_key_str(j, "name", p->node[n].name);
		write_ids(j, "inputs", p->node[n].input, p->node[n].ninputs);
		write_ids(j, "outputs", p->node[n].output, p->node[n].noutputs);
		json_close(j);
	}
	json_close(j);
	write_candidates(j, p);
	json_close(j);
}

static void
write_cover(struct json *j, const struct cover *c, const struct problem *p)
{
	json_key(j, "steps");
	json_array(j);
	for (uint32_t i = 0; i < c->nsteps; i++) {
		json_inline_object(j);
		json_key_uint(j, "candidate", c->step[i].candidate);
		json_key_uint(j, "run", c->step[i].run);
		json_key_str(j, "target",
		    p->target[p->candidate[c->step[i].candidate].target].name);
		json_close(j);
	}
	json_close(j);
	json_key(j, "conversions");
	json_array(j);
	for (uint32_t i = 0; i < c->nconversions; i++) {
		json_inline_object(j);
		json_key_uint(j, "value", c->conversion[i].value);
		json_key_uint(j, "from", c->conversion[i].from);
		json_key_uint(j, "to", c->conversion[i].to);
		json_key_uint(j, "before", c->conversion[i].before);
		json_key_uint(j, "cost", c->conversion[i].cost);
		json_close(j);
	}
	json_close(j);
}

void
solution_write(const struct search_result *r, const struct problem *p,
    cost_ns makespan, const char *infeasible, struct json *j)
{
	json_object(j);
	json_key_str(j, "schema", SOLUTION_SCHEMA);
	json_key_str(j, "searcher", r->searcher);
	json_key_bool(j, "found", r->found);
	json_key_bool(j, "proven", r->proven);
	json_key(j, "cost");
	write_cost(j, r->found ? r->cover.cost : COST_NEVER);
	json_key(j, "lower_bound");
	write_cost(j, r->lower_bound);
	if (makespan != COST_NEVER)
		json_key_uint(j, "makespan", makespan);
	if (*infeasible)
		json_key_str(j, "infeasible", infeasible);
	json_key_uint(j, "labels", r->labels);
	if (r->found)
		write_cover(j, &r->cover, p);
	json_close(j);
}
