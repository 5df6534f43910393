/* Marvell's JSON files nobody vouches for: parameters and measured samples. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "targets/mrvl/calibrate.h"
#include "targets/mrvl/params.h"
#include "tests/support/infile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = infile(data, size);
	struct err err = {.kind = ERR_NONE};
	struct board_samples s;
	struct params p;
	struct arena a;

	arena_init(&a);
	params_default(&p);
	if (params_load(&p, path, &a, &err))
		for (uint32_t i = 0; i < NPARAM; i++) {
			const struct param_value *v = &p.param[i];

			assert(isfinite(v->low) && isfinite(v->high));
			assert(v->low <= v->value && v->value <= v->high);
		}
	err_clear(&err);
	(void)samples_load(&s, path, &a, &err);
	arena_release(&a);
	return 0;
}
