/* Memory given back: pages of files are read again from there, what was written stays,
 * whatever the mapping allows by then; lines of /proc/self/maps are told apart. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/sanitized.h"
#include "ir/base/spare_pages.h"

#define PAGES 700u /* more than are asked for at once */

static size_t
page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Page i holds i. */
static int
new_file(void)
{
	const int fd = memfd_create("pages", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(PAGES * page())), 0);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(
		    pwrite(fd, &i, sizeof i, (off_t)(i * page())), sizeof i);
	return fd;
}

static uint32_t
number_at(const unsigned char *map, uint32_t i)
{
	uint32_t x;

	memcpy(&x, map + i * page(), sizeof x);
	return x;
}

/* -1: the system does not say. */
static int
is_present(const unsigned char *at)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t state = 0;
	const ssize_t n = fd < 0 ? 0
	                         : pread(fd, &state, sizeof state,
	                             (off_t)((uintptr_t)at / page() * 8));

	if (fd >= 0)
		close(fd);
	return n != sizeof state ? -1 : (int)(state >> 63);
}

/* Every third page is written to before writing is forbidden, as a linker does. */
static void
files_are_read_again(void **state)
{
	const int fd = new_file();
	unsigned char *map = mmap(
	    NULL, PAGES * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	(void)state;
	assert_true(map != MAP_FAILED);
	for (uint32_t i = 0; i < PAGES; i += 3)
		memset(map + i * page(), 0x77, page());
	assert_int_equal(mprotect(map, PAGES * page(), PROT_READ), 0);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < PAGES; i++)
			assert_int_equal(
			    number_at(map, i), i % 3 ? i : 0x77777777);
		spare_pages_return();
		if (!SANITIZED)
			assert_int_not_equal(is_present(map + page()), 1);
		assert_int_not_equal(is_present(map), 0);
	}
	munmap(map, PAGES * page());
	close(fd);
}

static void
what_is_written_stays(void **state)
{
	unsigned char *own = mmap(NULL, PAGES * page(), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(own != MAP_FAILED);
	memset(own, 0x55, PAGES * page());
	spare_pages_return();
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(number_at(own, i), 0x55555555);
	munmap(own, PAGES * page());
}

static void
lines_are_told_apart(void **state)
{
	static const struct {
		const char *line;
		bool of_file;
	} lines[] = {
	    {"7f00-7f80 r-xp 00001000 fe:00 1234 /usr/lib/x.so", true},
	    {"7f00-7f80 r--p 00001000 fe:00 1234 /tmp/a name", true},
	    {"7f00-7f80 r--s 00000000 fe:00 9 /tmp/shared", true},
	    {"7f00-7f80 rw-p 00001000 fe:00 1234 /usr/lib/x.so", false},
	    {"7f00-7f80 ---p 00001000 fe:00 1234 /usr/lib/x.so", false},
	    {"7f00-7f80 r--p 00000000 00:00 0 [vvar]", false},
	    {"7f00-7f80 rw-p 00000000 00:00 0 ", false},
	    {"no line", false},
	};
	uintptr_t from, end;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_int_equal(file_mapping_read(lines[i].line, &from, &end),
		    lines[i].of_file);
		if (lines[i].of_file) {
			assert_true(from == 0x7f00);
			assert_true(end == 0x7f80);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_are_read_again),
	    cmocka_unit_test(what_is_written_stays),
	    cmocka_unit_test(lines_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
