/* Backends that are shared objects of other people's: marq_plugin.h is what they
 * are made with, docs/plugins.md for who writes one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "targets/part.h"
#include "targets/plugin/greet.h"
#include "targets/plugin/idle.h"
#include "targets/plugin/layers.h"
#include "targets/plugin/manners.h"
#include "targets/plugin/options.h"
#include "targets/plugin/program.h"
#include "targets/plugin/region.h"
#include "targets/plugin/regions.h"

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
	const struct about_opset *o = about_opset(about, n->domain);
	char wanted[48];

	if (!o)
		return why_need(why, about->nopsets == 0, "domain",
		    "a domain it declares", "domain '%s'", n->domain);
	snprintf(wanted, sizeof wanted, "%u..%u", o->first, o->last);
	return why_need(why, n->opset >= o->first && n->opset <= o->last,
	    "opset", wanted, "%s is of opset %u", n->op_type, n->opset);
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
		if (t->kind != TYPE_TENSOR
		    || graph_value(m->graph, v)->constant)
			continue;
		ok &= why_need(why, t->dtype != DT_STRING, "type", "numbers",
		    "'%s' is of texts", graph_value(m->graph, v)->name);
		if (about->types)
			ok &= why_need(why, about->types >> t->dtype & 1,
			    "type", "a type it declares", "'%s' is %s",
			    graph_value(m->graph, v)->name,
			    dtype_name(t->dtype));
	}
	return ok;
}

/* What holds wherever the nodes are, and whoever else takes them. */
static bool
nodes_ok(const struct match_in *m, struct why *why)
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

static bool
accepts(const struct match_in *m, struct why *why)
{
	bool ok = nodes_ok(m, why);

	for (uint32_t i = 0; about_of(m->target)->gaps && i < m->match->nnodes;
	     i++)
		ok &= why_need(why, bitset_has(m->rare, m->match->node[i]),
		    "gap", "a node that only the host has a kernel for",
		    "%s has others",
		    graph_node(m->graph, m->match->node[i])->op_type);
	return ok;
}

/* Does a rule take the node by itself, wherever it is? */
static bool
takes_alone(const struct match_in *of, node_id id)
{
	const struct target_kind *k = of->target->kind;
	struct match found[8];
	struct arena nodes, scratch;
	const struct matches matches = {
	    found, sizeof found / sizeof *found, &nodes, &scratch, NULL};
	struct match_in in = *of;
	bool takes = false;
	struct why why;

	arena_init(&nodes);
	arena_init(&scratch);
	why_init(&why, NULL);
	for (in.rule = 0; !takes && in.rule < k->nrules; in.rule++) {
		uint32_t n = rule_of_sets(k, in.rule)
		    ? 0
		    : pattern_match(
		        k->rule[in.rule].pattern, in.graph, id, &matches);

		for (uint32_t i = 0; i < n; i++) {
			in.match = &found[i];
			takes |= found[i].nnodes == 1 && nodes_ok(&in, &why);
		}
	}
	arena_release(&nodes);
	arena_release(&scratch);
	return takes;
}

static bool
survey(const struct match_in *m, struct survey *out, struct arena *a,
    struct err *err)
{
	struct bitset taken = bitset_new(a, m->graph->nnodes);

	(void)err;
	if (!about_of(m->target)->regions)
		return true;
	for (node_id id = 0; id < m->graph->nnodes; id++)
		if (takes_alone(m, id))
			bitset_add(taken, id);
	out->sets.of = taken;
	regions_offer(&out->sets,
	    &(struct regions_of){m->graph, m->uses, taken, m->rare,
	        about_of(m->target)->compile_ms},
	    a);
	return true;
}

/* Names stay as long as the graph. */
static const char *
with_authored(const struct match_in *m)
{
	const char *name = NULL;
	struct authored w;
	struct arena a;

	arena_init(&a);
	region_authored(&w, about_of(m->target), m->graph, m->match->node,
	    m->match->nnodes, &a);
	if (w.most > 1)
		name = arena_printf(
		    m->graph->arena, "authored/%s", authored_text(&w, &a));
	arena_release(&a);
	return name;
}

/* One that is the whole model has the processors to itself, which is another
 * price; so has one with operators as their author has them, where that is
 * another form: both are offered, for a runtime may be better at either. */
static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	uint32_t n = part_implementations(m, f, out, max);
	const char *authored =
	    n > 0 && n < max && m->match->nnodes > 1 ? with_authored(m) : NULL;

	if (authored) {
		out[n] = out[0];
		out[n].name = authored;
		out[n].number = REGION_AUTHORED;
		out[n++].own_weights = true;
	}
	for (uint32_t i = 0; i < n && m->match->nnodes == m->graph->nnodes;
	     i++) {
		out[i].name =
		    arena_printf(m->graph->arena, "%s/alone", out[i].name);
		out[i].number |= REGION_ALONE;
	}
	return n;
}

/* ---- the kind ---- */

static bool
is_priced(const struct about *about, const char *option)
{
	for (uint32_t i = 0; i < about->nunpriced; i++)
		if (strcmp(about->unpriced[i], option) == 0)
			return false;
	return true;
}

static void
environment(const struct target *t, struct buf *b)
{
	const struct plugin *p = plugin_of(t);

	if (!p)
		return;
	buf_printf(b, "plugin=%s\nplugin_build=%s\nplugin_judge=%d\n%s",
	    p->kind.name, p->hash, MANNERS_VERSION, p->greeting->facts);
	for (uint32_t i = 0; i < t->noptions; i++)
		if (is_priced(about_of(t), t->option[i].name))
			buf_printf(b, "option.%s=%s\n", t->option[i].name,
			    t->option[i].value);
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

static const struct pattern any_operator = {.kind = PATTERN_OPERATOR};

static void
take_kind(struct plugin *p, struct about *about, struct arena *a)
{
	p->kind = target_plugin;
	p->kind.name = about->name;
	p->kind.summary = about->summary;
	p->kind.option = about->option;
	p->kind.rule = about->rule;
	p->kind.nrules = about->nrules;
	for (uint32_t i = 0; i < about->nrules; i++)
		about->rule[i].accepts = accepts;
	if (!about->regions)
		return;
	p->kind.nset_rules = 1;
	about->rule[p->kind.nrules++] =
	    (struct rule){.name = arena_printf(a, "%s.region", about->name),
	        .pattern = &any_operator,
	        .multi_output = true};
}

/* A name is that of a file in the one folder that belongs to this program:
 * PREFIX/bin/marq has PREFIX/lib/marq/marq_NAME.so. */
static bool
find_installed(struct option_value *out, const char *name, struct arena *a)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;
	const char *path;

	if (n <= 0 || !about_name_ok(name))
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	path = arena_printf(
	    a, "%.*s/../lib/marq/marq_%s.so", (int)(slash - self), self, name);
	*out = (struct option_value){"path", path};
	return access(path, R_OK) == 0;
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
	arena_init(&p->session->idle);
	p->greeting = arena_new(a, struct greeting, 1);
	if (!hash_file(p, err))
		return false;
	if (!plugin_greet(p->greeting, t, p->path, a, err)
	    || !options_settle(t, p->greeting->about.option, a, err))
		return err_in(err, "%s", path);
	take_kind(p, &p->greeting->about, a);
	t->kind = &p->kind;
	t->state = p;
	return true;
}

static const struct target_option options[] = {
    {"path", "<file.so>", "", "the plug-in; its own options follow"},
    {NULL, NULL, NULL, NULL},
};

/* For which there are plug-ins in this tree. */
static const char *const known[] = {"ort", "openvino", "acl", NULL};
static const struct target_aliases aliases = {find_installed, known};

const struct target_kind target_plugin = {
    .name = "plugin",
    .summary = "other people's runtimes: plugin:path=FILE.so",
    .option = options,
    .source = PRICE_MEASURED,
    .own_threads = true,
    .by_hand = true,
    .translates = true,
    .more_options = true,
    .aliases = &aliases,
    .open = open_plugin,
    .implementations = implementations,
    .survey = survey,
    .compile = program_compile,
    .environment = environment,
    .toolchain = &plugin_toolchain,
    .rest = &plugin_rest,
};
