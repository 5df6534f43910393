/* What the first bytes of a compiled region say about it. */
#ifndef TARGETS_MRVL_BINARY_H
#define TARGETS_MRVL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/err.h"

struct mrvl_binary {
	size_t bytes; /* of the file */
	uint32_t code_bytes, data_bytes, input_bytes, output_bytes, nlayers;
	uint32_t first_tile, last_tile, batch, ninputs, noutputs;
	uint64_t wb_first, wb_last; /* of weights in on-chip memory */
	uint64_t scratch_floor; /* scratch lies from here to the end */
};

/* ERR_INPUT saying what is wrong with the bytes. */
bool mrvl_binary_read(
    struct mrvl_binary *out, const void *bytes, size_t n, struct err *err);

/* Bytes of each tile's memory that loading it takes: weights and scratch, in
 * whole pages. */
uint64_t mrvl_binary_occupies(
    const struct mrvl_binary *b, uint64_t tile_bytes, uint64_t page_bytes);

#endif
