/* What foreign text may do to a terminal: nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/plain.h"

static const struct {
	const char *in, *line, *stream;
} cases[] = {
    {"plain", "plain", "plain"},
    {"\x1b[2Ja", "?[2Ja", "?[2Ja"},
    {"a\tb\nc\rd", "a?b?c?d", "a\tb\nc?d"},
    {"\xc2\x9b"
     "31m",
        "?31m", "?31m"},
    {"\x9b"
     "31m",
        "?31m", "?31m"},
    {"\xe2\x80\xae"
     "abc",
        "?abc", "?abc"},
    {"\xe2\x81\xa6x\xe2\x80\xa8y", "?x?y", "?x?y"},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xe2\x82", "??", ""}, /* its rest may come */
    {"\xe2\x82z\x7f\xff", "??z??", "??z??"},
    {"\xed\xa0\x80z", "???z", "???z"},
};

#define NCASES (sizeof cases / sizeof cases[0])

static void
lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		char text[64];

		snprintf(text, sizeof text, "%s", cases[i].in);
		plain_line(text);
		assert_string_equal(text, cases[i].line);
	}
}

/* Character by character, where tabs and the like become spaces. */
static void
characters(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		char text[64], want[64];
		size_t n = 0, taken;

		snprintf(want, sizeof want, "%s", cases[i].line);
		for (const char *s = cases[i].in; *s; s += taken) {
			n += plain_next(text + n, s, &taken);
			if (strchr("\t\n\r", *s))
				want[n - 1] = ' ';
		}
		text[n] = '\0';
		assert_string_equal(text, want);
	}
}

/* What standard output gets of `text`, `piece` bytes at a time. */
static size_t
through(char *out, size_t size, const char *text, size_t piece)
{
	FILE *old = stdout, *file = tmpfile();
	int real = dup(STDOUT_FILENO);
	size_t n = strlen(text);

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	plain_stdout();
	for (size_t i = 0; i < n; i += piece) {
		fwrite(text + i, 1, n - i < piece ? n - i : piece, stdout);
		fflush(stdout);
	}
	if (n && text[n - 1] == '\x82') /* complete it for the next */
		fputs("\xac", stdout);
	fclose(stdout);
	stdout = old;
	dup2(real, STDOUT_FILENO);
	close(real);
	rewind(file);
	n = fread(out, 1, size - 1, file);
	out[n] = '\0';
	fclose(file);
	return n;
}

static void
streams(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 5; piece++)
		for (size_t i = 0; i < NCASES; i++) {
			char out[64];

			through(out, sizeof out, cases[i].in, piece);
			if (strcmp(cases[i].in, "\xe2\x82") == 0)
				assert_string_equal(out, "\xe2\x82\xac");
			else
				assert_string_equal(out, cases[i].stream);
		}
}

static void
long_streams(void **state)
{
	static char in[3 * 5000 + 1], out[sizeof in + 1];

	(void)state;
	for (size_t i = 0; i + 3 < sizeof in; i += 3)
		memcpy(in + i, "\xe2\x82\xac", 3);
	assert_int_equal(through(out, sizeof out, in, 7001), sizeof in - 1);
	assert_string_equal(out, in);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines),
	    cmocka_unit_test(characters),
	    cmocka_unit_test(streams),
	    cmocka_unit_test(long_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
