#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "ir/base/arena.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/base/huge_blocks.h"
#include "ir/base/memory.h"
#include "ir/base/sanitized.h"
#include "ir/base/size.h"

#define ALIGN ((size_t)64)
/* TUNING: first block of an arena; doubling from here keeps small arenas small
 * and large ones at a handful of blocks. */
#define FIRST_BLOCK ((size_t)1 << 16)
#define LARGEST_STEP ((size_t)1 << 26)

/* TUNING: blocks from here on are the system's own, and go back to it when they
 * are freed. malloc moves its threshold for that up to the largest block that
 * was freed, and keeps twice as much: a search that may use 8 MiB took 15. */
#define OWN_PAGES ((size_t)1 << 20)

/* TUNING: blocks from here on are in huge pages: coming into memory in small ones took
 * a sixth of ResNet-18's first tuning. They begin where such a page does, or the first
 * would be of small ones. No block is half of one. */
#define HUGE_FROM HUGE_PAGE
/* A multiple of all systems' pages. */
#define WHOLE_PAGES ((size_t)64 << 10)

struct arena_block {
	struct arena_block *below;
	size_t size, used; /* of bytes[], which starts ALIGN after the block */
	size_t pages; /* bytes of the mapping that this is; 0: of malloc */
};

static_assert(sizeof(struct arena_block) <= ALIGN, "bytes[] is behind it");

/* Small things sit close together: below 16 bytes those of a type that wants
 * such an alignment have a size that is a multiple of it. Anything a SIMD kernel
 * could be given starts on a cache line. */
static size_t
align_of(size_t bytes)
{
	if (bytes < 16)
		return bytes & -bytes;
	return bytes < 256 ? 16 : ALIGN;
}

static unsigned char *
block_bytes(struct arena_block *block)
{
	return (unsigned char *)block + ALIGN;
}

/* One free block of each of the sizes that small arenas have: a search makes and
 * releases hundreds of such arenas, and malloc gives what lies at its end back to
 * the system each time, which costs two calls and a fault a page. */
#define NSPARE 4
static _Atomic(struct arena_block *) spare[NSPARE];

/* Where one of that size is kept; NULL: it is not. */
static _Atomic(struct arena_block *) *
spare_of(size_t size)
{
	for (size_t i = 0; i < NSPARE && !SANITIZED; i++)
		if (size == FIRST_BLOCK << i)
			return &spare[i];
	return NULL;
}

static struct arena_block *
block_new(size_t whole)
{
	const size_t pages = whole < OWN_PAGES || SANITIZED
	    ? 0
	    : size_round_up(whole, WHOLE_PAGES);
	_Atomic(struct arena_block *) *kept = spare_of(whole - ALIGN);
	struct arena_block *block = kept ? atomic_exchange(kept, NULL) : NULL;

	if (block) {
		*block = (struct arena_block){.pages = 0};
		return block;
	}
	if (pages >= HUGE_FROM)
		block = huge_pages_new(pages);
	else if (pages)
		block = mmap(NULL, pages, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		block = aligned_alloc(ALIGN, size_round_up(whole, ALIGN));
	if (!block || block == MAP_FAILED)
		return NULL;
	*block = (struct arena_block){.pages = pages};
	return block;
}

static void
block_free(struct arena_block *block)
{
	_Atomic(struct arena_block *) *kept = spare_of(block->size);

	if (block->pages)
		munmap(block, block->pages);
	else
		free(kept ? atomic_exchange(kept, block) : block);
}

static void
push_block(struct arena *a, size_t bytes)
{
	size_t size = a->top ? 2 * a->top->size : FIRST_BLOCK, whole;
	struct arena_block *block;

	if (size > LARGEST_STEP)
		size = LARGEST_STEP;
	if (size == HUGE_FROM / 2)
		size = HUGE_FROM;
	if (size < bytes)
		size = bytes;
	if (!size_add(size, ALIGN, &whole))
		memory_exhausted(bytes);
	block = block_new(whole);
	if (!block)
		memory_exhausted(bytes);
	block->below = a->top;
	block->size = size;
	a->top = block;
}

void
arena_init(struct arena *a)
{
	*a = (struct arena){.top = NULL};
}

void
arena_release(struct arena *a)
{
	arena_back(a, (struct arena_mark){.top = NULL});
}

bool
arena_mapping(
    const struct arena *a, uint32_t i, uintptr_t *from, uintptr_t *end)
{
	const struct arena_block *b = a->top;

	while (b && (b->pages == 0 || i-- > 0))
		b = b->below;
	if (!b)
		return false;
	*from = (uintptr_t)b;
	*end = *from + b->pages;
	return true;
}

/* Bytes that hold anything. */
static void *
take(struct arena *a, size_t bytes)
{
	size_t want, at;
	void *p;

	if (bytes > SIZE_MAX / 2)
		memory_exhausted(bytes);
	want = bytes ? bytes : 1;
	a->bytes += want;
	if (a->limit && a->bytes > a->limit)
		memory_exhausted(bytes);
	at = a->top ? size_round_up(a->top->used, align_of(want)) : 0;
	if (!a->top || at > a->top->size || a->top->size - at < want) {
		push_block(a, want);
		at = 0;
	}
	p = block_bytes(a->top) + at;
	a->top->used = at + want;
	return p;
}

void *
arena_alloc(struct arena *a, size_t bytes)
{
	return memset(take(a, bytes), 0, bytes ? bytes : 1);
}

void *
arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (!size_mul(n, size, &bytes))
		memory_exhausted(SIZE_MAX);
	return arena_alloc(a, bytes);
}

/* TUNING: what is dropped goes back to the system from here on, and only whole
 * pages of it: a call for a few would take longer than they are worth. */
#define DROPPED ((size_t)1 << 18)
#define PAGE ((size_t)4096)

static bool
owns(const struct arena *a, const unsigned char *bytes, size_t n)
{
	for (struct arena_block *b = a->top; b; b = b->below)
		if (bytes >= block_bytes(b)
		    && bytes + n <= block_bytes(b) + b->used)
			return true;
	return false;
}

void
arena_drop(struct arena *a, void *bytes, size_t n)
{
	uintptr_t from = size_round_up((uintptr_t)bytes, PAGE);
	uintptr_t to = ((uintptr_t)bytes + n) & ~(PAGE - 1);

	if (n >= DROPPED && from < to && owns(a, bytes, n))
		madvise((void *)from, to - from, MADV_DONTNEED);
}

void *
arena_grow(
    struct arena *a, void *items, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t room = *cap ? *cap : 8;
	size_t bytes, used = 0;
	unsigned char *larger;

	if (items && need <= *cap)
		return items;
	while (room < need)
		room = room > UINT32_MAX / 2 ? UINT32_MAX : 2 * room;
	if (!size_mul(room, size, &bytes))
		memory_exhausted(SIZE_MAX);
	if (items)
		used = *cap * size;
	larger = take(a, bytes);
	if (used) {
		memcpy(larger, items, used);
		arena_drop(a, items, used);
	}
	memset(larger + used, 0, bytes - used);
	*cap = room;
	return larger;
}

void *
arena_copy(struct arena *a, const void *bytes, size_t n)
{
	void *p = take(a, n);

	if (n)
		memcpy(p, bytes, n);
	return p;
}

char *
arena_strn(struct arena *a, const char *s, size_t n)
{
	char *copy = take(a, n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *
arena_str(struct arena *a, const char *s)
{
	return arena_strn(a, s, strlen(s));
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	char most[256]; /* texts are short: they are printed once */
	va_list ap, again;
	int n;
	char *s;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(most, sizeof most, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	s = arena_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof most)
		memcpy(s, most, (size_t)n + 1);
	else
		vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

struct arena_mark
arena_mark(const struct arena *a)
{
	return (struct arena_mark){
	    .top = a->top,
	    .used = a->top ? a->top->used : 0,
	    .bytes = a->bytes,
	};
}

void
arena_back(struct arena *a, struct arena_mark mark)
{
	while (a->top != mark.top) {
		struct arena_block *below = a->top->below;

		block_free(a->top);
		a->top = below;
	}
	if (a->top)
		a->top->used = mark.used;
	a->bytes = mark.bytes;
}
