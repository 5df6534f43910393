/* SHA-256 against the standard's own examples, and in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/sha256.h"

static const char *
sum(const char *text, size_t n, size_t piece)
{
	static char out[65];
	struct sha256 s;

	sha256_start(&s);
	for (size_t at = 0; at < n; at += piece)
		sha256_add(&s, text + at, n - at < piece ? n - at : piece);
	sha256_end(&s, out);
	return out;
}

/* SOURCE: FIPS 180-2, appendix B, and the empty message. */
static void
examples_of_the_standard(void **state)
{
	static const char two[] =
	    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	(void)state;
	assert_string_equal(sum("", 0, 1),
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_string_equal(sum("abc", 3, 3),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(sum(two, sizeof two - 1, 7),
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
pieces_do_not_matter(void **state)
{
	char text[300], whole[65];

	(void)state;
	memset(text, 'x', sizeof text);
	for (size_t n = 0; n < sizeof text; n += 13) {
		strcpy(whole, sum(text, n, sizeof text));
		for (size_t piece = 1; piece < 130; piece += 21)
			assert_string_equal(sum(text, n, piece), whole);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(examples_of_the_standard),
	    cmocka_unit_test(pieces_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
