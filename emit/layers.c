#include "emit/layers.h"

const struct toolchain *
emit_toolchain(const struct emit_work *w, uint32_t region)
{
	return emit_target(w, region)->kind->toolchain;
}

struct region
emit_region(const struct emit_work *w, uint32_t region)
{
	struct region r = plan_region_of(w->plan, region, w->arena);

	r.number = w->number[region];
	return r;
}
