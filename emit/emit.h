/* Everything that is written out, each artefact one function and one row of
 * emit/artefacts.def. */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/file.h"
#include "ir/onnx_read.h"
#include "plan/constraints.h"
#include "plan/plan.h"
#include "plan/sensitivity.h"
#include "costmodel/pricer.h"

/* What artefacts are made from. */
struct emit_in {
	const struct model *model;
	const struct plan *plan;
	struct pricer_counts counts;
	const struct constraints *constraints; /* NULL: none were asked for */
	const struct sensitivity *sensitivity; /* NULL: not looked into */
	const char *command; /* the command line, for the record */
};

/* ERR_USAGE when `only` names what is no artefact and no group of them. */
bool emit_check(const char *only, struct err *err);

/* Write all artefacts (or those named in `only`, comma-separated; NULL: all)
 * into an out_begin() directory; result.json last. */
bool emit_all(const struct emit_in *in, const struct outdir *o,
    const char *only, struct arena *a, struct err *err);

#endif
