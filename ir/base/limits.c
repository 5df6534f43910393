#include "ir/base/limits.h"

#include <assert.h>
#include <inttypes.h>

static const struct {
	uint64_t most;
	const char *unit;
} list[NLIMIT] = {
#define LIMIT(id, most, unit, what) [LIMIT_##id] = {most, unit},
#include "ir/base/limits.def"
#undef LIMIT
};

uint64_t
limit_of(enum limit_id id)
{
	assert(id < NLIMIT);
	return list[id].most;
}

bool
limit_exceeded(enum limit_id id, const char *name, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: more than %" PRIu64 " %s", name,
	    limit_of(id), list[id].unit);
}
