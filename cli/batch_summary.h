/* The summary over all units of a batch: which mix wins where, what failed,
 * what regressed since the last complete run. */
#ifndef CLI_BATCH_SUMMARY_H
#define CLI_BATCH_SUMMARY_H

#include "cli/batch_state.h"

/* Write summary.json and summary.md into the manifest's out folder. `before`
 * is the summary.json of the last complete run, or a path that does not exist.
 * *regressed counts units more than 3 % costlier than there. */
bool batch_summary_write(const struct manifest *m,
    const struct unit_status *status, const char *before, uint32_t *regressed,
    struct arena *a, struct err *err);

#endif
