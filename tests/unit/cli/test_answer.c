/* One value, two ways to write it: sentences with their places, and JSON with
 * every field. SOURCES: cli/answer.c cli/units.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/answer.h"
#include "ir/base/memory.h"

static char *said;

/* What `text` says of the fields; until the next. */
static const char *
text_of(const char *text, const struct field *f, uint32_t n)
{
	struct answer a = {.is_json = false};
	size_t size;

	free(said);
	a.out = memory_stream(&said, &size);
	answer_fields(&a, text, f, n);
	memory_stream_close(a.out);
	return said;
}

#define SAYS(want, text, ...) \
	assert_string_equal(text_of(text, FIELDS(__VA_ARGS__)), want)

static void
places_take_fields(void **state)
{
	char array[] = "an array";

	(void)state;
	SAYS("a 7 -7 0.5 true an array", "a {u} {i} {r} {b} {w}",
	    F("u", (uint64_t)7), F("i", -7), F("r", 0.5), IS("b", true),
	    F("w", array));
	SAYS("|    7|7    |  abc|ab|", "|{u:5}|{u:-5}|{w:5}|{w:.2}|",
	    F("u", 7u), T("w", "abc"));
	SAYS("1.50 +2.5 3e+10", "{a:.2f} {b:+.1f} {c:.3g}", F("a", 1.5),
	    F("b", 2.5), F("c", 3e10));
	SAYS("4.812 ms   17 ns 2.0 MiB", "{a:t} {b:7t} {c:b}", F("a", 4812000u),
	    F("b", 17u), F("c", 2u << 20));
	SAYS("\"\"", "\"{none}\"", F("none", (const char *)NULL));
}

static void
nouns_are_counted(void **state)
{
	(void)state;
	SAYS("0 nodes, 1 match", "{n} node{s n}, {m} match{es m}", F("n", 0u),
	    F("m", 1u));
	SAYS("1 node, 2 matches", "{n} node{s n}, {m} match{es m}", F("n", 1u),
	    F("m", 2u));
}

static void
choices_are_of_fields(void **state)
{
	static const char text[] = "{?n {n} left{?why : {why}}}{!n none}.";

	(void)state;
	SAYS("3 left: late.", text, F("n", 3u), F("why", "late"));
	SAYS("3 left.", text, F("n", 3u), F("why", ""));
	SAYS("none.", text, F("n", 0u), F("why", "late"));
	SAYS("x", "{?a a}{?b b}{!c x}", F("a", 0.0), IS("b", false),
	    F("c", (const char *)NULL));
}

/* Braces and signs of a field's own words are words. */
static void
words_are_not_read(void **state)
{
	(void)state;
	SAYS("{n} %s }", "{w}", F("w", "{n} %s }"));
}

static void
json_has_all_but_text(void **state)
{
	struct answer a = {.is_json = true};
	const char *const word[] = {"x", "y"};
	size_t size;

	(void)state;
	free(said);
	a.out = memory_stream(&said, &size);
	json_init(&a.json, a.out, 0);
	json_object(&a.json);
	ANSWER(&a, "{n} {t}", F("n", 1u), T("t", "only text"), IS("b", false),
	    F("none", (const char *)NULL));
	answer_list(&a, "list");
	ANSWER_LINE(&a, NULL, F("i", -1));
	answer_close(&a);
	answer_words(&a, "words", word, 2);
	answer_end(&a);
	memory_stream_close(a.out);
	for (char *s = said, *to = said; (*to = *s); s++)
		to += *s != ' ' && *s != '\n';
	assert_string_equal(said,
	    "{\"n\":1,\"b\":false,\"none\":null,\"list\":[{\"i\":-1}],"
	    "\"words\":[\"x\",\"y\"]}");
}

static void
nothing_is_said_where_no_text_is_wanted(void **state)
{
	struct answer a = {.out = NULL};

	(void)state;
	ANSWER(&a, "{n}", F("n", 1u));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(places_take_fields),
	    cmocka_unit_test(nouns_are_counted),
	    cmocka_unit_test(choices_are_of_fields),
	    cmocka_unit_test(words_are_not_read),
	    cmocka_unit_test(json_has_all_but_text),
	    cmocka_unit_test(nothing_is_said_where_no_text_is_wanted),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(said);
	return failed;
}
