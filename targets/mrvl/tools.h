/* Marvell's own compiler and simulator, where they are installed: is a region
 * feasible, what does its binary say, what does it compute, how long does it
 * take. */
#ifndef TARGETS_MRVL_TOOLS_H
#define TARGETS_MRVL_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/mrvl/binary.h"
#include "targets/mrvl/layer.h"
#include "targets/mrvl/templates.h"
#include "targets/target.h"

enum tool_outcome {
	TOOL_OK,
	TOOL_MISSING, /* not installed: says nothing about the region */
	TOOL_FAILED, /* the region is not feasible */
	TOOL_CRASHED, /* it died of a signal */
	TOOL_TIMEOUT,
	TOOL_GARBAGE, /* it ended well and left nothing usable */
};

struct tool_result {
	enum tool_outcome outcome;
	const char *detail; /* words for anything but OK */
	const char *folder; /* kept for looking into, or NULL */
	struct mrvl_binary binary;
	double latency; /* the figure found; 0: none was looked for */
};

/* A compiled region, in a folder of its own. */
struct tool_session;

struct tool_job {
	const struct mrvl_tools *tools;
	const struct target *target;
	const struct layers *layers;
};

/* Compile a region. What the tools do is a result; ERR_IO is for faults on
 * this side. Close it whatever the result. */
bool tool_session_open(struct tool_session **s, struct tool_result *result,
    const struct tool_job *job, struct arena *a, struct err *err);

/* Simulate what was compiled: in[k] (float32, as long as the region's input k)
 * to out[k] (room for output k). */
bool tool_session_run(struct tool_session *s, struct tool_result *result,
    const float *const *in, float *const *out, struct err *err);

void tool_session_close(struct tool_session *s, struct tool_result *result);

#endif
