/* Before measuring: what has no price yet, and how long the database's own
 * record says measuring it takes. */
#ifndef COSTMODEL_FORECAST_H
#define COSTMODEL_FORECAST_H

#include "costmodel/pricer.h"
#include "ir/base/hash.h"

struct unpriced {
	struct hash128 key; /* of its bytes and hard facts: the same wherever
			     * the same figure is wanted */
	uint64_t span_ns; /* what such an attempt took on average; 0: nothing
			   * is on record */
};

struct forecast {
	uint32_t n;
	struct unpriced *item; /* [n] distinct candidates and conversions */
	uint32_t workers; /* processes that would measure */
	uint64_t attempts; /* on record, which the spans rest on */
};

/* After pricer_begin(). Everything counts that may be measured; a search that
 * prices lazily asks for less. */
bool pricer_forecast(const struct pricer *p, struct forecast *out,
    struct arena *a, struct err *err);

/* Sum of the spans over the workers; 0 when nothing is on record. */
uint64_t forecast_ns(const struct forecast *f);

#endif
