/* mod.json and mod.params of a package, from wherever they came: the text up to
 * the first NUL, and what is behind it. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "targets/mrvl/device.h"
#include "targets/mrvl/device_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size;
	size_t from = nul ? n + 1 : n;
	struct err err = {.kind = ERR_NONE};
	struct device_facts facts;

	if (!device_check(&facts, (const char *)data, n, data + from,
	        size - from, &err)) {
		assert(err.kind == ERR_INPUT);
		return 0;
	}
	assert(facts.nfunctions > 0 && facts.nfunctions <= DEVICE_LAYERS);
	assert(facts.noutputs > 0 && facts.noutputs <= DEVICE_IO);
	assert(
	    facts.ninputs <= DEVICE_IO && facts.nregions <= facts.nfunctions);
	assert(facts.param_bytes <= facts.pool_bytes);
	return 0;
}
