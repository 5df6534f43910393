/* A list of a result's files that nobody vouches for: what verifies is the file
 * that is there. */
#include <assert.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/listing.h"
#include "tests/support/infile.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	uint32_t n;

	infolder_put("result.json", (const uint8_t *)"{}\n", 3);
	infolder_put(LISTING_NAME, data, size);
	arena_init(&a);
	if (listing_verify(scratch_folder(), &n, &a, &err))
		assert(n == 1);
	else
		assert(err.kind != ERR_NONE);
	arena_release(&a);
	return 0;
}
