/* Names: which value a name means where it is written. */
#include <string.h>

#include "ir/onnx_import.h"

void
scope_init(struct scope *s, struct importer *imp, struct graph *g,
    struct scope *outer, const struct opsets *opsets)
{
	*s = (struct scope){
	    .outer = outer,
	    .graph = g,
	    .opsets = opsets,
	    .path = "",
	    .prefix = "",
	};
	map_init(&s->names, imp->passing);
	map_init(&s->absent, imp->passing);
	map_init(&s->bound, imp->passing);
	map_init(&s->declared, imp->passing);
}

/* The name a value gets in the graph: as written, or, in a function body,
 * below the call's name and different from every other. */
static const char *
value_name(struct importer *imp, const struct scope *s, const char *name)
{
	const char *unique = s->prefix[0] ? NULL : import_word(imp, name);

	if (!unique)
		unique = arena_printf(imp->a, "%s%s", s->prefix, name);
	for (uint32_t k = 2; s->prefix[0]
	     && map_find(&imp->taken, unique, strlen(unique)) != MAP_NONE;
	     k++)
		unique = arena_printf(imp->a, "%s%s_%u", s->prefix, name, k);
	map_add(&imp->taken, unique, strlen(unique), 0);
	return unique;
}

bool
scope_declare(struct importer *imp, struct scope *s, const char *name,
    const struct type *type, value_id *out)
{
	size_t n = strlen(name);

	if (map_find(&s->names, name, n) != MAP_NONE
	    || map_find(&s->absent, name, n) != MAP_NONE)
		return err_set(
		    imp->err, ERR_INPUT, "value '%s' is defined twice", name);
	*out = map_find(&s->bound, name, n);
	if (*out == MAP_NONE)
		*out =
		    graph_add_value(s->graph, value_name(imp, s, name), type);
	map_add(&s->names, name, n, *out);
	return true;
}

static uint32_t
owner_slot(struct importer *imp, struct owner *o, value_id outer)
{
	value_id *key = arena_new(imp->a, value_id, 1);
	uint32_t slot;

	*key = outer;
	slot = map_add(&o->slot, key, sizeof *key, o->n);
	if (slot == o->n) {
		o->value = arena_grow(
		    imp->a, o->value, &o->cap, o->n + 1, sizeof *o->value);
		o->value[o->n++] = outer;
	}
	return slot;
}

/* A value of the enclosing graph gets a stand-in here. */
static value_id
capture(struct importer *imp, struct scope *s, const char *name, value_id outer)
{
	const struct value *seen = graph_value(s->outer->graph, outer);
	uint32_t slot = owner_slot(imp, s->owner, outer);
	value_id inner;

	inner = seen->constant
	    ? graph_add_constant(s->graph, seen->name, seen->constant)
	    : graph_add_value(s->graph, seen->name, NULL);
	s->capture = arena_grow(imp->a, s->capture, &s->capture_cap,
	    s->ncaptures + 1, sizeof *s->capture);
	s->capture[s->ncaptures++] = (struct capture){slot, inner};
	map_add(&s->names, name, strlen(name), inner);
	return inner;
}

value_id
scope_find(struct importer *imp, struct scope *s, const char *name)
{
	size_t n = strlen(name);
	value_id v = map_find(&s->names, name, n), outer;

	if (v != MAP_NONE || !s->outer)
		return v;
	outer = scope_find(imp, s->outer, name);
	return outer == VALUE_NONE ? VALUE_NONE : capture(imp, s, name, outer);
}

const char *
scope_path(
    const struct importer *imp, const struct scope *s, const Onnx__NodeProto *p)
{
	const char *label = p->name && p->name[0]
	    ? p->name
	    : arena_printf(imp->a, "%s_%u", p->op_type, s->at);

	return arena_printf(
	    imp->a, "%s%s%s", s->path, s->path[0] ? "/" : "", label);
}

bool
scope_type(
    struct importer *imp, struct scope *s, const char *name, struct type *out)
{
	uint32_t i = map_find(&s->declared, name, strlen(name));

	*out = (struct type){.kind = TYPE_UNKNOWN, .rank = RANK_UNKNOWN};
	if (i == MAP_NONE)
		return true;
	return import_type(imp, s->graph, s->value_info[i]->type, out)
	    || err_in(imp->err, "value '%s'", name);
}
