/* Backends that are shared objects of other people's: marq_plugin.h is what they
 * are made with, docs/plugins.md for who writes one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "targets/plugin/greet.h"
#include "targets/plugin/options.h"
#include "targets/plugin/program.h"

static const struct plugin *
plugin_of(const struct target *t)
{
	return (const struct plugin *)t->state;
}

static const struct about *
about_of(const struct target *t)
{
	return &plugin_of(t)->greeting->about;
}

/* ---- what it takes ---- */

static bool
version_ok(const struct about *about, const struct node *n, struct why *why)
{
	for (uint32_t i = 0; i < about->nopsets; i++) {
		const struct about_opset *o = &about->opset[i];
		char wanted[48];

		if (strcmp(o->domain, n->domain) != 0)
			continue;
		snprintf(wanted, sizeof wanted, "%u..%u", o->first, o->last);
		return why_need(why,
		    n->opset >= o->first && n->opset <= o->last, "opset",
		    wanted, "%s is of opset %u", n->op_type, n->opset);
	}
	return why_need(why, about->nopsets == 0, "domain",
	    "a domain it declares", "domain '%s'", n->domain);
}

static bool
types_ok(const struct match_in *m, const struct about *about,
    const struct node *n, struct why *why)
{
	bool ok = true;

	for (uint32_t i = 0; i < n->ninputs + n->nimplicit + n->noutputs; i++) {
		const uint32_t nin = n->ninputs + n->nimplicit;
		value_id v = i < nin ? n->input[i] : n->output[i - nin];
		const struct type *t;

		if (v == VALUE_NONE)
			continue;
		t = &graph_value(m->graph, v)->type;
		ok &= why_need(why, t->kind == TYPE_TENSOR && type_is_static(t),
		    "tensor", "a tensor of a known shape", "'%s' is none",
		    graph_value(m->graph, v)->name);
		if (t->kind == TYPE_TENSOR && about->types
		    && !graph_value(m->graph, v)->constant)
			ok &= why_need(why, about->types >> t->dtype & 1,
			    "type", "a type it declares", "'%s' is %s",
			    graph_value(m->graph, v)->name,
			    dtype_name(t->dtype));
	}
	return ok;
}

static bool
accepts(const struct match_in *m, struct why *why)
{
	const struct about *about = about_of(m->target);
	bool ok = declared_accepts(&about->declared[m->rule], m, why);

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		ok &= version_ok(about, n, why);
		ok &= types_ok(m, about, n, why);
	}
	return ok;
}

static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m, (void)f;
	if (max == 0)
		return 0;
	out[0] = (struct implementation){
	    .name = "onnx", .input = FORMAT_PLAIN, .output = FORMAT_PLAIN};
	return 1;
}

/* ---- the kind ---- */

static void
environment(const struct target *t, struct buf *b)
{
	const struct plugin *p = plugin_of(t);

	if (!p)
		return;
	buf_printf(b, "plugin=%s\nplugin_build=%s\n%s", p->kind.name, p->hash,
	    p->greeting->facts);
	for (uint32_t i = 0; i < t->noptions; i++)
		buf_printf(
		    b, "option.%s=%s\n", t->option[i].name, t->option[i].value);
}

extern const struct target_kind target_plugin;

static bool
hash_file(struct plugin *p, struct err *err)
{
	struct mapped_file f;

	if (!file_map(&f, p->path, err)) {
		err->kind = ERR_TARGET;
		return false;
	}
	hash128_print(hash128(f.data, f.bytes), p->hash);
	file_unmap(&f);
	return true;
}

/* A name alone would be looked for in the loader's folders. */
static const char *
with_folder(const char *path, struct arena *a)
{
	return strchr(path, '/') ? path : arena_printf(a, "./%s", path);
}

static void
take_kind(struct plugin *p, const struct about *about)
{
	p->kind = target_plugin;
	p->kind.name = about->name;
	p->kind.summary = about->summary;
	p->kind.option = about->option;
	p->kind.rule = about->rule;
	p->kind.nrules = about->nrules;
	for (uint32_t i = 0; i < about->nrules; i++)
		about->rule[i].accepts = accepts;
}

static bool
open_plugin(
    struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	struct plugin *p = arena_new(a, struct plugin, 1);
	const char *path = target_option_get(t, "path");

	(void)f;
	if (!*path)
		return err_set(
		    err, ERR_USAGE, "it needs the option path=FILE.so");
	p->path = with_folder(path, a);
	p->session = arena_new(a, struct session, 1);
	p->greeting = arena_new(a, struct greeting, 1);
	if (!hash_file(p, err))
		return false;
	if (!plugin_greet(p->greeting, t, p->path, a, err)
	    || !options_settle(t, p->greeting->about.option, a, err))
		return err_in(err, "%s", path);
	take_kind(p, &p->greeting->about);
	t->kind = &p->kind;
	t->state = p;
	return true;
}

static const struct target_option options[] = {
    {"path", "<file.so>", "", "the plug-in; its own options follow"},
    {NULL, NULL, NULL, NULL},
};

const struct target_kind target_plugin = {
    .name = "plugin",
    .summary = "other people's runtimes: plugin:path=FILE.so",
    .option = options,
    .source = PRICE_MEASURED,
    .by_hand = true,
    .more_options = true,
    .open = open_plugin,
    .implementations = implementations,
    .compile = program_compile,
    .environment = environment,
};
