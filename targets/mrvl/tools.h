/* Marvell's own compiler and simulator, where they are installed: is a region
 * feasible, what does its binary say, what does it compute. */
#ifndef TARGETS_MRVL_TOOLS_H
#define TARGETS_MRVL_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/mrvl/layer.h"
#include "targets/target.h"

/* Command templates: {symbol} {nodes} {consts} {opts} {batch} {bin} {in} {out}.
 * Paths are put in quoted for a shell. */
struct mrvl_tools {
	const char *compiler; /* NULL: mrvl-tmlc as upstream calls it */
	const char *simulator; /* NULL: mrvl-mlsim as upstream calls it */
	const char *work; /* folder for private work folders; NULL: /tmp */
	uint32_t timeout_ms; /* 0: a minute */
};

enum tool_outcome {
	TOOL_OK,
	TOOL_MISSING, /* not installed: says nothing about the region */
	TOOL_FAILED, /* the region is not feasible */
	TOOL_TIMEOUT,
	TOOL_GARBAGE, /* it ended well and left nothing usable */
};

/* What a binary's first bytes say. */
struct mrvl_binary {
	size_t bytes; /* of the file */
	uint32_t code_bytes, data_bytes, input_bytes, output_bytes, nlayers;
	uint32_t first_tile, last_tile, batch, ninputs, noutputs;
	uint64_t wb_first, wb_last; /* of weights in on-chip memory */
	uint64_t scratch_floor; /* scratch lies from here to the end */
};

struct tool_result {
	enum tool_outcome outcome;
	const char *detail; /* words for anything but OK */
	const char *folder; /* kept for looking into, unless OK */
	struct mrvl_binary binary;
};

/* ERR_INPUT saying what is wrong with the bytes. */
bool mrvl_binary_read(
    struct mrvl_binary *out, const void *bytes, size_t n, struct err *err);

/* Compile a region; with job->in (float32, each as long as the region's input) it
 * is also simulated, and job->out (room for each output) filled. What the tools do
 * is a result; ERR_IO is for faults on this side. */
struct tool_job {
	const struct target *target;
	const struct layers *layers;
	const float *const *in; /* NULL: only compile */
	float *const *out;
};
bool mrvl_tools_run(struct tool_result *result, const struct mrvl_tools *t,
    const struct tool_job *job, struct arena *a, struct err *err);

#endif
