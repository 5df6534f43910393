/* Upstream's regions: which operators and composites go to the accelerator,
 * how they grow together, which regions are given back to the CPU. */
#ifndef TARGETS_MRVL_REGIONS_H
#define TARGETS_MRVL_REGIONS_H

#include "targets/mrvl/compose.h"
#include "targets/mrvl/low.h"

/* A region, in the lowered graph's terms. */
struct low_region {
	uint32_t number; /* upstream's id; given-back regions leave gaps */
	bool given_back; /* reverted: its operators stay on the CPU */
	uint32_t nparams, noutputs, nmembers;
	const low_id *param; /* values read, in order */
	const uint32_t *place; /* numbers in the parameters' names */
	const low_id *output; /* values given, in order */
	const low_id *member; /* composite roots and bare operators, in layer
			       * order */
};

struct low_regions {
	struct low_region *region; /* by number */
	uint32_t n;
};

void low_find_regions(struct low_regions *out, const struct lowered *l,
    const struct composites *c, struct arena *a);

#endif
