#include "emit/layers.h"

#include <string.h>

bool
emit_is_mrvl(const struct emit_work *w, uint32_t region)
{
	return strcmp(emit_target(w, region)->kind->name, "mrvl") == 0;
}

struct mrvl_region
emit_mrvl_region(const struct emit_work *w, uint32_t region)
{
	const struct plan_region *r = &w->plan->region[region];
	const struct candidate **list =
	    arena_new(w->arena, const struct candidate *, r->ncomposites);

	for (uint32_t i = 0; i < r->ncomposites; i++)
		list[i] = emit_candidate(w, r->first + i);
	return (struct mrvl_region){
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
