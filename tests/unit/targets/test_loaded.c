/* Build ids: of a file the same as of the library that was loaded from it, and none
 * of anything else. */
#define _GNU_SOURCE /* dladdr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "targets/loaded.h"

#define HEAD 65536 /* of a library: its headers and notes */

static const char *
libc_path(void)
{
	static char path[4096];
	Dl_info where;

	/* (no function that sanitizers have one of their own for) */
	assert_int_not_equal(
	    dladdr((void *)(uintptr_t)gnu_get_libc_version, &where), 0);
	assert_non_null(realpath(where.dli_fname, path));
	return path;
}

static void
test_of_a_file(void **state)
{
	char loaded[BUILD_TEXT], of_file[BUILD_TEXT];

	(void)state;
	if (!loaded_find("libc.so", loaded))
		skip(); /* linked in */
	assert_true(library_build(libc_path(), of_file));
	assert_string_equal(of_file, loaded);
	assert_true(strlen(of_file) >= 8);
}

static bool
build_of_bytes(const void *data, size_t n, char build[BUILD_TEXT])
{
	char path[] = "/tmp/marq_loaded.XXXXXX";
	int fd = mkstemp(path);
	bool ok;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), (ssize_t)n);
	close(fd);
	ok = library_build(path, build);
	unlink(path);
	return ok;
}

static void
test_of_others(void **state)
{
	static const char text[] = "no library at all, but as long as a header "
	                           "of one, which is sixty-four bytes";
	char build[BUILD_TEXT];

	(void)state;
	assert_false(build_of_bytes(text, sizeof text, build));
	assert_false(build_of_bytes("", 0, build));
	assert_false(library_build("/nowhere/at/all.so", build));
	assert_false(library_build("/", build));
	assert_string_equal(build, "");
}

/* Cut off in its headers, and with any two bytes of what leads to the notes changed. */
static void
test_of_damaged(void **state)
{
	static uint8_t all[HEAD];
	char whole[BUILD_TEXT], build[BUILD_TEXT];
	FILE *f = fopen(libc_path(), "rb");
	const size_t n = f ? fread(all, 1, sizeof all, f) : 0;
	const size_t headers =
	    sizeof(ElfW(Ehdr)) + 16 * sizeof(ElfW(Phdr)); /* libc has 14 */

	(void)state;
	assert_true(n > headers);
	fclose(f);
	assert_true(build_of_bytes(all, n, whole));
	assert_false(build_of_bytes(all, sizeof(ElfW(Ehdr)) - 1, build));
	assert_false(build_of_bytes(all, sizeof(ElfW(Ehdr)), build));
	for (size_t at = 0; at + 1 < headers; at += 2) {
		uint8_t kept[2] = {all[at], all[at + 1]};

		all[at] = all[at + 1] = 0xff;
		if (build_of_bytes(all, n, build))
			assert_true(strlen(build) < BUILD_TEXT);
		memcpy(all + at, kept, sizeof kept);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_of_a_file),
	    cmocka_unit_test(test_of_others),
	    cmocka_unit_test(test_of_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
