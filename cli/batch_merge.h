/* marq batch --phase merge: what the shards measured goes into the database of
 * the batch, and the shards go. */
#ifndef CLI_BATCH_MERGE_H
#define CLI_BATCH_MERGE_H

#include "cli/cli.h"
#include "cli/manifest.h"

/* Shards of different environments only with `mixed`. */
bool batch_merge(
    struct cli *c, const struct manifest *m, bool mixed, struct err *err);

#endif
