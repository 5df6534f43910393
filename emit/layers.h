/* Regions of the Marvell kind as its code generator sees them. */
#ifndef EMIT_LAYERS_H
#define EMIT_LAYERS_H

#include "emit/work.h"
#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/layer.h"

bool emit_is_mrvl(const struct emit_work *w, uint32_t region);

/* The region for the code generator; its symbol counts regions of its kind. */
struct mrvl_region emit_mrvl_region(const struct emit_work *w, uint32_t region);

#endif
