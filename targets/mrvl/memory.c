#include "targets/mrvl/memory.h"

#include <math.h>

#include "targets/mrvl/cost.h"
#include "targets/mrvl/build.h"
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
mrvl_resident(const struct match_in *m)
{
	const struct mrvl *mrvl = mrvl_of(m->target);
	struct arena scratch;
	struct layer l;
	double bytes;

	if (!mrvl->pin)
		return 0;
	arena_init(&scratch);
	mrvl_layer_of(&l, m->graph, m->rule, m->match, &scratch);
	bytes = work_of(&l, mrvl->int8).weight_bytes;
	arena_release(&scratch);
	return (uint64_t)of_tile(mrvl, bytes);
}

/* SOURCE: DPDK's cn10k driver: weights from the low end, in pages counted per
 * region; scratch from a floor to the high end. The compiler sees one region at
 * a time: activations take what its own weights leave, and spill beyond. */
void
mrvl_memory(const struct region *r, struct memory *out)
{
	const struct mrvl *m = mrvl_of(r->target);
	const struct param_value *p = m->params.param;
	uint64_t least = whole_pages(m, p[PARAM_scratch_floor].value), room;
	double weights = 0, live = 0;
	struct arena scratch;
	struct layer_work *step;

	arena_init(&scratch);
	step = steps_of(r, &scratch);
	for (uint32_t i = 0; i < r->ncandidates; i++) {
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
