#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MADV_HUGEPAGE */
#include "ir/base/huge_blocks.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/sanitized.h"
#include "ir/base/size.h"

/* TUNING: as in huge_pages.c. */
/* TUNING: what is smaller is left to malloc; blocks lie side by side in stretches, whose last
 * page is the only one that may be in part for nothing. */
#define BLOCK_LEAST ((size_t)128 << 10)
#define STRETCH ((size_t)64 << 20)
#define STRETCHES 256
#define LINE ((size_t)64)

/* Memory that blocks are cut from, one behind the other. */
struct stretch {
	char *at; /* NULL: free */
	size_t bytes, used;
	size_t nblocks; /* not freed */
};

/* Before each block, on a line of its own. */
struct block_head {
	size_t bytes; /* 0: freed */
};

static struct stretch stretch[STRETCHES];
static size_t nstretches; /* those behind were never in use */
static struct stretch *last; /* where there may be room */
static bool given;

void
huge_blocks_give(bool give)
{
	given = give && !SANITIZED;
}

/* What is around them goes back. */
void *
huge_pages_new(size_t bytes)
{
	char *p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if ((void *)p == MAP_FAILED)
		return NULL;
	before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	if (before)
		munmap(p, before);
	munmap(p + before + bytes, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
	(void)madvise(p + before, bytes, MADV_HUGEPAGE);
#endif
	return p + before;
}

static bool
open_stretch(size_t least)
{
	const size_t bytes =
	    least > STRETCH ? size_round_up(least, HUGE_PAGE) : STRETCH;
	char *at;

	for (struct stretch *s = stretch; s < stretch + STRETCHES; s++) {
		if (s->at)
			continue;
		at = huge_pages_new(bytes);
		if (at == NULL)
			return false;
		*s = (struct stretch){.at = at, .bytes = bytes};
		last = s;
		if (s == stretch + nstretches)
			nstretches++;
		return true;
	}
	return false;
}

void *
huge_block_new(size_t bytes)
{
	size_t whole;
	char *at;

	if (!given || bytes < BLOCK_LEAST || bytes > SIZE_MAX / 2)
		return NULL;
	whole = LINE + size_round_up(bytes, LINE);
	if ((!last || last->bytes - last->used < whole) && !open_stretch(whole))
		return NULL;
	at = last->at + last->used;
	last->used += whole;
	last->nblocks++;
	*(struct block_head *)(void *)at = (struct block_head){bytes};
	return at + LINE;
}

bool
huge_blocks_uncut(uint32_t i, uintptr_t *from, uintptr_t *end)
{
	const struct stretch *s = stretch;

	while (s < stretch + nstretches && (!s->at || i-- > 0))
		s++;
	if (s == stretch + nstretches)
		return false;
	*from = size_round_up(
	    (uintptr_t)s->at + s->used, (size_t)sysconf(_SC_PAGESIZE));
	*end = (uintptr_t)s->at + s->bytes;
	return true;
}

static struct stretch *
stretch_of(const char *block)
{
	for (struct stretch *s = stretch; s < stretch + nstretches; s++)
		if (s->at && block >= s->at && block < s->at + s->bytes)
			return s;
	return NULL;
}

/* Its whole pages. */
static void
let_go(char *block, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t skip = (page - (uintptr_t)block % page) % page;

	if (bytes > skip + page)
		(void)madvise(
		    block + skip, (bytes - skip) / page * page, MADV_DONTNEED);
}

bool
huge_block_free(void *block)
{
	struct stretch *s = block ? stretch_of(block) : NULL;
	struct block_head *head;

	if (!s)
		return false;
	head = (struct block_head *)(void *)((char *)block - LINE);
	assert(head->bytes > 0 && s->nblocks > 0);
	let_go(block, head->bytes);
	head->bytes = 0;
	if (--s->nblocks > 0)
		return true;
	munmap(s->at, s->bytes);
	*s = (struct stretch){.at = NULL};
	if (last == s)
		last = NULL;
	return true;
}
