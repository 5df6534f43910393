#include "targets/mrvl/memory.h"

#include <math.h>

#include "targets/mrvl/cost.h"
#include "targets/mrvl/work.h"

/* Bytes of one tile that `bytes` of weights take. */
static double
of_tile(const struct mrvl *m, double bytes)
{
	return m->params.param[PARAM_weights_split].value > 0
	    ? bytes / (double)m->num_tiles
	    : bytes;
}

static uint64_t
whole_pages(const struct mrvl *m, double bytes)
{
	double page = m->params.param[PARAM_ocm_page_bytes].value;

	return (uint64_t)(ceil(bytes / page) * page);
}

/* Pages are counted per region, so a layer by itself counts bytes: never more
 * than its share of the pages. */
uint64_t
mrvl_resident(
    const struct target *t, const struct graph *g, const struct candidate *c)
{
	const struct mrvl *m = mrvl_of(t);
	struct arena scratch;
	double bytes;

	if (!m->pin)
		return 0;
	arena_init(&scratch);
	bytes = steps_of(t, g, &c, 1, &scratch)->work.weight_bytes;
	arena_release(&scratch);
	return (uint64_t)of_tile(m, bytes);
}

/* With the smallest scratch a region can have. */
uint64_t
mrvl_capacity(const struct target *t)
{
	const struct mrvl *m = mrvl_of(t);

	if (!m->pin)
		return 0;
	return (uint64_t)m->params.param[PARAM_ocm_tile_bytes].value
	    - whole_pages(m, m->params.param[PARAM_scratch_floor].value);
}

/* SOURCE: DPDK's cn10k driver: weights from the low end, in pages counted per
 * region; scratch from a floor to the high end. The compiler sees one region at
 * a time: activations take what its own weights leave, and spill beyond. */
void
mrvl_region_memory(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n, struct memory *out)
{
	const struct mrvl *m = mrvl_of(t);
	const struct param_value *p = m->params.param;
	uint64_t least = whole_pages(m, p[PARAM_scratch_floor].value), room;
	double weights = 0, live = 0;
	struct arena scratch;
	struct layer_work *step;

	arena_init(&scratch);
	step = steps_of(t, g, c, n, &scratch);
	for (uint32_t i = 0; i < n; i++) {
		weights += step[i].work.weight_bytes;
		live = fmax(live, step[i].live);
	}
	arena_release(&scratch);
	out->limit = (uint64_t)p[PARAM_ocm_tile_bytes].value;
	out->resident = m->pin ? whole_pages(m, of_tile(m, weights)) : 0;
	out->scratch = whole_pages(m, live / (double)m->num_tiles);
	room = out->resident < out->limit ? out->limit - out->resident : 0;
	if (out->scratch > room)
		out->scratch = room;
	if (out->scratch < least)
		out->scratch = least;
}
