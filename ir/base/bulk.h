/* A file made of pieces that lie in memory, or in files that are mapped. Where the
 * file system takes large pieces from where they lie, the processor copies none. */
#ifndef IR_BASE_BULK_H
#define IR_BASE_BULK_H

#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/file.h"

/* A piece that begins as far into a block of the file as it does in memory need
 * not be copied. */
#define BULK_BLOCK ((size_t)4096)

struct bulk_piece {
	const unsigned char *data; /* [n], until the file is written */
	size_t n;
};

struct bulk {
	/* What pieces may lie in, and that file: where files can share blocks they
	 * do. -1: none. */
	struct mapped_file source;
	int source_fd;
	struct bulk_piece *piece;
	uint32_t n, cap;
	uint64_t bytes; /* of all */
	struct arena *arena;
};

void bulk_init(struct bulk *b, struct arena *a);
void bulk_add(struct bulk *b, const void *data, size_t n);

/* The SHA-256 of all, as 64 hex digits and a NUL. */
void bulk_sum(const struct bulk *b, char sum[65]);

/* Write the file, of which that is the sum: it is not read again for a list of
 * files. */
bool bulk_write(const struct bulk *b, const struct outdir *o, const char *name,
    const char sum[65], struct err *err);

#endif
