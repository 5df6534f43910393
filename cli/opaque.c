#include "cli/opaque.h"

#include <inttypes.h>
#include <string.h>

#include "cli/job_state.h"
#include "cli/units.h"
#include "ir/base/buf.h"
#include "ir/base/plural.h"

/* ---- which ---- */

static const struct node *
unknown_in(const struct node *n)
{
	const struct graph *body;

	if (n->op == OP_CUSTOM)
		return n;
	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
		for (node_id id = 0; id < body->nnodes; id++)
			if (node_is_opaque(&body->node[id]))
				return unknown_in(&body->node[id]);
	return n;
}

static const char *
operator_of(const struct node *n, struct arena *a)
{
	return n->domain[0] ? arena_printf(a, "%s.%s", n->domain, n->op_type)
	                    : n->op_type;
}

const char *
opaque_text(const struct graph *g, node_id id, struct arena *a)
{
	const struct node *n = graph_node(g, id), *inner = unknown_in(n);

	return arena_printf(a, "'%s' (%s%s%s)", node_label(g, id, a),
	    operator_of(n, a), inner == n ? "" : ", with ",
	    inner == n ? ""
	        : inner->name[0]
	        ? arena_printf(
	            a, "'%s', %s, in it", inner->name, operator_of(inner, a))
	        : arena_printf(a, "%s in it", operator_of(inner, a)));
}

/* By id, those that only the host's place holder covers. */
static node_id *
find_opaque(const struct job *j, uint32_t *n)
{
	const struct candidates *all = &j->candidates;
	node_id *id = arena_new(j->arena, node_id, all->n);

	*n = 0;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->candidate[i].opaque)
			id[(*n)++] = all->candidate[i].node[0];
	return id;
}

static const char *
named(const struct job *j, const node_id *id, uint32_t n)
{
	const char *first = opaque_text(j->model.graph, id[0], j->arena);

	return n == 1 ? first
	              : arena_printf(j->arena, "%s and %" PRIu32 " more node%s",
	                  first, n - 1, plural(n - 1));
}

/* ---- what comes out of them ---- */

/* As --shape takes it; sizes nobody knows are ones. */
static const char *
shape_to_give(const struct value *v, struct arena *a)
{
	const struct type *t = &v->type;
	const bool tensor = t->kind == TYPE_TENSOR;
	const char *text = arena_printf(a, "%s=", v->name);

	if (!tensor || t->rank == RANK_UNKNOWN)
		text = arena_printf(a, "%sAxBxC", text);
	for (uint32_t i = 0; tensor && t->rank != RANK_UNKNOWN && i < t->rank;
	     i++)
		text = t->dim[i] < 0 ? arena_printf(a, "%s%s%c", text,
		           i ? "x" : "", (char)('A' + i % 26))
		                     : arena_printf(a, "%s%s%" PRId64, text,
		                         i ? "x" : "", t->dim[i]);
	return tensor && t->dtype != DT_UNDEFINED
	    ? text
	    : arena_printf(a, "%s:TYPE", text);
}

/* A sequence has no shape to state. */
static bool
is_known(const struct type *t)
{
	return t->kind == TYPE_TENSOR
	    ? t->dtype != DT_UNDEFINED && type_is_static(t)
	    : t->kind != TYPE_UNKNOWN;
}

static void
list_unknown(struct buf *b, const struct job *j, node_id id)
{
	const struct graph *g = j->model.graph;
	const struct node *n = graph_node(g, id);

	for (uint32_t i = 0; i < n->noutputs; i++) {
		const struct value *v = node_out(g, n, i);

		if (v && !is_known(&v->type))
			buf_printf(
			    b, " --shape '%s'", shape_to_give(v, j->arena));
	}
}

static bool
check_shapes(
    const struct job *j, const node_id *id, uint32_t n, struct err *err)
{
	node_id first = NODE_NONE;
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < n; i++) {
		list_unknown(&b, j, id[i]);
		if (b.n && first == NODE_NONE)
			first = id[i];
	}
	if (b.n)
		err_set(err, ERR_USAGE,
		    "%s: the model does not say what comes out of %s; give:%.*s",
		    j->args->model,
		    opaque_text(j->model.graph, first, j->arena), (int)b.n,
		    b.data);
	buf_release(&b);
	return first == NODE_NONE;
}

/* ---- what they cost ---- */

/* "[OPERATOR|NODE=]DURATION". */
static bool
tell_price(struct job *j, const char *text, const node_id *id, uint32_t n,
    struct err *err)
{
	const struct graph *g = j->model.graph;
	const char *equals = strrchr(text, '=');
	const char *word =
	    arena_strn(j->arena, text, equals ? (size_t)(equals - text) : 0);
	bool found = !equals;
	uint64_t ns;

	if (!parse_duration(equals ? equals + 1 : text, &ns, err))
		return err_in(err, "--opaque-price %s", text);
	if (ns > COST_MAX)
		return err_set(err, ERR_USAGE,
		    "--opaque-price %s: it is beyond 2^62 ns", text);
	for (uint32_t i = 0; i < n; i++) {
		const struct node *node = graph_node(g, id[i]);

		if (equals && strcmp(word, operator_of(node, j->arena)) != 0
		    && strcmp(word, node->op_type) != 0
		    && strcmp(word, node_label(g, id[i], j->arena)) != 0)
			continue;
		found = true;
		j->told[id[i]] = ns;
	}
	return found
	    || err_set(err, ERR_USAGE,
	        "--opaque-price %s: no opaque node or operator '%s'", text,
	        word);
}

static bool
tell_prices(struct job *j, const node_id *id, uint32_t n, struct err *err)
{
	const struct text_list *list = &j->args->opaque_prices;
	const uint32_t all = j->model.graph->nnodes;

	j->told = arena_new(j->arena, cost_ns, all);
	for (node_id i = 0; i < all; i++)
		j->told[i] = COST_NEVER;
	for (uint32_t i = 0; i < list->n; i++)
		if (!tell_price(j, list->text[i], id, n, err))
			return false;
	return true;
}

static void
say_what_is_kept(struct job *j, const node_id *id, uint32_t n)
{
	uint32_t untold = 0;

	for (uint32_t i = 0; i < n; i++)
		untold += j->told[id[i]] == COST_NEVER;
	notes_add(&j->model.notes,
	    "nothing here knows %s: %s on the host, neither run nor verified",
	    named(j, id, n), n == 1 ? "an opaque step" : "opaque steps");
	if (untold > 0)
		notes_add(&j->model.notes,
		    "%" PRIu32 " opaque node%s counted as 0 ns: --opaque-price "
		    "tells the time of one",
		    untold, plural(untold));
}

/* What the importer noted of a form of this operator that is not written out, to
 * go behind its name; or "". */
static const char *
form_noted(const struct job *j, const struct node *n)
{
	const char *name = arena_printf(j->arena, "%s.%s with ",
	    n->domain[0] ? n->domain : "ai.onnx", n->op_type);

	for (uint32_t i = 0; i < j->model.notes.n; i++)
		if (strncmp(j->model.notes.text[i], name, strlen(name)) == 0)
			return arena_printf(
			    j->arena, ": %s", j->model.notes.text[i]);
	return "";
}

bool
opaque_settle(struct job *j, struct err *err)
{
	uint32_t n;
	const node_id *id = find_opaque(j, &n);

	if (n > 0 && !j->args->onnx.opaque)
		return err_set(err, ERR_UNSUPPORTED,
		    "%s: no target can run %s%s; --opaque keeps such nodes as "
		    "opaque steps on the host",
		    j->args->model, named(j, id, n),
		    form_noted(j, graph_node(j->model.graph, id[0])));
	if (!tell_prices(j, id, n, err))
		return false;
	if (n == 0 || j->informs)
		return true;
	if (!check_shapes(j, id, n, err))
		return false;
	say_what_is_kept(j, id, n);
	return true;
}

bool
opaque_run(const struct job *j, struct err *err)
{
	uint32_t n;
	const node_id *id = find_opaque(j, &n);

	return n == 0
	    || err_set(err, ERR_UNSUPPORTED,
	        "%s: %s cannot be run here: that needs a plug-in which "
	        "implements it (`marq search --opaque` plans around it)",
	        j->args->model, named(j, id, n));
}
