/* A folder that replaces another: what is written as it was is the same file, on the
 * disk already; everything else is a new one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/file.h"
#include "tests/support/scratch.h"

#define LONG 50000 /* several buffers and chunks */

static const char *
text_of(size_t n, size_t changed, struct arena *a)
{
	char *text = arena_alloc(a, n + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 23 + (i == changed));
	return text;
}

static void
begin(struct outdir *o, const char *name, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	assert_true(out_begin(o,
	    arena_printf(a, "%s/%s", scratch_folder(), name), true, a, &err));
}

static void
add(struct outdir *o, const char *name, const char *text, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	FILE *f = out_open(o, name, a, &err);

	assert_non_null(f);
	for (size_t i = 0, n = strlen(text); i < n; i += 777)
		fprintf(f, "%.777s", text + i);
	assert_true(out_close(f, name, &err));
}

static struct stat
committed(struct outdir *o, const char *name, const char *text, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	const char *path = arena_printf(a, "%s/%s", o->path, name), *found;
	struct stat st;
	size_t n;

	assert_true(out_commit(o, &err));
	assert_true(file_read(&found, &n, path, LIMIT_READ_MANIFEST, a, &err));
	assert_int_equal(n, strlen(text));
	assert_memory_equal(found, text, n);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	return st;
}

static const struct change {
	const char *what;
	size_t n, changed;
	bool same;
} changes[] = {
    {"nothing", LONG, SIZE_MAX, true},
    {"the first byte", LONG, 0, false},
    {"one behind a chunk", LONG, 16384, false},
    {"the last byte", LONG, LONG - 1, false},
    {"it is longer", LONG + 1, SIZE_MAX, false},
    {"it is shorter", LONG - 1, SIZE_MAX, false},
    {"it is empty", 0, SIZE_MAX, false},
};

static void
same_content_is_the_same_file(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const struct change *c = &changes[i];
		const char *was = text_of(LONG, SIZE_MAX, &a);
		const char *is = text_of(c->n, c->changed, &a);
		struct outdir o;
		struct stat before, after;

		print_message("%s\n", c->what);
		begin(&o, "result", &a);
		add(&o, "in/it", was, &a);
		before = committed(&o, "in/it", was, &a);
		begin(&o, "result", &a);
		add(&o, "in/it", is, &a);
		assert_true(UINT64_MAX - *o.left == c->n);
		after = committed(&o, "in/it", is, &a);
		assert_true((before.st_ino == after.st_ino) == c->same);
	}
	arena_release(&a);
}

/* Whoever gave the former file another name or mode keeps what he has. */
static void
other_names_and_modes_stay(void **state)
{
	struct outdir o;
	struct stat before, after;
	const char *text = "as it was";
	struct arena a;

	(void)state;
	arena_init(&a);
	for (int i = 0; i < 3; i++) {
		const char *path =
		    arena_printf(&a, "%s/kept/it", scratch_folder());
		const char *name = arena_printf(&a, "%s.%d", path, i);

		begin(&o, "kept", &a);
		add(&o, "it", text, &a);
		before = committed(&o, "it", text, &a);
		if (i == 0)
			assert_int_equal(
			    link(path,
			        arena_printf(&a, "%s/name", scratch_folder())),
			    0);
		else if (i == 1)
			assert_int_equal(chmod(path, 0400), 0);
		else
			assert_int_equal(
			    rename(path, name) | symlink(name, path), 0);
		begin(&o, "kept", &a);
		add(&o, "it", text, &a);
		after = committed(&o, "it", text, &a);
		assert_true(before.st_ino != after.st_ino);
	}
	arena_release(&a);
}

/* The budget counts what is the same as well. */
static void
budget_holds(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct outdir o;
	struct arena a;
	const char *text;
	FILE *f;

	(void)state;
	arena_init(&a);
	text = text_of(LONG, SIZE_MAX, &a);
	begin(&o, "budget", &a);
	add(&o, "it", text, &a);
	committed(&o, "it", text, &a);
	begin(&o, "budget", &a);
	*o.left = LONG - 1;
	f = out_open(&o, "it", &a, &err);
	assert_non_null(f);
	fputs(text, f);
	assert_false(out_close(f, "it", &err));
	assert_true(out_is_full(&o));
	out_discard(&o, NULL, "it");
	out_abandon(&o);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_content_is_the_same_file),
	    cmocka_unit_test(other_names_and_modes_stay),
	    cmocka_unit_test(budget_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
