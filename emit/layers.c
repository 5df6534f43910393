#include "emit/layers.h"

const struct toolchain *
emit_toolchain(const struct emit_work *w, uint32_t region)
{
	return emit_target(w, region)->kind->toolchain;
}

struct toolchain_region
emit_toolchain_region(const struct emit_work *w, uint32_t region)
{
	const struct plan_region *r = &w->plan->region[region];
	const struct candidate **list =
	    arena_new(w->arena, const struct candidate *, r->ncomposites);

	for (uint32_t i = 0; i < r->ncomposites; i++)
		list[i] = emit_candidate(w, r->first + i);
	return (struct toolchain_region){
	    .target = emit_target(w, region),
	    .graph = w->graph,
	    .number = w->number[region],
	    .ncandidates = r->ncomposites,
	    .candidate = list,
	    .ninputs = r->ninputs,
	    .noutputs = r->noutputs,
	    .input = r->input,
	    .output = r->output,
	};
}
