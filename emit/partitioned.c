/* partitioned.onnx: the whole model, one local function per region; and each
 * region of the host as a model of its own. */
#include <inttypes.h>
#include <string.h>

#include "emit/opsets.h"
#include "emit/qdq.h"
#include "emit/regions.h"
#include "emit/writers.h"
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

/* What each function stands for: the target as the user wrote it. */
static uint32_t
describe(const struct emit_work *w, const struct onnx_meta **out)
{
	const struct plan *p = w->plan;
	struct onnx_meta *list =
	    arena_new(w->arena, struct onnx_meta, (size_t)p->nregions + 2);
	uint32_t n = 0;

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
	};

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
