/* What parts of a plan took when it was run: of what `marq run --format=json`
 * printed. */
#ifndef CLI_RUN_TIMES_H
#define CLI_RUN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

struct cJSON;

struct run_times {
	const double *composite; /* ns, by id; as priced where it does not run
	                          * here */
	uint32_t nsimulated; /* of those */
	double conversions, total; /* ns; the total has what is between, too */
};

/* The times of `path`, as far as it is a run of the n composites of a result's
 * plan; ERR_INPUT naming what is another one otherwise. */
bool run_times_read(struct run_times *out, const char *path,
    const struct cJSON *const *composite, uint32_t n,
    const struct cJSON *targets, struct arena *a, struct err *err);

#endif
