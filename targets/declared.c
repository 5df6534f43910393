#include "targets/declared.h"

#include <inttypes.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"
#include "ir/base/plain.h"

/* TUNING: written by hand. */
#define WHERE_MAX 64
#define NAME_CHARS 200

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
		if (jsonin_has(o, "min") || jsonin_has(o, "max"))
			return err_set(
			    err, ERR_INPUT, "'equals' beside 'min' or 'max'");
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
	if (w->min > w->max)
		return err_set(err, ERR_INPUT,
		    "'min' %" PRIi64 " is above 'max' %" PRIi64, w->min,
		    w->max);
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
read_rank(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	w->what = WHAT_RANK;
	w->name = arena_printf(a, "%s.rank", w->of);
	if (!jsonin_i64(o, "rank", &w->min, err))
		return false;
	if (w->min < 0)
		return err_set(err, ERR_INPUT, "rank %" PRIi64, w->min);
	w->max = w->min;
	w->required = arena_printf(a, "%" PRIi64, w->min);
	return true;
}

static bool
read_dtype(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	const char *text;

	w->what = WHAT_DTYPE;
	w->name = arena_printf(a, "%s.dtype", w->of);
	if (!jsonin_str(o, "dtype", &text, err))
		return false;
	w->word = w->required = arena_str(a, text);
	return dtype_find(text) != DT_UNDEFINED
	    || err_set(err, ERR_INPUT, "dtype '%s' is unknown", text);
}

static bool
read_dim(
    struct where *w, const struct cJSON *o, struct arena *a, struct err *err)
{
	w->what = WHAT_DIM;
	if (!jsonin_i64(o, "dim", &w->axis, err))
		return false;
	if (w->axis < 0 || w->axis >= (int64_t)RANK_MAX)
		return err_set(err, ERR_INPUT, "dim %" PRIi64, w->axis);
	w->name = arena_printf(a, "%s.dim%" PRIi64, w->of, w->axis);
	return read_bounds(w, o, a, err);
}

/* What a condition may be about, the first that is there, and all it may have: a
 * second one would not be looked at. */
static const struct {
	const char *key;
	const char *known[8];
	bool (*read)(struct where *w, const struct cJSON *o, struct arena *a,
	    struct err *err);
} wheres[] = {
    {"attribute",
        {"of", "attribute", "is", "default", "equals", "min", "max", NULL},
        read_attribute},
    {"rank", {"of", "rank", NULL}, read_rank},
    {"dtype", {"of", "dtype", NULL}, read_dtype},
    {"dim", {"of", "dim", "equals", "min", "max", NULL}, read_dim},
};

/* Does it name something so? */
static bool
has_name(const struct pattern *p, const char *name)
{
	bool has = p->kind == PATTERN_AS && strcmp(p->name, name) == 0;

	for (uint32_t i = 0; i < p->nargs; i++)
		has |= has_name(p->arg[i], name);
	return has;
}

static bool
read_where(struct where *w, const struct pattern *pattern,
    const struct cJSON *o, struct arena *a, struct err *err)
{
	const char *text;

	if (!jsonin_str(o, "of", &text, err))
		return false;
	w->of = arena_str(a, text);
	if (!has_name(pattern, w->of))
		return err_set(err, ERR_INPUT,
		    "nothing in the pattern is called '%s'", w->of);
	for (size_t i = 0; i < sizeof wheres / sizeof *wheres; i++)
		if (jsonin_has(o, wheres[i].key))
			return jsonin_only(o, wheres[i].known, err)
			    && wheres[i].read(w, o, a, err);
	return err_set(
	    err, ERR_INPUT, "none of 'attribute', 'rank', 'dtype', 'dim'");
}

static bool
read_wheres(struct declared *d, const struct pattern *pattern,
    const struct cJSON *o, struct arena *a, struct err *err)
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
		if (!read_where(&where[d->nwhere], pattern, at, a, err))
			return err_in(err, "condition %u", d->nwhere);
		d->nwhere++;
	}
	return true;
}

static bool
check_name(const char *name, struct err *err)
{
	char plain[NAME_CHARS + 1];

	if (name[0] != '\0' && strlen(name) <= NAME_CHARS
	    && !strpbrk(name, " \t\r\n")) {
		strcpy(plain, name);
		plain_line(plain);
		if (strcmp(plain, name) == 0)
			return true;
	}
	return err_set(err, ERR_INPUT,
	    "name '%.40s': not 1 to %d characters, none of them blank or of "
	    "control",
	    name, NAME_CHARS);
}

/* Is there an operator at its root? Nothing is covered by a bare value. */
static bool
covers(const struct pattern *p)
{
	bool some = p->kind == PATTERN_NODE || p->kind == PATTERN_OPERATOR
	    || p->kind == PATTERN_MAYBE || p->kind == PATTERN_IDIOM;

	if (p->kind == PATTERN_EITHER || p->kind == PATTERN_AS)
		for (uint32_t i = 0; i < p->nargs; i++)
			some |= covers(p->arg[i]);
	return some;
}

bool
declared_rule(
    struct rule *r, const struct cJSON *o, struct arena *a, struct err *err)
{
	const char *text;

	if (!jsonin_str(o, "name", &text, err) || !check_name(text, err))
		return false;
	r->name = arena_str(a, text);
	if (!jsonin_str(o, "pattern", &text, err))
		return false;
	r->pattern = pattern_parse(arena_str(a, text), a, err);
	if (!r->pattern)
		return false;
	if (!covers(r->pattern))
		return err_set(
		    err, ERR_INPUT, "pattern '%s' has no operator", text);
	return !jsonin_has(o, "taps")
	    || jsonin_bool(o, "taps", &r->multi_output, err);
}

bool
declared_is_new(const struct rule *rule, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(rule[i].name, rule[n].name) == 0)
			return err_set(
			    err, ERR_INPUT, "two rules '%s'", rule[n].name);
	return true;
}

bool
declared_read(struct rule *r, struct declared *d, const struct cJSON *o,
    struct arena *a, struct err *err)
{
	static const char *const known[] = {
	    "name", "pattern", "taps", "where", "cost", NULL};

	return jsonin_only(o, known, err) && declared_rule(r, o, a, err)
	    && read_wheres(d, r->pattern, o, a, err);
}
