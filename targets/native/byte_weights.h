/* Constant weights of bytes, as the model has them. */
#ifndef TARGETS_NATIVE_BYTE_WEIGHTS_H
#define TARGETS_NATIVE_BYTE_WEIGHTS_H

#include "targets/target.h"

/* What lies where. The depth is [taps][channels] to
 * the kernel, and [channels][taps] to the model. */
struct codes_at {
	const struct tensor *codes;
	const int32_t *zero; /* [outputs] */
	size_t output; /* from an output's code to the next's */
	size_t step; /* along the depth */
	size_t taps; /* of a window; else 1 */
};

#endif
