/* Everything that is written out, each artefact one function and one row of
 * emit/artefacts.def. */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include <stdbool.h>

#include "emit/input.h"
#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/file.h"

/* ERR_USAGE when `only` names what is no artefact and no group of them. */
bool emit_check(const char *only, struct err *err);

/* Write all artefacts (or those named in `only`, comma-separated; NULL: all but
 * extras)
 * into an out_begin() directory; result.json last. */
bool emit_all(const struct emit_in *in, const struct outdir *o,
    const char *only, struct arena *a, struct err *err);

#endif
