#include "targets/declared.h"

#include <inttypes.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"

/* TUNING: written by hand. */
#define WHERE_MAX 64

enum what { WHAT_ATTRIBUTE, WHAT_WORD, WHAT_RANK, WHAT_DTYPE, WHAT_DIM };

/* One condition on what a name of the pattern caught. */
struct where {
	const char *name; /* of the condition: "conv.group" */
	const char *of, *attribute, *word, *required;
	enum what what;
	int64_t axis, otherwise, min, max;
};

/* ---- predicates ---- */

static bool
within(const struct where *w, int64_t x, struct why *why)
{
	return why_need(why, x >= w->min && x <= w->max, w->name, w->required,
	    "%s = %" PRIi64, w->name, x);
}

static bool
word_is(const struct where *w, const char *have, size_t n, struct why *why)
{
	return why_need(why,
	    strlen(w->word) == n && memcmp(have, w->word, n) == 0, w->name,
	    w->required, "%s = %.*s", w->name, (int)n, have);
}

static bool
type_holds(const struct where *w, const struct type *t, struct why *why)
{
	bool ranked = t->kind == TYPE_TENSOR && t->rank != RANK_UNKNOWN;

	if (w->what == WHAT_DTYPE)
		return word_is(
		    w, dtype_name(t->dtype), strlen(dtype_name(t->dtype)), why);
	if (w->what == WHAT_RANK)
		return within(w, ranked ? (int64_t)t->rank : -1, why);
	return within(w,
	    ranked && w->axis < (int64_t)t->rank ? t->dim[w->axis] : -1, why);
}

static bool
holds(const struct match_in *m, const struct where *w, struct why *why)
{
	value_id v = match_value(m->match, w->of);
	node_id id = match_node(m->match, w->of);
	struct string_view s;

	if (v == VALUE_NONE && id == NODE_NONE)
		return true; /* that branch was not taken */
	if (w->what == WHAT_ATTRIBUTE || w->what == WHAT_WORD) {
		const struct node *n;

		if (id == NODE_NONE)
			return why_need(why, false, w->name, "an operator",
			    "'%s' is a value", w->of);
		n = graph_node(m->graph, id);
		if (w->what == WHAT_ATTRIBUTE)
			return within(
			    w, attr_int_or(n, w->attribute, w->otherwise), why);
		s = attr_str_or(n, w->attribute, "");
		return word_is(w, s.s, s.n, why);
	}
	return type_holds(w, &graph_value(m->graph, v)->type, why);
}

bool
declared_accepts(
    const struct declared *d, const struct match_in *m, struct why *why)
{
	bool ok = true;

	for (uint32_t i = 0; i < d->nwhere; i++)
		ok &= holds(m, &d->where[i], why);
	return ok;
}

/* ---- reading ---- */

static bool
read_bounds(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	w->min = INT64_MIN;
	w->max = INT64_MAX;
	if (jsonin_has(o, "equals")) {
		if (!jsonin_i64(o, "equals", &w->min, err))
			return false;
		w->max = w->min;
		w->required = arena_printf(a, "%" PRIi64, w->min);
		return true;
	}
	if (!jsonin_has(o, "min") && !jsonin_has(o, "max"))
		return err_set(
		    err, ERR_INPUT, "none of 'equals', 'min', 'max'");
	if (jsonin_has(o, "min") && !jsonin_i64(o, "min", &w->min, err))
		return false;
	if (jsonin_has(o, "max") && !jsonin_i64(o, "max", &w->max, err))
		return false;
	if (w->min == INT64_MIN)
		w->required = arena_printf(a, "<= %" PRIi64, w->max);
	else if (w->max == INT64_MAX)
		w->required = arena_printf(a, ">= %" PRIi64, w->min);
	else
		w->required =
		    arena_printf(a, "%" PRIi64 "..%" PRIi64, w->min, w->max);
	return true;
}

static bool
read_attribute(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	const char *text;

	if (!jsonin_str(o, "attribute", &text, err))
		return false;
	w->attribute = arena_str(a, text);
	w->name = arena_printf(a, "%s.%s", w->of, text);
	if (jsonin_has(o, "is")) {
		w->what = WHAT_WORD;
		if (!jsonin_str(o, "is", &text, err))
			return false;
		w->word = w->required = arena_str(a, text);
		return true;
	}
	w->what = WHAT_ATTRIBUTE;
	if (jsonin_has(o, "default")
	    && !jsonin_i64(o, "default", &w->otherwise, err))
		return false;
	return read_bounds(w, o, a, err);
}

static bool
read_where(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	static const char *const known[] = {"of", "attribute", "is", "default",
	    "equals", "min", "max", "rank", "dtype", "dim", NULL};
	const char *text;

	if (!jsonin_only(o, known, err) || !jsonin_str(o, "of", &text, err))
		return false;
	w->of = arena_str(a, text);
	if (jsonin_has(o, "attribute"))
		return read_attribute(w, o, a, err);
	if (jsonin_has(o, "rank")) {
		w->what = WHAT_RANK;
		w->name = arena_printf(a, "%s.rank", w->of);
		if (!jsonin_i64(o, "rank", &w->min, err))
			return false;
		w->max = w->min;
		w->required = arena_printf(a, "%" PRIi64, w->min);
		return true;
	}
	if (jsonin_has(o, "dtype")) {
		w->what = WHAT_DTYPE;
		w->name = arena_printf(a, "%s.dtype", w->of);
		if (!jsonin_str(o, "dtype", &text, err))
			return false;
		w->word = w->required = arena_str(a, text);
		return dtype_find(text) != DT_UNDEFINED
		    || err_set(err, ERR_INPUT, "dtype '%s' is unknown", text);
	}
	w->what = WHAT_DIM;
	if (!jsonin_i64(o, "dim", &w->axis, err))
		return false;
	if (w->axis < 0 || w->axis >= (int64_t)RANK_MAX)
		return err_set(err, ERR_INPUT, "dim %" PRIi64, w->axis);
	w->name = arena_printf(a, "%s.dim%" PRIi64, w->of, w->axis);
	return read_bounds(w, o, a, err);
}

static bool
read_wheres(
    struct declared *d, const struct cJSON *o, struct arena *a, struct err *err)
{
	const struct cJSON *list, *at;
	struct where *where;

	if (!jsonin_has(o, "where"))
		return true;
	if (!jsonin_array(o, "where", &list, err))
		return false;
	where = arena_new(a, struct where, (size_t)WHERE_MAX);
	d->where = where;
	cJSON_ArrayForEach(at, list)
	{
		if (d->nwhere == WHERE_MAX)
			return err_set(err, ERR_INPUT,
			    "more than %d conditions", WHERE_MAX);
		if (!read_where(&where[d->nwhere], at, a, err))
			return err_in(err, "condition %u", d->nwhere);
		d->nwhere++;
	}
	return true;
}

bool
declared_read(struct rule *r, struct declared *d, const struct cJSON *o,
    struct arena *a, struct err *err)
{
	static const char *const known[] = {
	    "name", "pattern", "taps", "where", "cost", NULL};
	const char *text;

	if (!jsonin_only(o, known, err) || !jsonin_str(o, "name", &text, err))
		return false;
	r->name = arena_str(a, text);
	if (!jsonin_str(o, "pattern", &text, err))
		return false;
	r->pattern = pattern_parse(arena_str(a, text), a, err);
	if (!r->pattern)
		return false;
	r->multi_output =
	    cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "taps"));
	return read_wheres(d, o, a, err);
}
