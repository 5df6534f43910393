/* Lines taken out of the caches by address. How long they take to come back is not
 * asked: that is what bench/caches.c shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/line_flush.h"

#define EDX1_CLFLUSH (UINT32_C(1) << 19)
#define EBX7_CLFLUSHOPT (UINT32_C(1) << 23)
#define EBX1(line) (UINT32_C(line) / 8 << 8)

static const struct {
	uint32_t ebx1, edx1, ebx7;
	struct line_flusher want;
} processors[] = {
    {EBX1(64), EDX1_CLFLUSH, EBX7_CLFLUSHOPT, {LINE_FLUSH_CLFLUSHOPT, 64}},
    {EBX1(64), EDX1_CLFLUSH, ~EBX7_CLFLUSHOPT, {LINE_FLUSH_CLFLUSH, 64}},
    {EBX1(128), EDX1_CLFLUSH, 0, {LINE_FLUSH_CLFLUSH, 128}},
    {EBX1(32), ~EDX1_CLFLUSH, 0, {LINE_FLUSH_NONE, 32}},
    {0, 0, 0, {LINE_FLUSH_NONE, 64}},
    {EBX1(24), EDX1_CLFLUSH, 0, {LINE_FLUSH_CLFLUSH, 64}}, /* no power of two */
};

static void
the_processor_says_how(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
		const struct line_flusher f = line_flusher_of(
		    processors[i].ebx1, processors[i].edx1, processors[i].ebx7);

		assert_int_equal(f.how, processors[i].want.how);
		assert_int_equal(f.line, processors[i].want.line);
	}
}

static void
this_one_has_lines(void **state)
{
	const struct line_flusher f = line_flusher_new();

	(void)state;
	assert_true(f.line >= 4 && (f.line & (f.line - 1)) == 0);
#if defined(__x86_64__)
	assert_int_not_equal(f.how, LINE_FLUSH_NONE);
#elif defined(__aarch64__)
	assert_int_equal(f.how, LINE_FLUSH_CIVAC);
#else
	assert_int_equal(f.how, LINE_FLUSH_NONE);
#endif
}

#define BYTES 4096
#define FURTHEST 130 /* more than two lines from where a page begins */

/* Whatever is flushed, wherever it begins and ends, says what it said. */
static void
bytes_stay(void **state)
{
	struct line_flusher f = line_flusher_new();
	static unsigned char bytes[BYTES], want[BYTES];
	const enum line_flush best = f.how;

	(void)state;
	for (size_t from = 0; from < FURTHEST; from++)
		for (size_t n = 0; n < FURTHEST; n++) {
			memset(bytes, (int)(from + n), BYTES);
			memset(want, (int)(from + n), BYTES);
			f.how = n % 8 ? best : LINE_FLUSH_NONE;
			line_flush(&f, bytes + from, n);
			line_flush(&f, bytes + BYTES - from, from);
			line_flush_wait(&f);
			assert_memory_equal(bytes, want, BYTES);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_processor_says_how),
	    cmocka_unit_test(this_one_has_lines),
	    cmocka_unit_test(bytes_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
