#include "ir/op.h"

#include <assert.h>
#include <string.h>

#define MANY OP_MANY

static const struct op_info info[NOP] = {
    [OP_CUSTOM] = {"?", 0, MANY, 0, MANY, FUSE_OPAQUE},
#define OP(name, type, min_in, max_in, min_out, max_out, kind) \
	[OP_##name] = {type, min_in, max_in, min_out, max_out, FUSE_##kind},
#define ML_OP OP
#define MS_OP OP
#include "ir/schema.def"
};

/* The default domain's operators come first, then those of ai.onnx.ml. */
enum {
#define OP(name, type, min_in, max_in, min_out, max_out, kind) DEFAULT_##name,
#include "ir/schema.def"
	NDEFAULT
};
enum {
#define ML_OP(name, type, min_in, max_in, min_out, max_out, kind) ML_##name,
#include "ir/schema.def"
	NML
};
#define FIRST_ML (OP_CUSTOM + 1 + NDEFAULT)
#define FIRST_MS (FIRST_ML + NML)

const struct op_info *
op_get(enum op op)
{
	assert(op < NOP);
	return &info[op];
}

/* The lists are sorted by type in ASCII order: a binary search finds it. */
static enum op
find(uint32_t low, uint32_t high, const char *type, size_t n)
{
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

enum op
op_find(const char *type, size_t n)
{
	return find(OP_CUSTOM + 1, FIRST_ML, type, n);
}

enum op
op_find_in(const char *domain, const char *type)
{
	if (!domain[0])
		return op_find(type, strlen(type));
	if (strcmp(domain, "ai.onnx.ml") == 0)
		return find(FIRST_ML, FIRST_MS, type, strlen(type));
	if (strcmp(domain, "com.microsoft") == 0)
		return find(FIRST_MS, NOP, type, strlen(type));
	return OP_CUSTOM;
}
