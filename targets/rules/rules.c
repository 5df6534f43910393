/* Backends declared in a file: patterns in their text form, constraints and
 * costs as data. README.md has the schema. */
#include <math.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "ir/base/jsonin.h"
#include "targets/declared.h"

/* TUNING: a rules file is written by hand. */
#define RULES_MAX 1024

struct price_rule {
	struct declared declared;
	cost_ns ns;
	double ns_per_element;
};

struct rules {
	struct target_kind kind; /* with the file's rules */
	struct price_rule *price; /* [kind.nrules] */
	cost_ns launch_ns;
	char hash[33]; /* of the file */
};

static const struct rules *
rules_of(const struct target *t)
{
	return (const struct rules *)t->state;
}

static bool
accepts(const struct match_in *m, struct why *why)
{
	return declared_accepts(
	    &rules_of(m->target)->price[m->rule].declared, m, why);
}

/* ---- prices ---- */

static bool
count_elements(const struct type *type, double *sum)
{
	double n = 1;

	for (uint32_t k = 0; type_is_static(type) && k < type->rank; k++)
		n *= (double)type->dim[k];
	*sum += n;
	return type_is_static(type);
}

/* Added up in integers: what the elements cost alone is rounded. */
static bool
simulate(const struct region *r, struct estimate *out)
{
	const struct candidate *c = r->candidate[0];
	const struct price_rule *d = &rules_of(r->target)->price[c->rule];
	double elements = 0, ns;

	if (r->ncandidates > 1)
		return false;
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (!count_elements(
		        &graph_value(r->graph, c->output[i].value)->type,
		        &elements))
			return false;
	ns = round(d->ns_per_element * elements);
	if (!(ns <= (double)COST_MAX) || (cost_ns)ns > COST_MAX - d->ns)
		return false;
	out->ns = out->low = out->high = d->ns + (cost_ns)ns;
	out->assumed = NULL;
	return true;
}

static void
environment(const struct target *t, struct buf *b)
{
	buf_printf(b, "rules=%s\n", rules_of(t)->hash);
}

/* ---- reading ---- */

static bool
read_rate(const struct cJSON *o, double *ns, struct err *err)
{
	if (!jsonin_has(o, "ns_per_element"))
		return true;
	if (!jsonin_real(o, "ns_per_element", ns, err))
		return false;
	return *ns >= 0
	    || err_set(err, ERR_INPUT, "key 'ns_per_element' is negative");
}

static bool
read_cost(struct price_rule *d, const struct cJSON *o, struct err *err)
{
	static const char *const known[] = {"ns", "ns_per_element", NULL};
	const struct cJSON *cost;

	if (!jsonin_object(o, "cost", &cost, err)
	    || !jsonin_only(cost, known, err)
	    || !jsonin_u62(cost, "ns", &d->ns, err))
		return false;
	return read_rate(cost, &d->ns_per_element, err);
}

static bool
read_rule(struct rule *r, struct price_rule *p, const struct cJSON *o,
    struct arena *a, struct err *err)
{
	r->accepts = accepts;
	return declared_read(r, &p->declared, o, a, err)
	    && read_cost(p, o, err);
}

static bool
read_rules(
    struct rules *s, const struct cJSON *doc, struct arena *a, struct err *err)
{
	static const char *const known[] = {
	    "format", "version", "summary", "launch_ns", "rules", NULL};
	const struct cJSON *list, *at;
	const char *format, *summary;
	struct rule *rule;
	uint32_t version, n = 0;

	if (!jsonin_only(doc, known, err)
	    || !jsonin_str(doc, "format", &format, err)
	    || !jsonin_u32(doc, "version", &version, err)
	    || !jsonin_str(doc, "summary", &summary, err)
	    || !jsonin_array(doc, "rules", &list, err))
		return false;
	if (strcmp(format, "marquetry-rules") != 0 || version != 1)
		return err_set(err, ERR_INPUT,
		    "'%s' version %u is not marquetry-rules version 1", format,
		    version);
	if (cJSON_HasObjectItem(doc, "launch_ns")
	    && !jsonin_u62(doc, "launch_ns", &s->launch_ns, err))
		return false;
	if (cJSON_GetArraySize(list) > RULES_MAX)
		return err_set(err, ERR_INPUT, "more than %d rules", RULES_MAX);
	rule = arena_new(a, struct rule, (size_t)cJSON_GetArraySize(list));
	s->price =
	    arena_new(a, struct price_rule, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(at, list)
	{
		if (!read_rule(&rule[n], &s->price[n], at, a, err)
		    || !declared_is_new(rule, n, err))
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
	if (!file_read(&text, &n, path, LIMIT_READ_PARAMETERS, a, err))
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
	t->launch.ns = t->launch.low = t->launch.high = s->launch_ns;
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
    .environment = environment,
};
