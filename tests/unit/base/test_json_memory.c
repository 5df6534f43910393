/* json_memory: documents are one piece of memory, and cJSON is none the wiser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ir/base/json_memory.h"
#include "ir/base/jsonin.h"

static struct cJSON *
parse(const char *text)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse(text, strlen(text), "x", &err);

	assert_true(doc || err.kind == ERR_INPUT);
	return doc;
}

/* ["aa...", 0, 1, ...]: more than a piece, and a text longer than one. */
static char *
large(uint32_t n)
{
	char *text = malloc(12 * (size_t)n + n + 64), *p = text;

	p += sprintf(p, "[\"");
	memset(p, 'a', n);
	p += n;
	p += sprintf(p, "\"");
	for (uint32_t i = 0; i < n; i++)
		p += sprintf(p, ",%u", (unsigned)i);
	sprintf(p, "]");
	return text;
}

static void
whatever_size_it_has_it_is_read(void **state)
{
	for (uint32_t n = 1; n < 300000; n = 3 * n + 1) {
		char *text = large(n), *again;
		struct cJSON *doc = parse(text);

		assert_non_null(doc);
		assert_int_equal(cJSON_GetArraySize(doc), n + 1);
		again = cJSON_PrintUnformatted(doc);
		assert_string_equal(again, text);
		cJSON_free(again);
		jsonin_close(doc);
		free(text);
	}
	(void)state;
}

/* Things of a document's may be given back, too, and what is made of it outlives it. */
static void
documents_and_the_heap_are_told_apart(void **state)
{
	struct cJSON *doc =
	    parse("{\"a\": [1, \"two\"], \"b\": {\"c\": null}}");
	struct cJSON *other = parse("[18446744073709551615]"), *copy;
	char *text;

	copy = cJSON_Duplicate(doc, true);
	cJSON_Delete(cJSON_DetachItemFromObject(doc, "b"));
	cJSON_AddStringToObject(doc, "d", "more");
	cJSON_Delete(cJSON_DetachItemFromObject(doc, "d"));
	text = cJSON_PrintUnformatted(doc);
	assert_string_equal(text, "{\"a\":[1,\"two\"]}");
	cJSON_free(text);
	jsonin_close(doc);
	text = cJSON_PrintUnformatted(copy);
	assert_string_equal(text, "{\"a\":[1,\"two\"],\"b\":{\"c\":null}}");
	cJSON_free(text);
	cJSON_Delete(copy);
	assert_string_equal(other->child->valuestring, "18446744073709551615");
	jsonin_close(other);
	jsonin_close(NULL);
	(void)state;
}

static void
what_is_refused_leaves_nothing(void **state)
{
	static const char *const wrong[] = {"", "{", "[1, 2", "[1] x", "[01]",
	    "{\"a\": 1, \"a\": 2}", "[\"", "nul"};

	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			struct cJSON *doc;

			assert_null(parse(wrong[i]));
			doc = parse("[1]");
			assert_int_equal(cJSON_GetArraySize(doc), 1);
			jsonin_close(doc);
		}
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whatever_size_it_has_it_is_read),
	    cmocka_unit_test(documents_and_the_heap_are_told_apart),
	    cmocka_unit_test(what_is_refused_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
