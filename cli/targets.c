/* marq targets: which backends there are, what they take, their options. */
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/options.h"
#include "ir/base/plural.h"
#include "targets/target.h"

struct targets_args {
	struct cli *cli;
	const char *verb, *target;
};

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

/* ---- list ---- */

/* The version among the facts of a target, as "key=value"; "". */
static const char *
version_of(const struct target *t, struct arena *a)
{
	const char *at = facts_of(t, a);

	for (; *at; at += strcspn(at, "\n"), at += *at != '\0') {
		size_t key = strcspn(at, "=\n");

		if (key > 8 && memcmp(at + key - 8, "_version", 8) == 0)
			return arena_strn(a, at, strcspn(at, "\n"));
	}
	return "";
}

/* A backend that is installed beside the kinds. */
static void
list_installed(struct answer *a, const char *name, struct arena *arena)
{
	struct err err = {.kind = ERR_NONE};
	struct mix mix;
	const bool usable = mix_open(&mix, &name, 1, arena, &err);
	const struct target *t = usable ? &mix.target[0] : NULL;
	const char *version = t ? version_of(t, arena) : "";

	ANSWER_LINE(a,
	    "{kind:-9} {state:-9} {counted:9}, {prices} prices: {summary}"
	    "{?version  ({version})}\n{?why           {why}\n}",
	    F("kind", name), IS("available", usable),
	    F("why", usable ? NULL : arena_str(arena, err.text)),
	    F("rules", t ? t->kind->nrules : 0),
	    F("prices", price_source_text(PRICE_MEASURED)),
	    F("summary", t ? t->kind->summary : ""), F("version", version),
	    T("state", usable ? "ok" : "missing"), T("counted", "plug-in"));
}

static void
list(const struct targets_args *r)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);
	struct answer a;

	answer_begin(&a, r->cli, NULL);
	answer_list(&a, "targets");
	for (uint32_t i = 0; i < n; i++) {
		const struct target_kind *k = kind[i];
		struct err err = {.kind = ERR_NONE};
		const bool usable = target_kind_usable(k, &err);

		/* what is declared elsewhere has no rules of its own */
		ANSWER_LINE(&a,
		    "{kind:-9} {state:-9} {counted:9}, {prices} prices: "
		    "{summary}\n{?why           {why}\n}",
		    F("kind", k->name), IS("available", usable),
		    F("why", usable ? NULL : arena_str(r->cli->run, err.text)),
		    F("rules", k->nrules),
		    F("prices", price_source_text(k->source)),
		    F("summary", k->summary),
		    T("state", usable ? "ok" : "missing"),
		    T("counted",
		        k->nrules ? arena_printf(r->cli->run, "%u rule%s",
		            k->nrules, plural(k->nrules))
		                  : "its rules"));
	}
	for (uint32_t i = 0; target_installed(i, r->cli->run); i++)
		list_installed(
		    &a, target_installed(i, r->cli->run), r->cli->run);
	answer_close(&a);
	answer_end(&a);
}

/* ---- show ---- */

static void
tell_options(struct answer *a, const struct target *t)
{
	const struct target_option *o = t->kind->option;

	ANSWER(a, "{?any \noptions:\n}", T("any", o && o->name));
	answer_list(a, "options");
	for (; o && o->name; o++)
		ANSWER_LINE(a, "  {name}={value} ({values})\n      {help}\n",
		    F("name", o->name), F("values", o->values),
		    F("default", o->otherwise),
		    F("value", target_option_get(t, o->name)),
		    F("help", o->help));
	answer_close(a);
}

static void
tell_rules(struct answer *a, const struct target_kind *k, struct arena *arena)
{
	ANSWER(a,
	    "{?any \nrules (a|b: one of them; Op?(x): Op(x) or x alone; *: any "
	    "tensor; const, var: a constant, or\nnone; absent: not given; ...: "
	    "what else it may have; name: names what follows; [1]: what is "
	    "told behind where):\n}",
	    T("any", k->nrules));
	answer_list(a, "rules");
	for (uint32_t i = 0; i < k->nrules; i++)
		ANSWER_LINE(a, "  {name}\n      {pattern}\n",
		    F("name", k->rule[i].name),
		    F("pattern", pattern_print(k->rule[i].pattern, arena)),
		    IS("predicate", k->rule[i].accepts != NULL),
		    IS("multi_output", k->rule[i].multi_output));
	answer_close(a);
}

static void
tell_facts(struct answer *a, const char *facts)
{
	if (a->is_json) {
		json_key_facts(&a->json, "facts", facts);
		return;
	}
	ANSWER(a, "{?any \nprices depend on:\n}", T("any", facts));
	for (const char *at = facts; *at; at += strspn(at, "\n")) {
		printf("  %.*s\n", (int)strcspn(at, "\n"), at);
		at += strcspn(at, "\n");
	}
}

static void
tell_target(const struct targets_args *r, const struct target *t)
{
	struct answer a;

	answer_begin(&a, r->cli, NULL);
	ANSWER(&a, "{target}: {summary}\nprices are {prices}\n",
	    F("target", t->text), F("kind", t->kind->name),
	    F("summary", t->kind->summary),
	    F("prices", price_source_text(t->source)));
	tell_options(&a, t);
	tell_rules(&a, t->kind, r->cli->run);
	tell_facts(&a, facts_of(t, r->cli->run));
	answer_end(&a);
}

static bool
show(const struct targets_args *r, struct err *err)
{
	struct mix mix;

	if (!mix_open(&mix, &r->target, 1, r->cli->run, err))
		return false;
	if (strcmp(r->verb, "check") == 0)
		ANSWER_WHOLE(r->cli, NULL, "{target}: ok\n",
		    T("target", r->target), IS("ok", true));
	else
		tell_target(r, &mix.target[0]);
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
