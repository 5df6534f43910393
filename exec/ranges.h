/* Calibration for 8 bits: one pass of the float reference over samples tells how
 * every value is spread, and a rule makes scales of that. */
#ifndef EXEC_RANGES_H
#define EXEC_RANGES_H

#include "exec/histogram.h"
#include "exec/samples.h"
#include "ir/infer.h"
#include "targets/quant.h"

enum range_method { RANGES_MINMAX, RANGES_PERCENTILE, RANGES_MSE };

struct range_rule {
	enum range_method method;
	double percentile;
};

/* "minmax", "percentile:P" with P above 50 and at most 100, "mse"; false: none of
 * them. */
bool range_rule_read(struct range_rule *r, const char *text);

struct ranges {
	uint32_t nsamples;
	struct histogram **seen; /* [nvalues] of floats; NULL: none were seen */
	double *low, *high; /* [nvalues] of those: what 8 bits cover */
	struct quant *quant; /* [nvalues]; the model's own come first */
};

/* Values are kept of one sample at a time. No samples: the model's own only. */
bool ranges_find(struct ranges *out, const struct graph *g,
    const struct samples *s, const struct range_rule *rule, node_eval eval,
    struct arena *a, struct err *err);

#endif
