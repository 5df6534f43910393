/* If: both branches, or the one a known condition takes. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/bodies.h"
#include "ir/infer/pass.h"
#include "ir/lenient.h"

static bool
check_condition(struct site *s, uint32_t i)
{
	enum dtype t = in_dtype(s, i);

	if (t != DT_UNDEFINED && t != DT_BOOL)
		return fault(
		    s, "condition is %s, bool is needed", dtype_name(t));
	return need_max_count(s, i, "condition");
}

/* 1 or 0 when the condition is known, else -1. */
static int
known_condition(const struct site *s, uint32_t i)
{
	struct small c = in_small(s, i);

	if (!c.e || c.n != 1 || !c.e[0].known)
		return -1;
	return c.e[0].v != 0;
}

/* Output types of one branch, in the symbols of this graph. */
static bool
branch_types(struct site *s, const char *attr, const struct infer_options *o,
    struct pass *inner, struct type *type)
{
	struct graph *body;

	if (!body_of(s, attr, &body))
		return false;
	if (body->noutputs != s->n->noutputs)
		return fault(s,
		    "%s has %" PRIu32 " outputs but the node has %" PRIu32,
		    attr, body->noutputs, s->n->noutputs);
	if (!body_enter(s, attr, body, inner))
		return false;
	inner->o = o;
	if (!body_infer(s, inner))
		return false;
	for (uint32_t i = 0; i < body->noutputs; i++)
		type[i] = type_carried(&s->pass->symbols, body,
		    &graph_value(body, body->output[i])->type);
	return true;
}

static bool
taken_branch(struct site *s, const char *attr)
{
	struct pass inner;

	if (!branch_types(s, attr, s->pass->o, &inner, s->out))
		return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		s->out_content[i] = inner.content[inner.g->output[i]];
	return true;
}

/* A branch that breaks a rule cannot be taken, whatever the condition says:
 * models traced for one input size have such branches. *works = it does not.
 * Nothing that was found in one is kept: half of it would contradict the rest. */
static bool
possible_branch(
    struct site *s, const char *attr, bool *works, struct type *type)
{
	struct infer_options o = *s->pass->o;
	const uint32_t notes = o.notes ? o.notes->n : 0;
	struct body_snapshot *saved;
	struct graph *body;
	struct pass inner;

	if (!body_of(s, attr, &body))
		return false;
	saved = body_save(body, s->pass->scratch);
	o.keep_going = false;
	*works = branch_types(s, attr, &o, &inner, type);
	body->as_read = !*works;
	if (*works)
		return true;
	if (s->err->kind != ERR_INPUT)
		return false;
	body_restore(saved);
	if (o.notes)
		o.notes->n = notes;
	lenient_note(s->pass->o->notes, LENIENT_BRANCH,
	    "node '%s%s': %s cannot be taken: %s", s->pass->path,
	    node_label(s->g, s->id, s->pass->scratch), attr, s->err->text);
	err_clear(s->err);
	return true;
}

static bool
join_branches(struct site *s, const struct type *yes, const struct type *no)
{
	bool same;

	for (uint32_t i = 0; i < s->n->noutputs; i++)
		if (!type_join(s->g->arena, &yes[i], &no[i], &s->out[i], &same))
			return fault(s,
			    "output %" PRIu32
			    " is %s or %s, depending on the branch",
			    i,
			    type_text(&yes[i], s->g->symbol, s->pass->scratch),
			    type_text(&no[i], s->g->symbol, s->pass->scratch));
	return true;
}

bool
rule_if(struct site *s)
{
	struct type *yes =
	    arena_new(s->pass->scratch, struct type, s->n->noutputs);
	struct type *no =
	    arena_new(s->pass->scratch, struct type, s->n->noutputs);
	int condition = known_condition(s, 0);
	bool yes_works, no_works;

	if (!check_condition(s, 0))
		return false;
	if (condition >= 0)
		return taken_branch(
		    s, condition ? "then_branch" : "else_branch");
	if (!possible_branch(s, "then_branch", &yes_works, yes)
	    || !possible_branch(s, "else_branch", &no_works, no))
		return false;
	if (!yes_works && !no_works)
		return fault(s, "neither branch can be taken");
	return join_branches(s, yes_works ? yes : no, no_works ? no : yes);
}
