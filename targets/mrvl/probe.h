/* Probes: regions of one layer, to be compiled and timed on a board. A probe's
 * name says what it is ("conv_h28w28c64o64k3g1_t8_fp16_pin"), so that what the
 * board prints about a model needs no file beside it. */
#ifndef TARGETS_MRVL_PROBE_H
#define TARGETS_MRVL_PROBE_H

#include "targets/mrvl/calibrate.h"

enum probe_op { PROBE_CONV, PROBE_FC, PROBE_POOL, NPROBE_OP };

struct probe {
	enum probe_op op;
	int64_t h, w; /* of the output */
	int64_t c, o, kernel, groups;
	uint32_t tiles;
	bool int8, pinned;
};

/* The probes of a calibration: convolutions, depthwise ones, dense layers and
 * copies at several sizes. */
const struct probe *probes(uint32_t *n, struct arena *a);

const char *probe_name(const struct probe *p, struct arena *a);

/* The probe of that name; false when it is none. */
bool probe_read(struct probe *out, const char *name, size_t n);

/* What a probe's hardware latency is a sample of; ns is not set. */
struct tool_sample probe_sample(const struct probe *p);

/* Write what Marvell's compiler takes: nodes and constants (all 0.01). */
void probe_write_nodes(FILE *f, const struct probe *p, struct arena *a);
void probe_write_consts(FILE *f, const struct probe *p, struct arena *a);

/* The compiler's command line for it, files beside it. */
const char *probe_command(const struct probe *p, struct arena *a);

/* Read what `dpdk-test-mldev --stats` printed: average latencies of hardware
 * and firmware by model. Models that are no probes are counted in *others.
 * ERR_INPUT naming the line. */
bool probes_stats(struct board_samples *s, uint32_t *others, const char *path,
    struct arena *a, struct err *err);

#endif
