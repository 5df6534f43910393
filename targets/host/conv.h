/* The convolution shared by Conv, ConvInteger and QLinearConv: they differ in
 * what is subtracted before and done to the sums after. */
#ifndef TARGETS_HOST_CONV_H
#define TARGETS_HOST_CONV_H

#include "targets/host/slide.h"

struct conv {
	struct slide window;
	const struct tensor *x, *w, *bias;
	size_t groups;
	struct shape y;
	double x_zero; /* zero point of the input */
	const double *w_zero; /* of each filter, or NULL */
	const struct sink *to;
	/* Take n sums of a filter, whose results belong at `at`. */
	void (*finish)(const struct conv *v, size_t filter, size_t at, size_t n,
	    double *sum);
	const void *ctx; /* of finish */
};

/* Check shapes and read the window. */
bool conv_read(struct conv *v, struct call *c, const struct tensor *x,
    const struct tensor *w, struct err *err);
void conv_apply(struct conv *v, struct arena *scratch);

#endif
