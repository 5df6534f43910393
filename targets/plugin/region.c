#include "targets/plugin/region.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/memory.h"
#include "targets/part.h"

/* ---- names ---- */

/* "n17": what nodes and their outputs are called. */
static bool
is_ours(const char *name)
{
	size_t n = name[0] == 'n' ? strspn(name + 1, "0123456789") : 0;

	return n > 0 && name[n + 1] == '\0';
}

static void
name_node(struct graph *part, node_id id)
{
	struct node *n = &part->node[id];
	const char *name = arena_printf(part->arena, "n%" PRIu32, id);

	n->name = name;
	if (n->noutputs > 0 && n->output[0] != VALUE_NONE
	    && !(part->value[n->output[0]].flags & VALUE_OUTPUT))
		part->value[n->output[0]].name = name;
}

static bool
names_differ(const struct graph *part, struct err *err)
{
	struct map names;

	map_init(&names, part->arena);
	for (value_id v = 0; v < part->nvalues; v++) {
		const char *name = part->value[v].name;

		if (map_add(&names, name, strlen(name), v) != v)
			return err_set(err, ERR_UNSUPPORTED,
			    "two values are called '%s'", name);
	}
	return true;
}

/* Runtimes name what they fuse after nodes or after values: both say which node
 * it was. */
static bool
name_parts(struct graph *part, struct err *err)
{
	for (value_id v = 0; v < part->nvalues; v++)
		if (is_ours(part->value[v].name))
			part->value[v].name = arena_printf(part->arena,
			    "%s.v%" PRIu32, part->value[v].name, v);
	for (node_id id = 0; id < part->nnodes; id++)
		name_node(part, id);
	return names_differ(part, err);
}

/* ---- ports ---- */

static bool
fill_port(struct marq_port *to, const struct value *v, struct err *err)
{
	size_t n, bytes;

	if (v->type.kind != TYPE_TENSOR || !type_is_static(&v->type)
	    || v->type.dtype == DT_STRING
	    || !tensor_size(
	        v->type.dtype, v->type.dim, v->type.rank, &n, &bytes))
		return err_set(err, ERR_UNSUPPORTED,
		    "'%s' is no tensor of a known size", v->name);
	*to = (struct marq_port){.size = sizeof *to,
	    .type = (uint32_t)v->type.dtype,
	    .rank = v->type.rank,
	    .dim = v->type.dim,
	    .bytes = bytes,
	    .name = v->name};
	return true;
}

static const struct marq_port *const *
give_ports(const struct graph *part, const value_id *value, uint32_t n,
    struct arena *a, struct err *err)
{
	struct marq_port *port = arena_new(a, struct marq_port, n);
	const struct marq_port **list =
	    arena_new(a, const struct marq_port *, n);

	for (uint32_t i = 0; i < n; i++) {
		list[i] = &port[i];
		if (!fill_port(&port[i], graph_value(part, value[i]), err))
			return NULL;
	}
	return list;
}

/* ---- the whole ---- */

static bool
write_model(struct given_region *r, const struct graph *part, struct err *err)
{
	FILE *f = memory_stream(&r->model, &r->model_bytes);
	bool ok = part_write(f, part, err);

	memory_stream_close(f);
	return ok;
}

/* A C identifier that tells candidates apart. */
static const char *
name_of(const struct candidate *c, struct arena *a)
{
	return arena_printf(a, "nodes_%" PRIu32 "_%" PRIu32 "_%" PRIu32,
	    c->node[0], c->node[c->nnodes - 1], c->nnodes);
}

static bool
takes_call(const void *context, const struct node *call)
{
	const struct about_opset *o = about_opset(context, call->domain);

	return o && call->opset >= o->first && call->opset <= o->last;
}

void
region_authored(struct authored *out, const struct about *about,
    const struct graph *g, const node_id *node, uint32_t n, struct arena *a)
{
	*out = (struct authored){.graph = g};
	if (about->authored)
		authored_find(out, g, node, n, takes_call, about, a);
}

static struct graph *
cut_out(struct given_region *r, const struct about *about,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err)
{
	struct authored_part part;
	struct authored w;

	if (!(c->implementation & REGION_AUTHORED))
		return part_of(g, c, a);
	region_authored(&w, about, g, c->node, c->nnodes, a);
	if (!authored_part(&part, &w, c, a, err)) {
		err->kind = ERR_UNSUPPORTED;
		return NULL;
	}
	r->start = part.start;
	r->place = part.place;
	return part.graph;
}

bool
region_give(struct given_region *out, const struct about *about,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err)
{
	struct marq_region *r = &out->region;
	struct graph *part;

	*out = (struct given_region){.model = NULL};
	part = cut_out(out, about, g, c, a, err);
	if (!part)
		return false;
	if (part->ninputs != c->ninputs || part->noutputs != c->noutputs)
		return err_set(
		    err, ERR_UNSUPPORTED, "a value is needed in two formats");
	if (!name_parts(part, err) || !write_model(out, part, err))
		return false;
	*r = (struct marq_region){.size = sizeof *r,
	    .nnodes = part->nnodes,
	    .name = name_of(c, a),
	    .model = out->model,
	    .model_bytes = out->model_bytes,
	    .ninputs = part->ninputs,
	    .noutputs = part->noutputs};
	r->input = give_ports(part, part->input, part->ninputs, a, err);
	if (r->input)
		r->output =
		    give_ports(part, part->output, part->noutputs, a, err);
	return r->input && r->output;
}

void
region_release(struct given_region *r)
{
	free(r->model);
	r->model = NULL;
}
