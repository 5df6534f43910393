#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "ir/base/common_scratch.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "ir/base/huge_blocks.h"
#include "ir/base/sanitized.h"
#include "ir/base/size.h"

/* TUNING: addresses, of which those that are asked for become memory. */
#define MOST ((size_t)256 << 20)

static char *begin; /* NULL: none is shared */
static size_t asked;

void
common_scratch_begin(void)
{
	assert(!begin);
	asked = 0;
	begin = SANITIZED ? NULL : huge_pages_new(MOST);
}

struct common_scratch
common_scratch_end(void)
{
	struct common_scratch s = {begin, size_round_up(asked, HUGE_PAGE)};

	if (begin && s.bytes < MOST)
		munmap(begin + s.bytes, MOST - s.bytes);
	begin = NULL;
	return s.bytes ? s : (struct common_scratch){.at = NULL};
}

void *
common_scratch_new(size_t bytes)
{
	if (!begin || bytes > MOST)
		return NULL;
	if (bytes > asked)
		asked = bytes;
	return begin;
}

void *
common_scratch_or(size_t bytes, struct arena *a)
{
	void *common = common_scratch_new(bytes);

	return common ? common : arena_alloc(a, bytes);
}

void
common_scratch_free(struct common_scratch *s)
{
	if (s->at)
		munmap(s->at, s->bytes);
	*s = (struct common_scratch){.at = NULL};
}
