/* The whole plan as a device's runtime takes it, in a folder of the kind's name
 * below artifacts. */
#include "emit/package.h"

#include "emit/layers.h"
#include "emit/writers.h"

static void
add_nodes(struct toolchain_plan *p, struct toolchain_step *list,
    const struct candidate *c, uint32_t region)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		list[p->nsteps++] = (struct toolchain_step){
		    .plan_region = region, .node = c->node[i]};
}

static void
add_region(struct toolchain_plan *p, struct toolchain_step *list,
    const struct emit_work *w, uint32_t region)
{
	struct region r = emit_region(w, region);

	list[p->nsteps++] = (struct toolchain_step){
	    .region = (const struct region *)arena_copy(w->arena, &r, sizeof r),
	    .plan_region = region,
	    .node = NODE_NONE,
	};
}

bool
emit_package_plan(struct toolchain_plan *out, const struct emit_work *w,
    const struct target_kind *kind)
{
	const struct plan *p = w->plan;
	struct toolchain_step *list = arena_new(w->arena, struct toolchain_step,
	    (size_t)p->graph->nnodes + p->nregions);

	*out = (struct toolchain_plan){.graph = w->graph, .step = list};
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];

		if (emit_target(w, i)->kind == kind) {
			if (!out->target)
				out->target = emit_target(w, i);
			add_region(out, list, w, i);
			continue;
		}
		for (uint32_t k = 0; k < r->ncomposites; k++)
			add_nodes(out, list,
			    plan_candidate(w->plan, r->first + k), i);
	}
	return out->target != NULL;
}

/* Valid, but its runtime cannot be told: said where its files would be. */
static bool
write_refusal(const struct emit_work *w, const struct outdir *o,
    const char *folder, struct err *err)
{
	const char *name = arena_printf(w->arena, "%s/unsupported.txt", folder);
	struct err why = *err;
	FILE *f;

	err_clear(err);
	f = out_open(o, name, w->arena, err);
	if (!f)
		return false;
	fprintf(f, "%s\n", why.text);
	if (w->in->notes)
		notes_add(
		    w->in->notes, "no package in %s: %s", folder, why.text);
	return out_close(f, name, err);
}

static bool
write_kind(const struct emit_work *w, const struct outdir *o,
    const struct target_kind *kind, struct err *err)
{
	const char *folder = arena_printf(w->arena, "artifacts/%s", kind->name);
	struct toolchain_plan p;
	struct arena scratch;
	bool ok;

	if (!emit_package_plan(&p, w, kind))
		return true;
	arena_init(&scratch);
	ok = kind->toolchain->package->write(o, folder, &p, &scratch, err);
	arena_release(&scratch);
	if (!ok && err->kind == ERR_UNSUPPORTED)
		return write_refusal(w, o, folder, err);
	return ok;
}

bool
write_package(
    const struct emit_work *w, const struct outdir *o, struct err *err)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++)
		if (kind[i]->toolchain && kind[i]->toolchain->package
		    && !write_kind(w, o, kind[i], err))
			return false;
	return true;
}
