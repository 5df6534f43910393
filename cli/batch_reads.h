/* Everything a unit reads, as one hash: when any of it changes, the unit is run
 * again. */
#ifndef CLI_BATCH_READS_H
#define CLI_BATCH_READS_H

#include "cli/manifest.h"
#include "ir/base/hash.h"
#include "ir/base/map.h"

/* Files are hashed once, whatever number of units reads them. */
struct batch_reads {
	struct arena *a;
	struct map index; /* path -> file */
	struct hash128 *file;
	uint32_t n, cap;
	struct hash128 machine; /* hard facts, the program's own build */
};

void batch_reads_init(struct batch_reads *r, struct arena *a);

/* The model, the weights beside it, files, folders and programs its arguments
 * name, the machine and this program. ERR_IO when the model cannot be read. */
bool batch_reads_unit(struct batch_reads *r, const struct unit *u,
    struct hash128 *out, struct err *err);

#endif
