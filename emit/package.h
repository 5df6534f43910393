/* A plan as a toolchain's package is given it. */
#ifndef EMIT_PACKAGE_H
#define EMIT_PACKAGE_H

#include "emit/work.h"
#include "targets/toolchain.h"

/* The steps of the plan for a kind; false: none of its regions is in it. */
bool emit_package_plan(struct toolchain_plan *out, const struct emit_work *w,
    const struct target_kind *kind);

#endif
