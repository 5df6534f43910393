/* marq model info: what a model is, how much work it makes, and which targets
 * take which of its nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/job.h"
#include "cli/model.h"
#include "cli/model_facts.h"
#include "ir/base/bitset.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"
#include "ir/normalize.h"

/* What one target takes. */
struct reach {
	const char *target;
	uint32_t ntaken;
	uint32_t nrefused; /* operator types below */
	struct op_fact *refused; /* count: nodes it does not take */
};

struct info {
	const struct job *job;
	const struct graph *g;
	struct model_facts facts;
	uint32_t fate[3];
	uint32_t nreaches;
	struct reach *reach;
};

/* Nodes the mix's target t covers by some candidate. */
static struct bitset
taken_by(const struct job *j, uint32_t t)
{
	struct bitset taken = bitset_new(j->arena, j->model.graph->nnodes);

	for (uint32_t i = 0; i < j->candidates.n; i++) {
		const struct candidate *c = &j->candidates.candidate[i];

		for (uint32_t k = 0; c->target == t && k < c->nnodes; k++)
			bitset_add(taken, c->node[k]);
	}
	return taken;
}

static void
find_reach(struct reach *r, const struct job *j, uint32_t t)
{
	const struct graph *g = j->model.graph;
	struct bitset taken = taken_by(j, t);

	r->target = j->mix.target[t].text;
	r->refused = arena_new(j->arena, struct op_fact, g->nnodes);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];
		uint32_t i = 0;

		if (bitset_has(taken, id)) {
			r->ntaken++;
			continue;
		}
		while (i < r->nrefused
		    && strcmp(r->refused[i].type, n->op_type) != 0)
			i++;
		if (i == r->nrefused)
			r->refused[r->nrefused++] =
			    (struct op_fact){.type = n->op_type};
		r->refused[i].count++;
	}
}

/* A node that no target takes is what we are here to say, no fault. */
static bool
gather(struct info *in, struct job *j, struct err *err)
{
	if (!job_candidates(j, false, err)) {
		if (err->kind != ERR_NO_COVER)
			return false;
		err_clear(err);
	}
	in->job = j;
	in->g = j->model.graph;
	graph_conservation(in->g, in->fate);
	model_facts(&in->facts, in->g, j->arena);
	in->nreaches = j->mix.n;
	in->reach = arena_new(j->arena, struct reach, in->nreaches);
	for (uint32_t t = 0; t < in->nreaches; t++)
		find_reach(&in->reach[t], j, t);
	return true;
}

static const char *
type_of(const struct info *in, value_id v)
{
	return type_text(
	    &graph_value(in->g, v)->type, in->g->symbol, in->job->arena);
}

static void
print_ends(
    const struct info *in, const char *what, const value_id *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		printf("%-11s %s  %s\n", i ? "" : what,
		    graph_value(in->g, v[i])->name, type_of(in, v[i]));
}

static void
print_header(const struct info *in)
{
	const struct model *m = &in->job->model;

	printf("%-11s %s (%.3g MiB)\n", "model", m->path,
	    (double)m->file_bytes / 1048576);
	printf("%-11s IR %u", "format", m->ir_version);
	for (uint32_t i = 0; i < m->nopsets; i++)
		printf(", %s %u",
		    m->opset[i].domain[0] ? m->opset[i].domain : "ai.onnx",
		    m->opset[i].version);
	printf("\n");
	if (m->producer[0])
		printf("%-11s %s\n", "producer", m->producer);
	print_ends(in, "inputs", in->g->input, in->g->ninputs);
	print_ends(in, "outputs", in->g->output, in->g->noutputs);
}

static void
print_totals(const struct info *in)
{
	const struct model_facts *f = &in->facts;

	printf("%-11s %u in the file: %u kept, %u folded, %u dropped; %u to "
	       "run\n",
	    "nodes", in->g->origin_table->n, in->fate[FATE_COVERED],
	    in->fate[FATE_FOLDED], in->fate[FATE_DROPPED], in->g->nnodes);
	printf("%-11s %" PRIu64 " (%.3g MiB)\n", "parameters", f->parameters,
	    (double)f->parameter_bytes / 1048576);
	printf("%-11s %.3g GFLOP a run%s\n", "work", (double)f->flops / 1e9,
	    f->nunknown ? ", not counting nodes of dynamic shape" : "");
	if (f->ndynamic)
		printf("%-11s %u value%s without static shape%s\n", "dynamic",
		    f->ndynamic, plural(f->ndynamic),
		    in->g->nsymbols ? "; bind dimensions with --dim" : "");
	else
		printf("%-11s nothing: every shape is known\n", "dynamic");
}

static void
print_ops(const struct info *in)
{
	const struct model_facts *f = &in->facts;

	printf("\n%-28s %6s %12s %7s\n", "operator", "nodes", "MFLOP", "share");
	for (uint32_t i = 0; i < f->nops; i++) {
		const struct op_fact *op = &f->op[i];

		printf("%s%s%-*s %6u %12.3f %6.1f%%\n", op->domain,
		    op->domain[0] ? "." : "",
		    28 - (int)strlen(op->domain) - (op->domain[0] != '\0'),
		    op->type, op->count, (double)op->flops / 1e6,
		    f->flops ? 100 * (double)op->flops / (double)f->flops
		             : 0.0);
	}
}

static void
print_reach(const struct info *in)
{
	printf("\n%-28s %6s  %s\n", "target", "takes", "does not take");
	if (in->facts.ndynamic && in->g->nsymbols)
		puts("(targets other than the host take nodes of static shape "
		     "only: bind dimensions with --dim)");
	for (uint32_t t = 0; t < in->nreaches; t++) {
		const struct reach *r = &in->reach[t];

		printf("%-28s %6u  ", r->target, r->ntaken);
		for (uint32_t i = 0; i < r->nrefused; i++)
			printf("%s%s %u", i ? ", " : "", r->refused[i].type,
			    r->refused[i].count);
		printf("%s\n", r->nrefused ? "" : "-");
	}
}

static void
json_ends(struct json *j, const struct info *in, const char *key,
    const value_id *v, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(j);
		json_key_str(j, "name", graph_value(in->g, v[i])->name);
		json_key_str(j, "type", type_of(in, v[i]));
		json_close(j);
	}
	json_close(j);
}

static void
json_ops(struct json *j, const char *key, const struct op_fact *op, uint32_t n,
    bool work)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(j);
		if (op[i].domain && op[i].domain[0])
			json_key_str(j, "domain", op[i].domain);
		json_key_str(j, "type", op[i].type);
		json_key_uint(j, "nodes", op[i].count);
		if (work)
			json_key_uint(j, "flops", op[i].flops);
		json_close(j);
	}
	json_close(j);
}

static void
json_model(struct json *j, const struct info *in)
{
	const struct model *m = &in->job->model;

	json_key_str(j, "schema", "marq.model/1");
	json_key_str(j, "model", m->path);
	json_key_uint(j, "file_bytes", m->file_bytes);
	json_key_uint(j, "ir_version", m->ir_version);
	json_key(j, "opset");
	json_inline_object(j);
	for (uint32_t i = 0; i < m->nopsets; i++)
		json_key_uint(j,
		    m->opset[i].domain[0] ? m->opset[i].domain : "ai.onnx",
		    m->opset[i].version);
	json_close(j);
	json_key_str(j, "producer", m->producer);
	json_ends(j, in, "inputs", in->g->input, in->g->ninputs);
	json_ends(j, in, "outputs", in->g->output, in->g->noutputs);
}

static void
print_json(const struct info *in)
{
	const struct model_facts *f = &in->facts;
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_model(&j, in);
	json_key_uint(&j, "onnx_nodes", in->g->origin_table->n);
	json_key_uint(&j, "kept", in->fate[FATE_COVERED]);
	json_key_uint(&j, "folded", in->fate[FATE_FOLDED]);
	json_key_uint(&j, "dropped", in->fate[FATE_DROPPED]);
	json_key_uint(&j, "nodes", in->g->nnodes);
	json_key_uint(&j, "parameters", f->parameters);
	json_key_uint(&j, "parameter_bytes", f->parameter_bytes);
	json_key_uint(&j, "flops", f->flops);
	json_key_uint(&j, "nodes_of_unknown_work", f->nunknown);
	json_key_uint(&j, "values_without_static_shape", f->ndynamic);
	json_ops(&j, "operators", f->op, f->nops, true);
	json_key(&j, "targets");
	json_array(&j);
	for (uint32_t t = 0; t < in->nreaches; t++) {
		const struct reach *r = &in->reach[t];

		json_object(&j);
		json_key_str(&j, "target", r->target);
		json_key_uint(&j, "takes", r->ntaken);
		json_ops(&j, "does_not_take", r->refused, r->nrefused, false);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}

static bool
inform(struct cli *c, struct search_args *args, struct err *err)
{
	struct info in = {.nreaches = 0};
	struct job job;
	bool ok;

	targets_settle(args);
	args->plan_around = true; /* what nothing takes is shown as such */
	ok = job_import(&job, args, c->run, err) && gather(&in, &job, err);
	if (ok) {
		cli_warn_all(c, &job.model.notes);
		if (c->format == OUT_JSON) {
			print_json(&in);
		} else {
			print_header(&in);
			print_totals(&in);
			print_ops(&in);
			print_reach(&in);
			if (in.facts.ndynamic && in.g->nsymbols)
				cli_next(c, "the same with --dim NAME=N");
			else
				cli_next(c, "marq search %s", args->model);
		}
	}
	if (job.opened)
		model_close(&job.model);
	return ok;
}

static const struct command_line line = {
    .options = model_options,
    .operands = SEARCH_OPERAND(0),
    .args_doc = "MODEL.onnx",
    .doc = "Say what a model is: operators, shapes, parameters, work, "
           "and which target takes which nodes.",
};

bool
model_info(struct cli *c, int argc, char **argv, struct err *err)
{
	struct search_args args;

	search_args_init(&args, c);
	return cli_parse(c, &line, argc, argv, &args, err)
	    && inform(c, &args, err);
}
