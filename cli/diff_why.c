/* Why a node moved: the target, a constraint, a predicate, a price, or noise. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"
#include "cli/members.h"
#include "emit/work.h"
#include "ir/base/jsonin.h"
#include "ir/base/plural.h"

static uint32_t
number(const cJSON *object, const char *key)
{
	struct err err = {.kind = ERR_NONE};
	uint32_t x;

	return jsonin_u32(object, key, &x, &err) ? x : UINT32_MAX;
}

uint32_t
diff_target_in(
    const struct result_view *to, const struct result_view *from, uint32_t t)
{
	for (uint32_t i = 0; i < to->ntargets; i++)
		if (strcmp(to->target[i], from->target[t]) == 0)
			return i;
	for (uint32_t i = 0; i < to->ntargets; i++)
		if (strcmp(to->kind[i], from->kind[t]) == 0)
			return i;
	return UINT32_MAX;
}

static bool
holds(const cJSON *list, uint32_t x)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) if (cJSON_IsNumber(entry)
	    && entry->valuedouble == (double)x) return true;
	return false;
}

static bool
names(const cJSON *list, const char *name)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) if (cJSON_IsString(entry)
	    && strcmp(entry->valuestring, name) == 0) return true;
	return false;
}

static bool
has_constraint(const struct result_view *s, const char *what)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, member(s->result, "constraints"))
	{
		if (strcmp(text_or(c, "text", "?"), what) == 0)
			return true;
	}
	return false;
}

/* Does the constraint keep a node off a target? */
static bool
keeps_off(const cJSON *c, const char *ref, uint32_t target)
{
	const char *kind = text_or(c, "kind", "?");
	bool meant = names(member(c, "nodes"), ref);
	bool listed = holds(member(c, "targets"), target);

	if (strcmp(kind, "pin") == 0 || strcmp(kind, "partition") == 0)
		return meant && !listed;
	if (strcmp(kind, "forbid") == 0)
		return meant && listed;
	if (strcmp(kind, "stop") == 0)
		return meant;
	return listed; /* limits on a target */
}

/* A constraint of `s` but not of `other` that keeps the node off. */
static const char *
constraint_text(const struct result_view *s, const struct result_view *other,
    const char *ref, uint32_t target)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, member(s->result, "constraints"))
	{
		if (keeps_off(c, ref, target)
		    && !has_constraint(other, text_or(c, "text", "?")))
			return text_or(c, "text", "?");
	}
	return NULL;
}

/* The cheapest candidate of the target over a composite of b, or NULL. */
static const cJSON *
alternative(const struct result_view *b, uint32_t composite, uint32_t target)
{
	const cJSON *list = member(b->alternatives, "composites"), *o;
	const cJSON *of = cJSON_GetArrayItem(list, (int)composite);

	cJSON_ArrayForEach(o, member(of, "others"))
	{
		if (number(o, "target") == target)
			return o;
	}
	return NULL;
}

/* The refusal of the target for any node of the composite that a had; that of
 * the rule it had, if there is one. */
static const cJSON *
refusal(const struct diff *d, uint32_t composite, uint32_t target)
{
	const struct view_composite *had = &d->a->composite[composite];
	const cJSON *r, *found = NULL;

	cJSON_ArrayForEach(r, member(d->b->alternatives, "refusals"))
	{
		uint32_t node = number(r, "node"), was;

		if (number(r, "target") != target || node >= d->b->nnodes)
			continue;
		was = d->match.of_b[node];
		if (was == NO_MATCH || d->a->node[was].composite != composite)
			continue;
		if (strcmp(text_or(r, "rule", "?"), had->rule) == 0)
			return r;
		if (!found)
			found = r;
	}
	return found;
}

static const char *
refusal_text(const cJSON *r, struct arena *a)
{
	const cJSON *f = cJSON_GetArrayItem(member(r, "failed"), 0);
	int n = cJSON_GetArraySize(member(r, "failed"));

	return arena_printf(a, "%s: %s fails (%s, needs %s)%s",
	    text_or(r, "rule", "?"), text_or(f, "condition", "?"),
	    text_or(f, "actual", "?"), text_or(f, "required", "?"),
	    n > 1 ? " and others" : "");
}

/* A candidate that is cheaper by itself and still not chosen: what it would
 * need around it costs more. */
static const char *
price_text(const cJSON *o, const struct result_view *b, uint32_t composite,
    const struct view_composite *had, struct arena *a)
{
	bool bound = strcmp(text_or(o, "state", "?"), "bound") == 0;
	uint64_t ns;
	cost_ns there = jsonin_is_u62(member(o, "ns"), &ns) ? ns : COST_NEVER;
	const struct view_composite *is = &b->composite[composite];
	const char *basis = cJSON_IsString(member(o, "basis")) && !bound
	    ? arena_printf(a, " %s", text_or(o, "basis", "?"))
	    : "";

	return arena_printf(a,
	    "legal there for %s%s%s (%" PRIu32 " node%s; before: %s %s), here "
	    "%s %s%s",
	    bound ? "at least " : "", cost_text(there, a), basis,
	    number(o, "nodes"), plural(number(o, "nodes")),
	    cost_text(had->price.cost, a), had->price.source,
	    cost_text(is->price.cost, a), is->price.source,
	    there <= is->price.cost
	        ? "; the conversions and launches it would need make it costlier"
	        : "");
}

void
diff_explain(const struct diff *d, struct move *m, struct arena *a)
{
	const struct view_node *na = &d->a->node[m->before];
	const struct view_node *nb = &d->b->node[m->after];
	const struct view_composite *had = &d->a->composite[na->composite];
	const struct view_composite *has = &d->b->composite[nb->composite];
	uint32_t old = diff_target_in(d->b, d->a, had->target);
	uint32_t new = diff_target_in(d->a, d->b, has->target);
	const cJSON *o, *r;
	const char *what;

	if (old == UINT32_MAX) {
		m->reason = MOVED_NO_TARGET;
		m->text = arena_printf(
		    a, "%s is not in the mix", d->a->target[had->target]);
	} else if ((what = constraint_text(d->b, d->a, nb->ref, old)) != NULL) {
		m->reason = MOVED_CONSTRAINT;
		m->text = arena_printf(a, "%s", what);
	} else if (new != UINT32_MAX
	    && (what = constraint_text(d->a, d->b, na->ref, new)) != NULL) {
		m->reason = MOVED_CONSTRAINT;
		m->text = arena_printf(a, "no longer: %s", what);
	} else if (!d->b->alternatives) {
		m->reason = MOVED_UNKNOWN;
		m->text = "no alternatives.json beside the result";
	} else if ((o = alternative(d->b, nb->composite, old)) != NULL) {
		m->reason = d->verdict == DIFF_SAME ? MOVED_NOISE : MOVED_PRICE;
		m->text = new == UINT32_MAX
		    ? arena_printf(
		        a, "%s is new in the mix", d->b->target[has->target])
		    : price_text(o, d->b, nb->composite, had, a);
	} else if ((r = refusal(d, na->composite, old)) != NULL) {
		m->reason = MOVED_PREDICATE;
		m->text = refusal_text(r, a);
	} else {
		m->reason = MOVED_NO_MATCH;
		m->text = arena_printf(
		    a, "no rule of %s matches here", d->a->target[had->target]);
	}
}
