/* Lists read item by item: what the whole tree says, of good and of bad text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ir/base/jsonlist.h"
#include "tests/support/support.h"

static const char *const good[] = {
    "{\"x\": []}",
    "{\"x\": [ ], \"y\": 1}",
    "{ \"x\" : [ 1 , 2,3 ] }",
    "{\"y\": {\"x\": [7]}, \"x\": [[1], {\"x\": [2]}, \"],\\\"}\"]}",
    "{\"x\": [9223372036854775807, 0.5, null, true]}\n",
    "{\"y\": [1, 2], \"x\": [\"a,b\", \"\\\\\", {}]}",
};

/* The items, printed, with numbers as their digits; NULL: an error. */
static char *
items(struct jsonlist *l, const struct cJSON *doc, uint32_t *n, struct err *err)
{
	cJSON *all = cJSON_CreateArray();
	const struct cJSON *item;
	uint32_t count;
	char *text = NULL;

	*n = 0;
	if (jsonlist_begin(l, doc, &count, err)) {
		while (jsonlist_next(l, &item, err) && item) {
			cJSON_AddItemToArray(all, cJSON_Duplicate(item, true));
			++*n;
		}
		if (err->kind == ERR_NONE) {
			assert_int_equal(*n, count);
			text = cJSON_PrintUnformatted(all);
		}
	}
	cJSON_Delete(all);
	return text;
}

/* As a tree: the same walk, over a list that is not set apart. */
static char *
as_tree(const char *text, size_t n, uint32_t *count, struct err *err)
{
	struct jsonlist l = {.key = "x", .text = text};
	struct cJSON *doc = jsonin_parse(text, n, "t", err);
	char *out = doc ? items(&l, doc, count, err) : NULL;

	jsonin_close(doc);
	return out;
}

static char *
one_by_one(const char *text, size_t n, uint32_t *count, struct err *err)
{
	struct jsonlist l = {.key = "x"};
	struct cJSON *doc = jsonlist_parse(&l, 1, text, n, "t", err);
	char *out = doc ? items(&l, doc, count, err) : NULL;

	jsonlist_close(&l);
	jsonin_close(doc);
	return out;
}

static bool
is_the_same(const char *text, size_t n)
{
	struct err a = {.kind = ERR_NONE}, b = a;
	uint32_t na = 0, nb = 0;
	char *want = as_tree(text, n, &na, &a);
	char *have = one_by_one(text, n, &nb, &b);
	bool same =
	    !want == !have && (!want || (na == nb && strcmp(want, have) == 0));

	free(want);
	free(have);
	return same;
}

static void
lists_are_what_the_tree_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(is_the_same(good[i], strlen(good[i])));
}

static void
so_are_lists_that_are_none(void **state)
{
	static const char bytes[] = "[]{},:\"\\x 1";
	struct rng r = rng_seeded(25);

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		char text[80];
		size_t n;

		snprintf(text, sizeof text, "%s",
		    good[rng_below(&r, sizeof good / sizeof *good)]);
		n = strlen(text);
		for (uint32_t k = rng_below(&r, 3) + 1; k > 0; k--)
			text[rng_below(&r, (uint32_t)n)] =
			    bytes[rng_below(&r, sizeof bytes - 1)];
		if (!is_the_same(text, n))
			fail_msg("case %u: %s", i, text);
	}
}

/* Places are those in the whole document. */
static void
faults_are_where_they_are(void **state)
{
	static const char text[] = "{\"x\": [1, 2, 03]}";
	struct err err = {.kind = ERR_NONE};
	uint32_t n;

	(void)state;
	assert_null(one_by_one(text, sizeof text - 1, &n, &err));
	assert_string_equal(
	    err.text, "not valid JSON at byte 13: no such number");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lists_are_what_the_tree_says),
	    cmocka_unit_test(so_are_lists_that_are_none),
	    cmocka_unit_test(faults_are_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
