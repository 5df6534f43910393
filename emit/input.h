/* What artefacts are made from. */
#ifndef EMIT_INPUT_H
#define EMIT_INPUT_H

#include "costmodel/pricer.h"
#include "ir/onnx_read.h"
#include "plan/accuracy.h"
#include "plan/confirmation.h"
#include "plan/constraints.h"
#include "plan/opportunities.h"
#include "plan/plan.h"
#include "plan/sensitivity.h"

struct emit_in {
	const struct model *model;
	const struct plan *plan;
	struct pricer_counts counts;
	const struct constraints *constraints; /* NULL: none were asked for */
	const struct plan_accuracy *accuracy; /* NULL: no scales of 8 bits */
	const struct plan_confirmation
	    *confirmation; /* NULL: not looked into */
	const struct sensitivity *sensitivity; /* NULL: not looked into */
	const struct opportunities *opportunities; /* NULL: not looked into */
	struct notes *notes; /* what is left out; NULL: that is an error */
	struct pricer *pricer; /* its database remembers; NULL: nothing does */
	const struct hash128 *content; /* model_hash(); NULL: not known */
	const char *command; /* the command line, for the record */
	uint32_t threads; /* of a kernel; 0: one */
};

#endif
