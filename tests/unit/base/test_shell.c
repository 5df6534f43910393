/* Words of a command line: what is quoted, a shell reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/shell.h"

static const struct {
	const char *word, *quoted;
} cases[] = {
    {"models/a@b.onnx", "models/a@b.onnx"},
    {"--dim", "--dim"},
    {"", "''"},
    {"my models/a.onnx", "'my models/a.onnx'"},
    {"it's", "'it'\\''s'"},
    {"'", "''\\'''"},
    {"$HOME;*", "'$HOME;*'"},
    {"rank<=2", "'rank<=2'"},
    {"a\"b\\", "'a\"b\\'"},
    {"line\nline", "'line\nline'"},
};

static void
quotes(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(
		    shell_quote(cases[i].word, &a), cases[i].quoted);
	arena_release(&a);
}

static void
a_shell_reads_it_back(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *line = arena_printf(
		    &a, "printf %%s %s", shell_quote(cases[i].word, &a));
		char got[64] = "";
		FILE *f = popen(line, "r");

		assert_non_null(f);
		got[fread(got, 1, sizeof got - 1, f)] = '\0';
		assert_int_equal(pclose(f), 0);
		assert_string_equal(got, cases[i].word);
	}
	arena_release(&a);
}

static void
a_word_ends(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *word = shell_quote(cases[i].word, &a);

		assert_int_equal(shell_word_length(word), strlen(word));
		assert_int_equal(
		    shell_word_length(arena_printf(&a, "%s -q 'x'", word)),
		    strlen(word));
	}
	assert_int_equal(shell_word_length("'open"), 0);
	assert_int_equal(shell_word_length("\"other quotes\""), 0);
	assert_int_equal(shell_word_length(""), 0);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quotes),
	    cmocka_unit_test(a_shell_reads_it_back),
	    cmocka_unit_test(a_word_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
