/* marq model info: what a model is, how much work it makes, and which targets
 * take which of its nodes. */
#include <string.h>

#include "cli/answer.h"
#include "cli/job.h"
#include "cli/model.h"
#include "cli/model_facts.h"
#include "ir/base/bitset.h"
#include "ir/base/shell.h"
#include "ir/normalize.h"
#include "targets/idiom_find.h"

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
	uint32_t nidioms[NIDIOMS], idiom_nodes;
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

		for (uint32_t k = 0;
		     c->target == t && !c->opaque && k < c->nnodes; k++)
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

static void
find_idioms(struct info *in, const struct idioms *all)
{
	struct bitset nodes = bitset_new(in->job->arena, in->g->nnodes);

	for (uint32_t i = 0; i < all->n; i++) {
		const struct idiom_match *m = &all->match[i];

		if (!idiom_is_whole(all, i))
			continue;
		in->nidioms[m->kind]++;
		for (uint32_t k = 0; k < m->nnodes; k++)
			bitset_add(nodes, m->node[k]);
	}
	for (node_id id = 0; id < in->g->nnodes; id++)
		in->idiom_nodes += bitset_has(nodes, id);
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
	find_idioms(in, j->candidates.idioms);
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
tell_ends(struct answer *a, const struct info *in, const char *key,
    const value_id *v, uint32_t n)
{
	answer_list(a, key);
	for (uint32_t i = 0; i < n; i++)
		ANSWER_LINE(a, "{key:-11} {name}  {type}\n",
		    T("key", i ? "" : key),
		    F("name", graph_value(in->g, v[i])->name),
		    F("type", type_of(in, v[i])));
	answer_close(a);
}

static void
tell_header(struct answer *a, const struct info *in)
{
	const struct model *m = &in->job->model;

	ANSWER(a,
	    "model       {model} ({file_mib:.3g} MiB)\n"
	    "format      IR {ir_version}",
	    F("model", m->path), F("file_bytes", m->file_bytes),
	    T("file_mib", (double)m->file_bytes / 1048576),
	    F("ir_version", m->ir_version));
	answer_object(a, "opset");
	for (uint32_t i = 0; i < m->nopsets; i++) {
		const char *d = m->opset[i].domain;

		ANSWER(a, ", {domain} {version}",
		    T("domain", d[0] ? d : "ai.onnx"),
		    T("version", m->opset[i].version));
		answer_fields(a, NULL,
		    &(struct field){d[0] ? d : "ai.onnx", FIELD_UINT, false,
		        {.number = m->opset[i].version}},
		    1);
	}
	answer_close(a);
	ANSWER(a, "\n{?producer producer    {producer}\n}",
	    F("producer", m->producer));
	tell_ends(a, in, "inputs", in->g->input, in->g->ninputs);
	tell_ends(a, in, "outputs", in->g->output, in->g->noutputs);
}

static void
tell_totals(struct answer *a, const struct info *in)
{
	const struct model_facts *f = &in->facts;

	ANSWER(a,
	    "nodes       {onnx_nodes} in the file: {kept} kept, {folded} folded, "
	    "{dropped} dropped; {nodes} to run\n",
	    F("onnx_nodes", in->g->origin_table->n),
	    F("kept", in->fate[FATE_COVERED]),
	    F("folded", in->fate[FATE_FOLDED]),
	    F("dropped", in->fate[FATE_DROPPED]), F("nodes", in->g->nnodes));
	ANSWER(a,
	    "parameters  {parameters} ({mib:.3g} MiB)\n"
	    "work        {gflop:.3g} GFLOP a run{?nodes_of_unknown_work , not "
	    "counting nodes of dynamic shape}\n"
	    "dynamic     {?dynamic {dynamic} value{s dynamic} without static "
	    "shape{?symbols ; bind dimensions with --dim}}{!dynamic nothing: "
	    "every shape is known}\n",
	    F("parameters", f->parameters),
	    F("parameter_bytes", f->parameter_bytes),
	    T("mib", (double)f->parameter_bytes / 1048576),
	    F("flops", f->flops), T("gflop", (double)f->flops / 1e9),
	    F("nodes_of_unknown_work", f->nunknown),
	    F("values_without_static_shape", f->ndynamic),
	    T("dynamic", f->ndynamic), T("symbols", in->g->nsymbols));
}

/* What exporters spelled out, and in how many nodes. */
static void
tell_idioms(struct answer *a, const struct info *in)
{
	ANSWER(a,
	    "idioms      {?nodes_of_idioms spelled out in {nodes_of_idioms} "
	    "nodes}{!nodes_of_idioms none spelled out}\n",
	    F("nodes_of_idioms", in->idiom_nodes));
	answer_list(a, "idioms");
	for (uint32_t i = 0; i < NIDIOMS; i++)
		if (in->nidioms[i])
			ANSWER_LINE(a, "{key:-11} {count} {name}\n",
			    T("key", ""), F("count", in->nidioms[i]),
			    F("name", idiom_name((enum idiom)i)));
	answer_close(a);
}

static void
tell_ops(struct answer *a, const struct info *in)
{
	const struct model_facts *f = &in->facts;

	ANSWER(a, "\n{op:-28} {nodes:6} {mflop:12} {share:7}\n",
	    T("op", "operator"), T("nodes", "nodes"), T("mflop", "MFLOP"),
	    T("share", "share"));
	answer_list(a, "operators");
	for (uint32_t i = 0; i < f->nops; i++) {
		const struct op_fact *op = &f->op[i];
		const bool other = op->domain[0];

		if (a->is_json)
			json_inline_object(&a->json);
		if (other)
			ANSWER(a, NULL, F("domain", op->domain));
		ANSWER(a, "{name:-28} {nodes:6} {mflop:12.3f} {share:6.1f}%\n",
		    T("name",
		        arena_printf(in->job->arena, "%s%s%s", op->domain,
		            other ? "." : "", op->type)),
		    F("type", op->type), F("nodes", op->count),
		    F("flops", op->flops), T("mflop", (double)op->flops / 1e6),
		    T("share",
		        f->flops ? 100 * (double)op->flops / (double)f->flops
		                 : 0.0));
		answer_close(a);
	}
	answer_close(a);
}

static void
tell_reach(struct answer *a, const struct info *in)
{
	ANSWER(a,
	    "\n{target:-28}  takes  does not take\n{?open (targets other than "
	    "the host take nodes of static shape only: bind dimensions with "
	    "--dim)\n}",
	    T("target", "target"),
	    T("open", in->facts.ndynamic && in->g->nsymbols));
	answer_list(a, "targets");
	for (uint32_t t = 0; t < in->nreaches; t++) {
		const struct reach *r = &in->reach[t];

		answer_row(a);
		ANSWER(a, "{target:-28} {takes:6}  {?all -}",
		    F("target", r->target), F("takes", r->ntaken),
		    T("all", r->nrefused == 0));
		answer_list(a, "does_not_take");
		for (uint32_t i = 0; i < r->nrefused; i++)
			ANSWER_LINE(a, "{?i , }{type} {nodes}", T("i", i),
			    F("type", r->refused[i].type),
			    F("nodes", r->refused[i].count));
		answer_close(a);
		answer_close(a);
		ANSWER(a, "{end}", T("end", "\n"));
	}
	answer_close(a);
}

static void
tell(const struct cli *c, const struct info *in)
{
	struct answer a;

	answer_begin(&a, c, "marq.model/1");
	tell_header(&a, in);
	tell_totals(&a, in);
	tell_idioms(&a, in);
	tell_ops(&a, in);
	tell_reach(&a, in);
	answer_end(&a);
}

static bool
inform(struct cli *c, struct search_args *args, struct err *err)
{
	struct info in = {.nreaches = 0};
	struct job job;
	bool ok;

	search_args_settle(args);
	args->onnx.opaque = true; /* what nothing takes is shown as such */
	ok = job_import(&job, args, c->run, err);
	job.informs = true;
	ok = ok && gather(&in, &job, err);
	if (ok) {
		cli_warn_all(c, &job.model.notes);
		tell(c, &in);
		if (in.facts.ndynamic && in.g->nsymbols)
			cli_next(c, "the same with --dim NAME=N");
		else
			cli_next(c, "marq search %s",
			    shell_quote(args->model, c->run));
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
