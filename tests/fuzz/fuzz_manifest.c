/* A batch manifest nobody vouches for is refused with words, or names units that
 * are all different. SOURCES: cli/manifest.c cli/units.c */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "cli/manifest.h"
#include "tests/support/infile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct manifest m;
	struct arena a;

	arena_init(&a);
	if (!manifest_read(&m, infile(data, size), &a, &err)) {
		assert(err.kind != ERR_NONE && *err.text);
		assert(!strchr(err.text, '\n'));
	} else {
		assert(m.nunits > 0);
		for (uint32_t i = 1; i < m.nunits && i < 100; i++)
			assert(strcmp(m.unit[i - 1].name, m.unit[i].name));
	}
	arena_release(&a);
	return 0;
}
