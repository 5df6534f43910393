/* Why there is no plan. */
#include <inttypes.h>
#include <string.h>

#include "plan/conflict.h"
#include "plan/quest.h"

/* Why none of these targets runs a node: the last of its candidates to have
 * failed. */
static const struct price *
failure_at(const struct quest *q, node_id node, uint64_t targets)
{
	const struct candidates *all = q->r->candidates;
	const struct price *failed = NULL;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->candidate[i];
		bool covers = false;

		for (uint32_t k = 0; k < c->nnodes; k++)
			covers |= c->node[k] == node;
		if (!covers || !(targets >> c->target & 1))
			continue;
		if (q->r->prices->candidate[i].state != PRICE_FAILED)
			return NULL;
		failed = &q->r->prices->candidate[i];
	}
	return failed;
}

/* No plan although nothing was asked for: name a node whose every candidate
 * failed. Always false. */
static bool
name_failure(const struct quest *q, struct err *err)
{
	const struct graph *g = q->r->graph;

	for (node_id node = 0; node < g->nnodes; node++) {
		const struct price *failed = failure_at(q, node, ~UINT64_C(0));

		if (failed)
			return err_set(err, ERR_NO_COVER,
			    "node '%s' (#%" PRIu32 ", %s): nothing can run it: "
			    "%s",
			    node_label(g, node, q->arena), node,
			    graph_node(g, node)->op_type, failed->detail);
	}
	return err_set(err, ERR_NO_COVER,
	    "no legal plan exists: candidates that failed leave no cover");
}

/* A pin or a ban that cannot be met because what is left for a node failed: in
 * words, or "". */
static const char *
failure_under(const struct quest *q, const struct constraint *c)
{
	const uint64_t left =
	    c->kind == CONSTRAIN_PIN ? c->targets : ~c->targets;

	if (c->kind != CONSTRAIN_PIN && c->kind != CONSTRAIN_FORBID)
		return "";
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct price *failed = failure_at(q, c->node[i], left);

		if (failed)
			return arena_printf(q->arena, " (%s)", failed->detail);
	}
	return "";
}

bool
quest_explain_refused(const struct quest *q, struct err *err)
{
	const struct prices *p = q->r->prices;

	for (uint32_t i = p->nregions; i-- > 0;)
		if (p->region[i].state == PRICE_FAILED)
			return err_set(err, ERR_NO_COVER,
			    "no plan was found without a region that its "
			    "tool refuses: %s",
			    p->region[i].detail);
	return err_set(err, ERR_NO_COVER, "no plan has a price");
}

/* No plan: name constraints that rule all of them out. Always false. */
bool
quest_explain_none(struct quest *q, struct err *err)
{
	const struct constraints *c = q->r->constraints;
	uint32_t n = c ? c->n : 0;
	bool *in = arena_new(q->arena, bool, n);
	const char *text = "", *comma = "";

	if (q->overflow.kind)
		return err_set(err, ERR_NO_COVER,
		    "no plan that was asked for fits the memory of '%s': its "
		    "regions keep %" PRIu64 " bytes of a tile and need %" PRIu64
		    " to run, of %" PRIu64,
		    q->overflow.kind->name, q->overflow.resident,
		    q->overflow.scratch, q->overflow.limit);
	if (!q->best.proven)
		return err_set(err, ERR_NO_COVER,
		    "no legal plan was found before the budget ran out");
	if (constraints_conflict(in, q->r, q->arena) == 0)
		return name_failure(q, err);
	for (uint32_t i = 0; i < n; i++)
		if (in[i]) {
			text =
			    arena_printf(q->arena, "%s%s\"%s\"%s", text, comma,
			        c->item[i].text, failure_under(q, &c->item[i]));
			comma = ", ";
		}
	return err_set(err, ERR_NO_COVER,
	    "these constraints leave no legal plan: %s", text);
}
