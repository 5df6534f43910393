/* marq batch --dry-run: what the units would measure, together. A figure that
 * several units want is measured once. */
#ifndef CLI_BATCH_FORECAST_H
#define CLI_BATCH_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/map.h"

struct batch_forecast {
	struct arena *arena;
	struct map keys; /* figures wanted so far */
	uint32_t units, missing; /* missing: distinct */
	uint64_t ns; /* measuring all of them */
	uint32_t workers;
	uint64_t attempts; /* on record; what the times rest on */
};

/* One unit's. */
struct unit_forecast {
	uint32_t missing, shared; /* shared: an earlier unit wants it too */
	uint64_t ns; /* of those that are not shared */
};

void batch_forecast_init(struct batch_forecast *f, struct arena *a);

/* Add what `marq search --dry-run --format json` wrote into the file. */
bool batch_forecast_add(struct batch_forecast *f, const char *path,
    struct unit_forecast *unit, struct err *err);

#endif
