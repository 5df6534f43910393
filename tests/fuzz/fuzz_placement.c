/* Device-placement files. */
#include "search/placement.h"
#include "tests/fuzz/solved.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return solve_parsed(placement_parse, data, size);
}
