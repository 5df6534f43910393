/* Regions as their kind's toolchain is given them. */
#ifndef EMIT_LAYERS_H
#define EMIT_LAYERS_H

#include "emit/work.h"
#include "targets/toolchain.h"

/* NULL: the region's kind has none. */
const struct toolchain *emit_toolchain(
    const struct emit_work *w, uint32_t region);

struct region emit_region(const struct emit_work *w, uint32_t region);

/* What a toolchain made of a region; asking may take a process of its own. */
struct known_layers {
	bool asked;
	struct toolchain_layers layers; /* none, where it refused */
	const char *index_name;
};

/* Ask once. NULL: for another reason than that it cannot. */
const struct known_layers *emit_layers(
    const struct emit_work *w, uint32_t region, struct err *err);

#endif
