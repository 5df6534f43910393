/* Regions through Marvell's own tools: their price, and running them. */
#ifndef TARGETS_MRVL_ASK_H
#define TARGETS_MRVL_ASK_H

#include "targets/mrvl/tools.h"
#include "targets/target.h"

/* target_kind.ask: compile it, simulate it where there is a simulator. */
bool mrvl_ask(const struct region *r, const void *const *in, void *const *out,
    struct sample *answer);

/* target_tool.compile: where there is a simulator, it runs the region.
 * ERR_TARGET saying what the tools did. */
bool mrvl_compile_region(const struct region *r, struct arena *a,
    struct kernel *out, struct err *err);

/* What prices depend on: commands and the files behind them. */
void mrvl_tools_facts(struct buf *b, const struct mrvl_tools *t);

#endif
