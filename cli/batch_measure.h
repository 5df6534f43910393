/* marq batch --phase measure: what the units want measured and is a shard's,
 * into a database of the shard's own. */
#ifndef CLI_BATCH_MEASURE_H
#define CLI_BATCH_MEASURE_H

#include "cli/batch_progress.h"
#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/shard.h"

struct batch_measure {
	struct cli *cli;
	const struct manifest *manifest;
	const struct shard *shard; /* n 0: all of it */
	const char *only; /* units whose name contains this, or NULL */
	const char
	    *local; /* a folder of this machine's own, where OUT is not */
	struct batch_progress *progress;
};

bool batch_measure(const struct batch_measure *b, struct err *err);

#endif
