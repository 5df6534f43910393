/* Files of pieces: whatever way a file system takes them, the bytes and the sums
 * are those of the pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/bulk.h"
#include "ir/base/folder.h"
#include "ir/base/listing.h"
#include "tests/support/scratch.h"

#define LARGE ((size_t)3 << 20)
#define LONGEST (LARGE + 5 * BULK_BLOCK)

static const unsigned char *
some_bytes(void)
{
	static unsigned char *bytes;

	if (!bytes) {
		bytes = aligned_alloc(BULK_BLOCK, LONGEST);
		assert_non_null(bytes);
		for (size_t i = 0; i < LONGEST; i++)
			bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	}
	return bytes;
}

/* In memory, and where this test runs: mostly on a disk. */
static const char *
parent(int which, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	const char *path =
	    which == 0 ? scratch_folder() : folder_new(".", a, &err);

	assert_non_null(path);
	return path;
}

static void
equals_pieces(const struct bulk *b, const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct mapped_file f;
	size_t at = 0;

	assert_true(file_map(&f, path, &err));
	assert_int_equal(f.bytes, b->bytes);
	for (uint32_t i = 0; i < b->n; at += b->piece[i++].n)
		assert_memory_equal(
		    f.data + at, b->piece[i].data, b->piece[i].n);
	file_unmap(&f);
}

/* Written, listed by the sum that was told, and found to be so by reading. */
static void
is_written(const struct bulk *b, const char *folder, bool scratch)
{
	struct err err = {.kind = ERR_NONE};
	const char *path;
	struct outdir o;
	char sum[65];
	uint32_t n;

	path = arena_printf(b->arena, "%s/out", folder);
	assert_true(out_begin(&o, path, true, b->arena, &err));
	o.is_scratch = scratch;
	bulk_sum(b, sum);
	assert_true(bulk_write(b, &o, "in/it", sum, &err));
	assert_true(listing_write(o.temporary, *o.sums, b->arena, &err));
	assert_true(out_commit(&o, &err));
	equals_pieces(b, arena_printf(b->arena, "%s/in/it", path));
	assert_true(listing_verify(path, &n, b->arena, &err));
	assert_int_equal(n, 1);
}

/* A small piece and a large one, from any place of a block to any. */
static void
pieces_from_anywhere(void **state)
{
	static const size_t place[] = {0, 1, 511, 512, 4095};
	const unsigned char *bytes = some_bytes();
	struct arena a;

	(void)state;
	arena_init(&a);
	for (int which = 0; which < 2; which++) {
		const char *folder = parent(which, &a);

		for (size_t i = 0; i < 25; i++) {
			struct bulk b;

			bulk_init(&b, &a);
			bulk_add(&b, bytes + LARGE, place[i % 5]);
			bulk_add(&b, bytes + place[i / 5], LARGE + i);
			bulk_add(&b, bytes, 7);
			is_written(&b, folder, i % 7 == 0);
		}
		if (which == 1)
			folder_remove(folder);
	}
	arena_release(&a);
}

/* Of a file, blocks of which may be shared. */
static void
pieces_of_a_file(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (int which = 0; which < 2; which++) {
		const char *folder = parent(which, &a);
		const char *path = arena_printf(&a, "%s/source", folder);
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		assert_int_equal(fwrite(some_bytes(), 1, LONGEST, f), LONGEST);
		assert_int_equal(fclose(f), 0);
		for (size_t place = 0; place < 9000; place += 2999) {
			struct bulk b;

			bulk_init(&b, &a);
			assert_true(
			    file_map_open(&b.source, &b.source_fd, path, &err));
			bulk_add(&b, some_bytes(), place % BULK_BLOCK);
			bulk_add(&b, b.source.data + place, LARGE + 77);
			bulk_add(&b, some_bytes() + 9, 9);
			is_written(&b, folder, false);
			close(b.source_fd);
			file_unmap(&b.source);
		}
		assert_int_equal(unlink(path), 0);
		if (which == 1)
			folder_remove(folder);
	}
	arena_release(&a);
}

static void
neighbours_are_one_piece(void **state)
{
	const unsigned char *bytes = some_bytes();
	struct arena a;
	struct bulk b;

	(void)state;
	arena_init(&a);
	bulk_init(&b, &a);
	bulk_add(&b, bytes, 0);
	assert_int_equal(b.n, 0);
	bulk_add(&b, bytes, 10);
	bulk_add(&b, bytes + 10, 5);
	bulk_add(&b, bytes + 16, 5);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.bytes, 20);
	is_written(&b, scratch_folder(), false);
	arena_release(&a);
}

/* No more than may be written; and a sum that is wrong is seen by reading. */
static void
limits_and_lies(void **state)
{
	char sum[65] = {0};
	struct err err = {.kind = ERR_NONE};
	const char *path;
	struct outdir o;
	struct arena a;
	struct bulk b;
	uint32_t n;

	(void)state;
	arena_init(&a);
	path = arena_printf(&a, "%s/limited", scratch_folder());
	bulk_init(&b, &a);
	bulk_add(&b, some_bytes(), LARGE);
	assert_true(out_begin(&o, path, true, &a, &err));
	*o.left = LARGE - 1;
	memset(sum, '0', 64);
	assert_false(bulk_write(&b, &o, "large", sum, &err));
	assert_true(out_is_full(&o));
	assert_null(*o.sums);
	err_clear(&err);
	*o.left = LARGE;
	assert_true(bulk_write(&b, &o, "lie", sum, &err));
	out_discard(&o, NULL, "large");
	assert_true(listing_write(o.temporary, *o.sums, &a, &err));
	assert_true(out_commit(&o, &err));
	assert_false(listing_verify(path, &n, &a, &err));
	assert_int_equal(err.kind, ERR_IO);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_from_anywhere),
	    cmocka_unit_test(pieces_of_a_file),
	    cmocka_unit_test(neighbours_are_one_piece),
	    cmocka_unit_test(limits_and_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
