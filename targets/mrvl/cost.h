/* The cost simulator: cycle-approximate, from the parameters of params.def.
 *
 * layer   = max(MACs * 2 / (peak * tiles / 8 * utilisation) or bytes / vector
 *           rate, bytes from and to DRAM / DMA rate) + fixed
 * region  = sum of layers, with weights streamed unless pinned and activations
 *           spilled when what is alive exceeds on-chip memory
 * launch  = one job;  transfer = conversion on a CPU core + DMA */
#ifndef TARGETS_MRVL_COST_H
#define TARGETS_MRVL_COST_H

#include "targets/mrvl/options.h"
#include "targets/mrvl/work.h"
#include "targets/target.h"

/* One evaluation's parameter values. */
struct setting {
	double value[NPARAM];
};

struct setting setting_of(const struct params *p);

/* Nanoseconds of one layer. `live` bytes of activations exist while it runs,
 * its own included; `pinned` bytes of weights of the whole region are kept on
 * chip (0: streamed). */
double layer_ns(const struct mrvl_work *w, const struct setting *s,
    const struct mrvl *m, double live, double pinned);

/* target_kind's hooks. */
bool mrvl_simulate(const struct region *r, struct estimate *out);
struct estimate mrvl_launch(const struct mrvl *m);
bool mrvl_transfer(const struct target *t, const struct format *from,
    const struct format *to, const struct type *type, struct estimate *out);

#endif
