/* Backends declared in a file: patterns in their text form, constraints and
 * costs as data. README.md has the schema. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "ir/base/jsonin.h"
#include "targets/target.h"

/* TUNING: a rules file is written by hand. */
#define FILE_LIMIT ((size_t)1 << 20)
#define RULES_MAX 1024
#define WHERE_MAX 64

enum what { WHAT_ATTRIBUTE, WHAT_WORD, WHAT_RANK, WHAT_DTYPE, WHAT_DIM };

/* One condition on what a name of the pattern caught. */
struct where {
	const char *name; /* of the condition: "conv.group" */
	const char *of, *attribute, *word, *required;
	enum what what;
	int64_t axis, otherwise, min, max;
};

struct declared {
	uint32_t nwhere;
	struct where *where;
	double ns, ns_per_element;
};

struct rules {
	struct target_kind kind; /* with the file's rules */
	struct declared *declared; /* [kind.nrules] */
	double launch_ns;
	char hash[33]; /* of the file */
};

/* ---- predicates ---- */

static const struct rules *
rules_of(const struct target *t)
{
	return (const struct rules *)t->state;
}

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

static bool
accepts(const struct match_in *m, struct why *why)
{
	const struct declared *d = &rules_of(m->target)->declared[m->rule];
	bool ok = true;

	for (uint32_t i = 0; i < d->nwhere; i++)
		ok &= holds(m, &d->where[i], why);
	return ok;
}

/* ---- prices ---- */

static cost_ns
rounded(double ns)
{
	return ns < 9e18 ? (cost_ns)(ns + 0.5) : COST_NEVER - 1;
}

static bool
simulate(const struct target *t, const struct graph *g,
    const struct candidate *c, struct estimate *out)
{
	const struct declared *d = &rules_of(t)->declared[c->rule];
	double elements = 0;

	for (uint32_t i = 0; i < c->noutputs; i++) {
		const struct type *type =
		    &graph_value(g, c->output[i].value)->type;
		double n = 1;

		if (!type_is_static(type))
			return false;
		for (uint32_t k = 0; k < type->rank; k++)
			n *= (double)type->dim[k];
		elements += n;
	}
	out->ns = rounded(d->ns + d->ns_per_element * elements);
	out->low = out->high = out->ns;
	out->assumed = NULL;
	return true;
}

static cost_ns
launch_ns(const struct target *t, struct estimate *out)
{
	cost_ns ns = rounded(rules_of(t)->launch_ns);

	if (out)
		*out = (struct estimate){ns, ns, ns, NULL};
	return ns;
}

static void
environment(const struct target *t, struct buf *b)
{
	buf_printf(b, "rules=%s\n", rules_of(t)->hash);
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

	if (!jsonin_has(o, "where"))
		return true;
	if (!jsonin_array(o, "where", &list, err))
		return false;
	d->where = arena_new(a, struct where, (size_t)WHERE_MAX);
	cJSON_ArrayForEach(at, list)
	{
		if (d->nwhere == WHERE_MAX)
			return err_set(err, ERR_INPUT,
			    "more than %d conditions", WHERE_MAX);
		if (!read_where(&d->where[d->nwhere], at, a, err))
			return err_in(err, "condition %u", d->nwhere);
		d->nwhere++;
	}
	return true;
}

static bool
read_cost(struct declared *d, const struct cJSON *o, struct err *err)
{
	const struct cJSON *cost;

	if (!jsonin_object(o, "cost", &cost, err)
	    || !jsonin_real(cost, "ns", &d->ns, err))
		return false;
	if (jsonin_has(cost, "ns_per_element")
	    && !jsonin_real(cost, "ns_per_element", &d->ns_per_element, err))
		return false;
	return (d->ns >= 0 && d->ns_per_element >= 0)
	    || err_set(err, ERR_INPUT, "a cost is negative");
}

static bool
read_rule(struct rule *r, struct declared *d, const struct cJSON *o,
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
	r->accepts = accepts;
	return read_wheres(d, o, a, err) && read_cost(d, o, err);
}

static bool
read_rules(
    struct rules *s, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const struct cJSON *list, *at;
	const char *format, *summary;
	struct rule *rule;
	uint32_t version, n = 0;

	if (!jsonin_str(doc, "format", &format, err)
	    || !jsonin_u32(doc, "version", &version, err)
	    || !jsonin_str(doc, "summary", &summary, err)
	    || !jsonin_array(doc, "rules", &list, err))
		return false;
	if (strcmp(format, "marquetry-rules") != 0 || version != 1)
		return err_set(err, ERR_INPUT,
		    "'%s' version %u is not marquetry-rules version 1", format,
		    version);
	if (jsonin_has(doc, "launch_ns")
	    && !jsonin_real(doc, "launch_ns", &s->launch_ns, err))
		return false;
	if (!(s->launch_ns >= 0))
		return err_set(err, ERR_INPUT, "launch_ns is negative");
	if (cJSON_GetArraySize(list) > RULES_MAX)
		return err_set(err, ERR_INPUT, "more than %d rules", RULES_MAX);
	rule = arena_new(a, struct rule, (size_t)cJSON_GetArraySize(list));
	s->declared =
	    arena_new(a, struct declared, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(at, list)
	{
		if (!read_rule(&rule[n], &s->declared[n], at, a, err))
			return err_in(err, "rule %u", n);
		n++;
	}
	s->kind.rule = rule;
	s->kind.nrules = n;
	s->kind.summary = arena_str(a, summary);
	s->kind.launches = s->launch_ns > 0;
	return true;
}

extern const struct target_kind target_rules;

static bool
open_rules(
    struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	struct rules *s = arena_new(a, struct rules, 1);
	const char *path = target_option_get(t, "file"), *text;
	struct cJSON *doc;
	size_t n;
	bool ok;

	(void)f;
	if (!*path)
		return err_set(
		    err, ERR_USAGE, "it needs the option file=RULES.json");
	if (!file_read(&text, &n, path, FILE_LIMIT, a, err))
		return false;
	doc = jsonin_parse(text, n, path, err);
	if (!doc)
		return false;
	s->kind = target_rules;
	hash128_print(hash128(text, n), s->hash);
	ok = read_rules(s, doc, a, err);
	jsonin_close(doc);
	if (!ok)
		return err_in(err, "%s", path);
	t->kind = &s->kind;
	t->state = s;
	return true;
}

static const struct target_option options[] = {
    {"file", "<rules.json>", "", "the rules, their constraints and costs"},
    {NULL, NULL, NULL, NULL},
};

const struct target_kind target_rules = {
    .name = "rules",
    .summary = "a backend declared in a file: rules:file=RULES.json",
    .option = options,
    .source = PRICE_ESTIMATED,
    .open = open_rules,
    .simulate = simulate,
    .launch_ns = launch_ns,
    .environment = environment,
};
