/* marq targets: which backends there are, what they take, their options. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"
#include "targets/target.h"

struct targets_args {
	struct cli *cli;
	const char *verb, *target;
};

/* A kind, and whether it can be used here. */
struct listed_kind {
	const struct target_kind *kind;
	bool usable;
	const char *why; /* it is not */
};

static struct listed_kind
look_at(const struct target_kind *k, struct arena *a)
{
	struct listed_kind l = {.kind = k, .usable = true};
	struct err err = {.kind = ERR_NONE};

	if (!target_kind_usable(k, &err)) {
		l.usable = false;
		l.why = arena_str(a, err.text);
	}
	return l;
}

/* ---- list ---- */

static void
list_json(const struct listed_kind *l, uint32_t n)
{
	struct json j;

	json_init(&j, stdout, 1);
	json_object(&j);
	json_key(&j, "targets");
	json_array(&j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(&j);
		json_key_str(&j, "kind", l[i].kind->name);
		json_key_bool(&j, "available", l[i].usable);
		json_key_str(&j, "why", l[i].why);
		json_key_uint(&j, "rules", l[i].kind->nrules);
		json_key_str(
		    &j, "prices", price_source_text(l[i].kind->source));
		json_key_str(&j, "summary", l[i].kind->summary);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	putchar('\n');
}

/* What is declared elsewhere has no rules of its own. */
static void
list_kind(const struct listed_kind *l)
{
	const struct target_kind *k = l->kind;
	char rules[32] = "its rules";

	if (k->nrules)
		snprintf(rules, sizeof rules, "%u rule%s", k->nrules,
		    plural(k->nrules));
	printf("%-9s %-9s %9s, %s prices: %s\n", k->name,
	    l->usable ? "ok" : "missing", rules, price_source_text(k->source),
	    k->summary);
}

static void
list(const struct targets_args *r)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);
	struct listed_kind *l = arena_new(r->cli->run, struct listed_kind, n);

	for (uint32_t i = 0; i < n; i++)
		l[i] = look_at(kind[i], r->cli->run);
	if (r->cli->format == OUT_JSON) {
		list_json(l, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		list_kind(&l[i]);
		if (!l[i].usable)
			printf("          %s\n", l[i].why);
	}
}

/* ---- show ---- */

/* Facts that prices depend on, "key=value" a line. */
static const char *
facts_of(const struct target *t, struct arena *a)
{
	struct buf b;
	const char *text = "";

	buf_init(&b);
	if (t->kind->environment)
		t->kind->environment(t, &b);
	if (b.data)
		text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

static void
json_options(struct json *j, const struct target *t)
{
	json_key(j, "options");
	json_array(j);
	for (const struct target_option *o = t->kind->option; o && o->name;
	     o++) {
		json_inline_object(j);
		json_key_str(j, "name", o->name);
		json_key_str(j, "values", o->values);
		json_key_str(j, "default", o->otherwise);
		json_key_str(j, "value", target_option_get(t, o->name));
		json_key_str(j, "help", o->help);
		json_close(j);
	}
	json_close(j);
}

static void
json_rules(struct json *j, const struct target_kind *k, struct arena *a)
{
	json_key(j, "rules");
	json_array(j);
	for (uint32_t i = 0; i < k->nrules; i++) {
		json_inline_object(j);
		json_key_str(j, "name", k->rule[i].name);
		json_key_str(
		    j, "pattern", pattern_print(k->rule[i].pattern, a));
		json_key_bool(j, "predicate", k->rule[i].accepts != NULL);
		json_key_bool(j, "multi_output", k->rule[i].multi_output);
		json_close(j);
	}
	json_close(j);
}

static void
show_json(const struct target *t, struct arena *a)
{
	struct json j;

	json_init(&j, stdout, 1);
	json_object(&j);
	json_key_str(&j, "target", t->text);
	json_key_str(&j, "kind", t->kind->name);
	json_key_str(&j, "summary", t->kind->summary);
	json_key_str(&j, "prices", price_source_text(t->source));
	json_options(&j, t);
	json_rules(&j, t->kind, a);
	json_key_facts(&j, "facts", facts_of(t, a));
	json_close(&j);
	putchar('\n');
}

static void
show_text(const struct target *t, struct arena *a)
{
	const struct target_kind *k = t->kind;
	const char *facts = facts_of(t, a);

	printf("%s: %s\nprices are %s\n", t->text, k->summary,
	    price_source_text(t->source));
	if (k->option && k->option->name)
		printf("\noptions:\n");
	for (const struct target_option *o = k->option; o && o->name; o++)
		printf("  %s=%s (%s)\n      %s\n", o->name,
		    target_option_get(t, o->name), o->values, o->help);
	if (k->nrules)
		printf(
		    "\nrules (a|b: one of them; Op?(x): Op(x) or x alone; *: any "
		    "tensor; const, var: a constant, or\nnone; absent: not "
		    "given; ...: what else it may have; name: names what "
		    "follows):\n");
	for (uint32_t i = 0; i < k->nrules; i++)
		printf("  %s\n      %s\n", k->rule[i].name,
		    pattern_print(k->rule[i].pattern, a));
	if (*facts)
		printf("\nprices depend on:\n");
	for (const char *at = facts; *at;) {
		size_t line = strcspn(at, "\n");

		printf("  %.*s\n", (int)line, at);
		at += line;
		at += *at == '\n';
	}
}

static bool
show(const struct targets_args *r, struct err *err)
{
	const bool json = r->cli->format == OUT_JSON;
	struct mix mix;

	if (!mix_open(&mix, &r->target, 1, r->cli->run, err))
		return false;
	if (strcmp(r->verb, "check") == 0 && json)
		printf("{\"ok\": true}\n");
	else if (strcmp(r->verb, "check") == 0)
		printf("%s: ok\n", r->target);
	else if (json)
		show_json(&mix.target[0], r->cli->run);
	else
		show_text(&mix.target[0], r->cli->run);
	return true;
}

/* ---- command line ---- */

static void
take_word(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct targets_args *r = at;

	(void)row;
	*(s->argp->arg_num ? &r->target : &r->verb) = arg;
}

static const struct command_line line = {
    .operands = {take_word, 0, 2, NULL, NULL},
    .args_doc = "[list]\nshow KIND[:K=V,...]\ncheck KIND[:K=V,...]",
    .doc = "List the backends; show one's options, rules and the facts "
           "its prices depend on; or only check that it can be opened "
           "(exit status 4 when something lacks).",
};

bool
cmd_targets(struct cli *c, int argc, char **argv, struct err *err)
{
	struct targets_args r = {.cli = c, .verb = "list"};
	bool list_all;

	if (!cli_parse(c, &line, argc, argv, &r, err))
		return false;
	list_all = strcmp(r.verb, "list") == 0;
	if (!list_all && strcmp(r.verb, "show") != 0
	    && strcmp(r.verb, "check") != 0)
		return err_set(err, ERR_USAGE,
		    "no verb '%s': want list, show or check", r.verb);
	if (list_all != !r.target)
		return err_set(err, ERR_USAGE,
		    list_all ? "list takes no target ('%s')"
		             : "no target to %s; for example: marq targets "
		               "%s host",
		    list_all ? r.target : r.verb, r.verb);
	if (!list_all)
		return show(&r, err);
	list(&r);
	cli_next(c, "marq targets show dnnl");
	return true;
}
