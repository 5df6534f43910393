#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
join(const char *folder, const char *name)
{
	static char path[4][4096];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

const char *
shared_path(const char *name)
{
	const char *root = getenv("MARQ_SHARED"), *path;

	path = join(root ? root : "../shared", name);
	return access(path, R_OK) == 0 ? path : NULL;
}

const char *
source_path(const char *name)
{
	const char *root = getenv("MARQ_SOURCE");

	return join(root ? root : ".", name);
}

uint64_t
cases_of(uint64_t whole)
{
	const char *share = getenv("MARQ_TEST_SHARE");
	uint64_t percent = share ? strtoull(share, NULL, 10) : 100, n;

	n = whole * (percent < 100 ? percent : 100) / 100;
	return n ? n : 1;
}

struct rng
rng_seeded(uint64_t seed)
{
	return (struct rng){seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du};
}

uint64_t
rng_next(struct rng *r)
{
	uint64_t x = r->state ? r->state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * 0x2545f4914f6cdd1du;
}

uint32_t
rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

FILE *
trace_wanted(void)
{
	const char *what = getenv("MARQ_TRACE");

	return what && strcmp(what, "plan") == 0 ? stdout : NULL;
}
