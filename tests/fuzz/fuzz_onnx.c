/* Models nobody vouches for, as bytes. */
#include "tests/fuzz/taken.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return take_model(data, size);
}
