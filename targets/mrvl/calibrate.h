/* Fitting the cost simulator's parameters to a user's measurements. */
#ifndef TARGETS_MRVL_CALIBRATE_H
#define TARGETS_MRVL_CALIBRATE_H

#include "ir/base/err.h"
#include "ir/base/notes.h"
#include "targets/mrvl/cost.h"

/* One measured figure. */
enum sample_kind {
	SAMPLE_LAYER, /* hardware latency of a region of one layer: DMA in,
		       * layer, DMA out */
	SAMPLE_JOB, /* firmware latency of a region */
	SAMPLE_QUANTIZE, /* CPU time of converting `elements` one way */
};

struct tool_sample {
	enum sample_kind kind;
	struct mrvl_work work;
	uint32_t tiles;
	bool int8, pinned;
	double elements;
	double ns; /* measured; > 0 */
};

struct board_samples {
	const char *board; /* board, SDK and date, as the file says */
	struct tool_sample *sample;
	uint32_t n, cap;
};

/* What the simulator says a sample takes. */
double sample_ns(const struct tool_sample *s, const struct setting *p);

/* Read a file of measurements (schema: README.md). ERR_INPUT naming the
 * sample. */
bool samples_load(struct board_samples *s, const char *path, struct arena *a,
    struct err *err);

struct fit {
	struct params params; /* fitted ones are CALIBRATED */
	struct setting at; /* of the best fit, what is unsure included */
	double before, after; /* root mean square of log(simulated/measured) */
	bool moved[NPARAM]; /* identified: the samples determine it */
	/* two sigma of a parameter, relative (0.1: within 10 %); infinite where
	 * no sample depends on it. Above FIT_SURE it is not identified. */
	double spread[NPARAM];
	/* samples of one type only: of int8_tops and fp16_ratio just the product
	 * is determined */
	bool one_type;
};

#define FIT_SURE 0.1

/* Least squares over the logarithms of the parameters, starting from `from`.
 * What the samples do not determine within FIT_SURE stays as it was. low and high
 * become the two-sigma interval. ERR_INPUT when there is nothing to fit. */
bool calibrate(struct fit *out, const struct board_samples *s,
    const struct params *from, struct arena *a, struct err *err);

#endif
