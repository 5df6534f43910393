#include "ir/op.h"

#include <assert.h>
#include <string.h>

#define MANY OP_MANY

static const struct op_info info[NOP] = {
    [OP_CUSTOM] = {"?", 0, MANY, 0, MANY, FUSE_OPAQUE},
#define OP(name, type, min_in, max_in, min_out, max_out, kind) \
	[OP_##name] = {type, min_in, max_in, min_out, max_out, FUSE_##kind},
#include "ir/op.def"
#undef OP
};

const struct op_info *
op_get(enum op op)
{
	assert(op < NOP);
	return &info[op];
}

/* op.def is sorted by type in ASCII order, so a binary search finds it. */
enum op
op_find(const char *type, size_t n)
{
	uint32_t low = OP_CUSTOM + 1, high = NOP;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const char *name = info[mid].type;
		int order = strncmp(name, type, n);

		if (order == 0 && name[n] != '\0')
			order = 1;
		if (order == 0)
			return (enum op)mid;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return OP_CUSTOM;
}
