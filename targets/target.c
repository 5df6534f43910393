#include "targets/target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"

#define TARGET(name) extern const struct target_kind target_##name;
#include "targets/targets.def"
#undef TARGET

static const struct target_kind *const kinds[] = {
#define TARGET(name) &target_##name,
#include "targets/targets.def"
#undef TARGET
    NULL};

/* TUNING: targets in one mix; more is a mistake on the command line. */
#define MIX_MAX 32

static int
by_port(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->format > y->format) - (x->format < y->format);
}

struct region
region_of(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n)
{
	struct region r = {
	    .target = t, .graph = g, .candidate = c, .ncandidates = n};

	if (n == 1) {
		r.ninputs = c[0]->ninputs;
		r.input = c[0]->input;
		r.noutputs = c[0]->noutputs;
		r.output = c[0]->output;
	}
	return r;
}

uint32_t
ports_sort(struct port *port, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 0)
		qsort(port, n, sizeof *port, by_port);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || by_port(&port[i], &port[kept - 1]) != 0)
			port[kept++] = port[i];
	return kept;
}

const value_id *
ports_values(const struct port *port, uint32_t n, struct arena *a)
{
	value_id *v = arena_new(a, value_id, n);

	for (uint32_t i = 0; i < n; i++)
		v[i] = port[i].value;
	return v;
}

uint32_t
ports_find(const struct port *port, uint32_t n, value_id v)
{
	for (uint32_t i = 0; i < n; i++)
		if (port[i].value == v)
			return i;
	return UINT32_MAX;
}

static int32_t
number_of(const struct port *port, uint32_t n, value_id v)
{
	const uint32_t i = ports_find(port, n, v);

	return i == UINT32_MAX ? -1 : (int32_t)i;
}

int32_t
candidate_input(const struct candidate *c, value_id v)
{
	return number_of(c->input, c->ninputs, v);
}

int32_t
candidate_output(const struct candidate *c, value_id v)
{
	return number_of(c->output, c->noutputs, v);
}

void
candidate_constants(const struct graph *g, const struct candidate *c,
    constant_taker take, void *context)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++) {
			const struct value *v = node_in(g, n, k);

			if (v && v->constant)
				take(context, v->constant);
		}
	}
}

const char *
price_source_text(enum price_source s)
{
	static const char *const text[] = {
	    [PRICE_MEASURED] = "measured",
	    [PRICE_SIMULATED] = "simulated",
	    [PRICE_EXTERNAL] = "external",
	    [PRICE_ESTIMATED] = "estimated",
	};

	return text[s];
}

const struct target_kind *const *
target_kinds(uint32_t *n)
{
	*n = (uint32_t)(sizeof kinds / sizeof kinds[0]) - 1;
	return kinds;
}

const struct target_kind *
target_kind_find(const char *name)
{
	for (uint32_t i = 0; kinds[i]; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

bool
target_kind_there(const struct target_kind *k, struct err *err)
{
	if (k->lacks)
		return err_set(err, ERR_TARGET, "not built in: %s", k->lacks);
	return !k->reach || k->reach(err);
}

bool
target_kind_usable(const struct target_kind *k, struct err *err)
{
	return target_kind_there(k, err) && (!k->load || k->load(err));
}

bool
mix_load(const struct mix *m, struct err *err)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!target_kind_usable(m->target[i].kind, err))
			return err_in(err, "target '%s'", m->target[i].text);
	return true;
}

static const char *
known_kinds(struct arena *a)
{
	const char *text = "";

	const char *name;

	for (uint32_t i = 0; kinds[i]; i++)
		text = arena_printf(
		    a, "%s%s%s", text, i ? ", " : "", kinds[i]->name);
	for (uint32_t i = 0; (name = target_installed(i, a)) != NULL; i++)
		text = arena_printf(a, "%s, %s", text, name);
	return text;
}

static const struct target_option *
find_option(const struct target_kind *k, const char *name)
{
	for (const struct target_option *o = k->option; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static const char *
known_options(const struct target_kind *k, struct arena *a)
{
	const char *text = "";

	for (const struct target_option *o = k->option; o && o->name; o++)
		text =
		    arena_printf(a, "%s%s%s", text, *text ? ", " : "", o->name);
	return *text ? text : "none";
}

/* `values` is either a list "1|2|4" or, in angle brackets, what is wanted. */
static bool
value_is_listed(const char *values, const char *value)
{
	size_t n = strlen(value);

	if (values[0] == '<')
		return true;
	for (const char *at = values; *at;) {
		size_t len = strcspn(at, "|");

		if (len == n && memcmp(at, value, n) == 0)
			return true;
		at += len;
		at += *at == '|';
	}
	return false;
}

/* Where the option at `at` ends: at a comma, but not at one behind a backslash,
 * which belongs to the value. */
static size_t
option_length(const char *at)
{
	size_t n = 0;

	while (at[n] && at[n] != ',')
		n += at[n] == '\\' && at[n + 1] == ',' ? 2 : 1;
	return n;
}

static const char *
without_escapes(const char *text, size_t n, struct arena *a)
{
	char *out = arena_strn(a, text, n);
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (text[i] != '\\' || i + 1 == n || text[i + 1] != ',')
			out[kept++] = text[i];
	out[kept] = '\0';
	return out;
}

static const char *
near_text(const struct nearest *n, struct arena *a)
{
	return n->name ? nearest_text(n, a) : ";";
}

static const char *
near_option(const struct target_kind *k, const char *name, struct arena *a)
{
	struct nearest n = {.word = name};

	for (const struct target_option *o = k->option; o && o->name; o++)
		nearest_try(&n, o->name);
	return near_text(&n, a);
}

static const char *
near_kind(const char *name, struct arena *a)
{
	struct nearest n = {.word = name};
	uint32_t nkinds;
	const struct target_kind *const *kind = target_kinds(&nkinds);

	for (uint32_t i = 0; i < nkinds; i++)
		nearest_try(&n, kind[i]->name);
	return near_text(&n, a);
}

bool
target_option_check(const struct target *t, const struct option_value *v,
    struct arena *a, struct err *err)
{
	const struct target_option *o = find_option(t->kind, v->name);

	if (!o)
		return err_set(err, ERR_USAGE,
		    "target '%s': unknown option '%s'%s %s has: %s", t->text,
		    v->name, near_option(t->kind, v->name, a), t->kind->name,
		    known_options(t->kind, a));
	return value_is_listed(o->values, v->value)
	    || err_set(err, ERR_USAGE,
	        "target '%s': %s is '%s', must be one of %s", t->text, v->name,
	        v->value, o->values);
}

static bool
add_option(struct target *t, struct option_value *list, const char *text,
    size_t n, struct arena *a, struct err *err)
{
	const char *key = without_escapes(text, n, a);
	const char *equals = strchr(key, '=');
	struct option_value *v = &list[t->noptions];

	if (!equals || equals == key)
		return err_set(err, ERR_USAGE,
		    "target '%s': '%s' is not key=value (a comma inside a value "
		    "is written \\,)",
		    t->text, key);
	v->value = equals + 1;
	v->name = arena_strn(a, key, (size_t)(equals - key));
	if (!t->kind->more_options && !target_option_check(t, v, a, err))
		return false;
	for (uint32_t i = 0; i < t->noptions; i++)
		if (strcmp(list[i].name, v->name) == 0)
			return err_set(err, ERR_USAGE,
			    "target '%s': option '%s' is given twice", t->text,
			    v->name);
	t->noptions++;
	return true;
}

/* The kind of that name, or the one that knows what the name stands for, as an
 * option. */
static const struct target_kind *
find_kind(const char *name, struct option_value *means, struct arena *a)
{
	const struct target_kind *k = target_kind_find(name);

	means->name = NULL;
	for (uint32_t i = 0; !k && kinds[i]; i++)
		if (kinds[i]->aliases
		    && kinds[i]->aliases->find(means, name, a))
			k = kinds[i];
	return k;
}

const char *
target_installed(uint32_t i, struct arena *a)
{
	struct option_value means;

	for (uint32_t k = 0; kinds[k]; k++) {
		const struct target_aliases *x = kinds[k]->aliases;

		for (uint32_t n = 0; x && x->known[n]; n++)
			if (x->find(&means, x->known[n], a) && i-- == 0)
				return x->known[n];
	}
	return NULL;
}

/* A name that stands for something, which is not installed, or no name. */
static bool
unknown_target(const char *name, struct arena *a, struct err *err)
{
	struct option_value means = {NULL, "plug-in of that name"};

	for (uint32_t k = 0; kinds[k]; k++) {
		const struct target_aliases *x = kinds[k]->aliases;

		for (uint32_t n = 0; x && x->known[n]; n++)
			if (strcmp(x->known[n], name) == 0
			    && !x->find(&means, name, a))
				return err_set(err, ERR_TARGET,
				    "target '%s' is not installed: no %s", name,
				    means.value);
	}
	return err_set(err, ERR_USAGE, "unknown target '%s'%s known are: %s",
	    name, near_kind(name, a), known_kinds(a));
}

static bool
parse_target(
    struct target *t, const char *text, struct arena *a, struct err *err)
{
	const char *colon = strchr(text, ':'), *at;
	size_t n = colon ? (size_t)(colon - text) : strlen(text), commas = 0;
	const char *name = arena_strn(a, text, n);
	struct option_value *list, means;

	t->text = arena_str(a, text);
	t->kind = find_kind(name, &means, a);
	if (!t->kind)
		return unknown_target(name, a, err);
	t->source = t->kind->source;
	for (at = colon; colon && *at; at++)
		commas += *at == ',';
	list = arena_new(a, struct option_value, commas + 2);
	t->option = list;
	if (means.name)
		list[t->noptions++] = means;
	if (!colon)
		return true;
	for (at = colon + 1;; at++) {
		n = option_length(at);
		if (!add_option(t, list, at, n, a, err))
			return false;
		at += n;
		if (*at == '\0')
			return true;
	}
}

static bool
open_target(
    struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	if (!target_kind_there(t->kind, err))
		return err_in(err, "target '%s'", t->text);
	if (t->kind->open && !t->kind->open(t, f, a, err))
		return err_in(err, "target '%s'", t->text);
	return true;
}

bool
mix_open(struct mix *m, const char *const *text, uint32_t n, struct arena *a,
    struct err *err)
{
	struct target *target = arena_new(a, struct target, (size_t)n + 1);
	bool has_host = false;

	*m = (struct mix){.target = target};
	formats_init(&m->formats);
	if (n > MIX_MAX)
		return err_set(err, ERR_USAGE, "%u targets, at most %u", n,
		    (unsigned)MIX_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (!parse_target(&target[m->n], text[i], a, err))
			return false;
		has_host |= target_is_host(&target[m->n]);
		m->n++;
	}
	if (!has_host && target_kind_find("host")
	    && !parse_target(&target[m->n++], "host", a, err))
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		target[i].index = i;
		target[i].formats = &m->formats;
		if (!open_target(&target[i], &m->formats, a, err))
			return false;
	}
	return true;
}

const char *
target_option_get(const struct target *t, const char *name)
{
	const struct target_option *o = find_option(t->kind, name);

	for (uint32_t i = 0; i < t->noptions; i++)
		if (strcmp(t->option[i].name, name) == 0)
			return t->option[i].value;
	assert(o); /* a kind asks for its own options only */
	return o->otherwise;
}
