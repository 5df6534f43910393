/* What a batch remembers of a unit, from a file that anything may have happened
 * to: it has not ended, or what it says can be used. SOURCES: cli/batch_state.c
 * cli/batch_reads.c */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "cli/batch_state.h"
#include "tests/support/infile.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct manifest m = {.out = scratch_folder()};
	const struct unit u = {.name = "unit"};
	struct unit_status s = {.fingerprint = "0123456789abcdef"};
	struct err err = {.kind = ERR_NONE};
	struct arena a;

	infolder_put("unit.status.json", data, size);
	arena_init(&a);
	unit_status_read(&s, &m, &u, &a);
	assert(s.error && s.baseline && s.confirmation);
	assert(!s.ended || s.exit != 0); /* there is no result */
	memset(&s, 0, sizeof s);
	(void)unit_status_parse(&s, infile(data, size), &a, &err);
	assert(s.error && s.baseline);
	arena_release(&a);
	return 0;
}
