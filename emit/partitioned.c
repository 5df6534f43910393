/* partitioned.onnx: the whole model, one local function per region; and each
 * region of the host as a model of its own. */
#include <inttypes.h>
#include <string.h>

#include "emit/lent.h"
#include "emit/opsets.h"
#include "emit/qdq.h"
#include "emit/regions.h"
#include "emit/writers.h"
#include "ir/base/map.h"
#include "ir/base/plural.h"
#include "ir/onnx_write.h"
#include "plan/marks.h"

/* Local functions came with IR 8. SOURCE: the ONNX IR specification. */
#define IR_FUNCTIONS 8u
/* Before IR 4 every initialiser is an input as well. */
#define IR_INITIALISERS 4u

static uint32_t
at_least(uint32_t ir_version, uint32_t least)
{
	return ir_version > least ? ir_version : least;
}

/* TUNING: shapes, axes, pads, scales and clip bounds are below, weights above.
 * Shape inference sees through a function's Constant nodes but not through its
 * inputs, so what shapes depend on must be inside. */
#define INLINE_ELEMENTS 64u

/* TUNING: folding makes large constants of one element out of small models;
 * from so many bytes on they are written as the shape and the element. */
#define LIGHT_BYTES ((size_t)1 << 16)

/* What the author remarked of the model, or of its graph; marks are ours, and not
 * handed on. `more`: room for others behind. */
static struct onnx_meta *
own_meta(const struct onnx_meta *from, uint32_t nfrom, size_t more, uint32_t *n,
    struct arena *a)
{
	struct onnx_meta *list = arena_new(a, struct onnx_meta, nfrom + more);

	*n = 0;
	for (uint32_t i = 0; i < nfrom; i++)
		if (strncmp(from[i].key, MARK_PREFIX, strlen(MARK_PREFIX)))
			list[(*n)++] = from[i];
	return list;
}

static void
set_graph_meta(struct onnx_out *o, const struct model *m, struct arena *a)
{
	o->graph_meta =
	    own_meta(m->graph_meta, m->ngraph_meta, 0, &o->ngraph_meta, a);
}

/* Where each node of the graph that is written runs, by its outputs' names, which
 * are unique. */
struct remarks {
	const struct emit_work *w;
	struct map node; /* of the plan's graph, or of quantisers behind it */
};

static void
remarks_init(struct remarks *r, const struct emit_work *w)
{
	const struct graph *g = w->qdq ? w->qdq->graph : w->graph;

	r->w = w;
	map_init(&r->node, w->arena);
	for (node_id i = 0; i < g->nnodes; i++)
		for (uint32_t k = 0; k < g->node[i].noutputs; k++) {
			value_id v = g->node[i].output[k];

			if (v != VALUE_NONE)
				map_add(&r->node, g->value[v].name,
				    strlen(g->value[v].name), i);
		}
}

static const char *
call_text(const struct emit_work *w, uint32_t region)
{
	const struct plan_region *r = &w->plan->region[region];

	return arena_printf(w->arena, "%s on %s: %" PRIu32 " composite%s, %s",
	    w->region[region], emit_target(w, region)->text, r->ncomposites,
	    plural(r->ncomposites), cost_text(r->cost, w->arena));
}

static struct onnx_meta
remark(const void *context, const struct graph *g, node_id id)
{
	const struct remarks *r = context;
	const struct emit_work *w = r->w;
	const struct node *n = graph_node(g, id);
	uint32_t at = MAP_NONE, composite;

	for (uint32_t i = 0; at == MAP_NONE && i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			at = map_find(&r->node, g->value[n->output[i]].name,
			    strlen(g->value[n->output[i]].name));
	if (at >= w->graph->nnodes)
		return (struct onnx_meta){NULL, NULL};
	composite = w->plan->composite_of[at];
	return (struct onnx_meta){MARK_PLACEMENT,
	    strcmp(n->domain, REGION_DOMAIN) == 0
	        ? call_text(w, w->plan->composite[composite].region)
	        : emit_placement(w, composite)};
}

/* What each function stands for: the target as the user wrote it. */
static uint32_t
describe(const struct emit_work *w, const struct onnx_meta **out)
{
	const struct plan *p = w->plan;
	const struct model *m = w->in->model;
	uint32_t n;
	struct onnx_meta *list =
	    own_meta(m->meta, m->nmeta, (size_t)p->nregions + 2, &n, w->arena);

	list[n++] = (struct onnx_meta){MARK_SCHEMA, SCHEMA_PARTITIONED};
	list[n++] = (struct onnx_meta){
	    MARK_COST, arena_printf(w->arena, "%" PRIu64, p->cost)};
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];

		if (emit_region_is_host(w, i))
			continue;
		list[n++] = (struct onnx_meta){
		    arena_printf(w->arena, MARK_REGION "%s", w->region[i]),
		    arena_printf(w->arena,
		        "target=%s composites=%" PRIu32 " cost_ns=%" PRIu64
		        " launch_ns=%" PRIu64,
		        emit_target(w, i)->text, r->ncomposites, r->cost,
		        r->launch)};
	}
	*out = list;
	return n;
}

static bool
is_lent(const void *context, const struct tensor *t, uint64_t *at)
{
	const struct remarks *r = context;

	return lent_find(r->w->lent, r->w->in->model, t, at);
}

bool
write_partitioned(FILE *f, const struct emit_work *w, struct err *err)
{
	const struct plan *p = w->plan;
	const struct model *m = w->in->model;
	const struct graph **body =
	    arena_new(w->arena, const struct graph *, p->nregions);
	struct onnx_function *function =
	    arena_new(w->arena, struct onnx_function, p->nregions);
	struct onnx_out o = {
	    .ir_version = at_least(m->ir_version, IR_FUNCTIONS),
	    .light_bytes = LIGHT_BYTES,
	    .function = function,
	    .remark = remark,
	    .beside = w->lent && w->lent->n ? LENDER : NULL,
	    .lies = is_lent,
	};
	struct remarks remarks;

	remarks_init(&remarks, w);
	o.context = &remarks;
	set_graph_meta(&o, m, w->arena);
	for (uint32_t i = 0; i < p->nregions; i++) {
		if (emit_region_is_host(w, i))
			continue;
		body[i] = region_graph(w, i, INLINE_ELEMENTS, w->arena);
		function[o.nfunctions++] = (struct onnx_function){
		    w->region[i], REGION_DOMAIN, body[i]};
	}
	o.graph = main_graph(w, body, w->arena);
	o.nmeta = describe(w, &o.meta);
	return emit_opsets(&o, m, REGION_DOMAIN, w->qdq ? w->qdq->opset : 0,
	           w->arena, err)
	    && onnx_write(f, &o, err);
}

static bool
write_region_model(
    FILE *f, const struct emit_work *w, uint32_t region, struct err *err)
{
	const struct model *m = w->in->model;
	struct arena scratch;
	struct onnx_out o = {
	    .ir_version = at_least(m->ir_version, IR_INITIALISERS),
	    .light_bytes = LIGHT_BYTES,
	};
	bool ok;

	arena_init(&scratch);
	o.graph = region_graph(w, region, SIZE_MAX, &scratch);
	o.meta = own_meta(m->meta, m->nmeta, 0, &o.nmeta, &scratch);
	set_graph_meta(&o, m, &scratch);
	ok = emit_opsets(&o, m, NULL, 0, &scratch, err)
	    && onnx_write(f, &o, err);
	arena_release(&scratch);
	return ok;
}

bool
write_host(const struct emit_work *w, const struct outdir *o, struct err *err)
{
	for (uint32_t i = 0; i < w->plan->nregions; i++) {
		const char *name;
		FILE *f;

		if (!emit_region_is_host(w, i))
			continue;
		name = arena_printf(w->arena, "host/%" PRIu32 ".onnx", i);
		f = out_open(o, name, w->arena, err);
		if (!f)
			return false;
		if (!write_region_model(f, w, i, err)) {
			if (!emit_leave_out(w, o, f, name, err))
				return false;
			continue;
		}
		if (!out_close(f, name, err))
			return false;
	}
	return true;
}
