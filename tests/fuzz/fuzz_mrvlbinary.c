/* The first bytes of a compiled region, from a compiler nobody vouches for. */
#include <assert.h>
#include <stdint.h>

#include "targets/mrvl/binary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct mrvl_binary b;

	if (!mrvl_binary_read(&b, data, size, &err)) {
		assert(err.kind == ERR_INPUT);
		return 0;
	}
	assert(b.bytes == size && b.first_tile <= b.last_tile);
	/* a page of weights at least wherever there are any, never none */
	if (b.wb_last > b.wb_first)
		assert(mrvl_binary_occupies(&b, 1 << 20, 1 << 14)
		        > b.wb_last - b.wb_first
		    || mrvl_binary_occupies(&b, 1 << 20, 1 << 14)
		        == UINT64_MAX);
	return 0;
}
