/* What memory was made meanwhile. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/own_pages.h"
#include "ir/base/huge_blocks.h"
#include "ir/base/sanitized.h"

#define BYTES ((size_t)1 << 20)
#define MANY 16
#define SMALL ((size_t)100 << 10) /* of the heap, not a mapping of its own */

static size_t page;

static unsigned char *
map(void)
{
	unsigned char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	/* or what is beside a byte that is written comes into memory with it */
	madvise(at, BYTES, MADV_NOHUGEPAGE);
	return at;
}

/* How many bytes of these are among the pieces. */
static size_t
found_of(const struct own_pages *p, const void *at, size_t bytes)
{
	const uintptr_t from = (uintptr_t)at, end = from + bytes;
	size_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const uintptr_t a = (uintptr_t)p->piece[i].at;
		const uintptr_t b = a + p->piece[i].bytes;
		const uintptr_t low = a > from ? a : from;
		const uintptr_t high = b < end ? b : end;

		if (low < high)
			sum += high - low;
	}
	return sum;
}

static void
what_is_written_meanwhile_is_found(void **state)
{
	unsigned char *before = map(), *half = map(), *made;
	struct own_pages p;

	(void)state;
	memset(before, 1, BYTES);
	memset(half, 1, BYTES / 2);
	own_pages_init(&p);
	own_pages_begin(&p);
	made = map();
	memset(made, 1, BYTES / 2); /* and half of it never used */
	memset(half, 2, BYTES * 3 / 4);
	before[0] = 2;
	own_pages_end(&p);
	if (SANITIZED) {
		assert_false(p.found);
		skip();
	}
	assert_true(p.found);
	assert_int_equal(found_of(&p, made, BYTES), BYTES / 2);
	assert_int_equal(found_of(&p, half, BYTES / 2), 0);
	assert_int_equal(found_of(&p, half, BYTES), BYTES / 4);
	assert_int_equal(found_of(&p, before, BYTES), 0);
	own_pages_release(&p);
	munmap(before, BYTES);
	munmap(half, BYTES);
	munmap(made, BYTES);
}

/* Of huge pages what is used, whole pages of the system, and nothing behind it. */
static void
large_blocks_are_found_as_they_are(void **state)
{
	struct own_pages p;
	unsigned char *block;

	(void)state;
	if (SANITIZED)
		skip();
	own_pages_init(&p);
	own_pages_begin(&p);
	huge_blocks_give(true);
	block = huge_block_new(BYTES / 2);
	huge_blocks_give(false);
	assert_non_null(block);
	memset(block, 1, BYTES / 2);
	own_pages_end(&p);
	assert_true(p.found);
	assert_int_equal(found_of(&p, block, BYTES / 2), BYTES / 2);
	assert_in_range(
	    found_of(&p, block, 4 * BYTES), BYTES / 2, BYTES / 2 + page);
	own_pages_release(&p);
	assert_true(huge_block_free(block));
}

static void
take(unsigned char *block[MANY])
{
	for (int i = 0; i < MANY; i++) {
		block[i] = malloc(SMALL);
		assert_non_null(block[i]);
		memset(block[i], i, SMALL);
	}
}

static void
give(unsigned char *block[MANY])
{
	for (int i = 0; i < MANY; i++)
		free(block[i]);
}

/* Does free memory go back to the system when that is asked for? A processor that is
 * played (qemu's of 2022) keeps it. */
static bool
gives_back(void)
{
	unsigned char *block[MANY], resident = 0;
	union {
		unsigned char *block;
		uintptr_t number;
		void *at;
	} inside;

	take(block);
	inside.block = block[MANY / 2];
	inside.number += page - inside.number % page;
	give(block);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	return mincore(inside.at, page, &resident) != 0 || !(resident & 1);
}

/* A library's weights may lie where another's lay before. */
static void
memory_that_is_used_again_is_found(void **state)
{
	unsigned char *block[MANY];
	struct own_pages p;

	(void)state;
	if (SANITIZED || !gives_back())
		skip();
	take(block);
	give(block);
	own_pages_init(&p);
	own_pages_begin(&p);
	take(block);
	own_pages_end(&p);
	for (int i = 0; i < MANY;
	     i++) /* but for pages that were in use at their ends */
		assert_true(found_of(&p, block[i], SMALL) >= SMALL - 4 * page);
	give(block);
	own_pages_release(&p);
}

static void
what_is_added_counts_once_looked_once(void **state)
{
	static const char constant[1000];
	struct own_pages p;
	unsigned char *late;
	uint32_t n;

	(void)state;
	own_pages_init(&p);
	own_pages_end(&p);
	assert_false(p.found); /* from when? */
	own_pages_begin(&p);
	own_pages_add(&p, constant, 300);
	own_pages_add(&p, constant + 300, 300);
	own_pages_add(&p, constant + 700, 0);
	own_pages_add(&p, constant + 800, 100);
	assert_int_equal(p.n, 2);
	own_pages_end(&p);
	n = p.n;
	late = map();
	memset(late, 1, BYTES);
	own_pages_end(&p);
	assert_int_equal(p.n, n);
	assert_int_equal(found_of(&p, constant, sizeof constant), 700);
	assert_int_equal(found_of(&p, late, BYTES), 0);
	munmap(late, BYTES);
	own_pages_begin(&p);
	assert_int_equal(p.n, 0);
	own_pages_release(&p);
}

/* Whatever the system makes of mappings beside each other. */
static void
what_is_known_to_be_anothers_is_not(void **state)
{
	struct arena others, kept;
	struct own_pages p;
	unsigned char *theirs, *made, *ours;

	(void)state;
	arena_init(&others);
	arena_init(&kept);
	own_pages_init(&p);
	own_pages_without(&p, &others);
	for (int i = 0; i < 2; i++) { /* it holds of the next time, too */
		own_pages_begin(&p);
		made = map();
		theirs = arena_alloc(&others, 2 * BYTES);
		ours = arena_alloc(&kept, 2 * BYTES);
		memset(made, 1, BYTES);
		own_pages_end(&p);
		if (!SANITIZED) {
			assert_int_equal(found_of(&p, theirs, 2 * BYTES), 0);
			assert_in_range(found_of(&p, ours, 2 * BYTES),
			    2 * BYTES, 2 * BYTES + page);
			assert_int_equal(found_of(&p, made, BYTES), BYTES);
		}
		munmap(made, BYTES);
	}
	own_pages_release(&p);
	arena_release(&others);
	arena_release(&kept);
}

/* What a library has given back since is not touched. */
static void
holes_are_seen(void **state)
{
	unsigned char *at = map();
	const struct touched all = {at, BYTES}, odd = {at + 100, BYTES - 200},
	                     head = {at, page};

	(void)state;
	memset(at, 1, BYTES);
	assert_true(own_pages_mapped(&all));
	assert_true(own_pages_mapped(&odd));
	munmap(at + BYTES - page, page);
	assert_false(own_pages_mapped(&all));
	assert_false(own_pages_mapped(&odd));
	assert_true(own_pages_mapped(&head));
	munmap(at, BYTES - page);
	assert_false(own_pages_mapped(&head));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_meanwhile_is_found),
	    cmocka_unit_test(large_blocks_are_found_as_they_are),
	    cmocka_unit_test(memory_that_is_used_again_is_found),
	    cmocka_unit_test(what_is_added_counts_once_looked_once),
	    cmocka_unit_test(what_is_known_to_be_anothers_is_not),
	    cmocka_unit_test(holes_are_seen),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
