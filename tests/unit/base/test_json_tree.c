/* A document that becomes a tree is what reading its text gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ir/base/json.h"
#include "ir/base/json_tree.h"
#include "ir/base/jsonin.h"
#include "ir/base/memory.h"

static void
write_numbers(struct json *j)
{
	static const double real[] = {0, -0.0, 0.1, -2.5e300, 5e-324, 1e16,
	    -9007199254740994.0, 12345678901234567890.0, 1e17, HUGE_VAL};
	static const uint64_t whole[] = {0, 9, INT32_MAX, INT32_MAX + 1ull,
	    (1ull << 53) - 1, 1ull << 53, (1ull << 53) + 1, UINT64_MAX};
	static const int64_t negative[] = {
	    -1, INT32_MIN, INT32_MIN - 1ll, -(1ll << 53) - 1, INT64_MIN};

	json_key(j, "numbers");
	json_inline_array(j);
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
		json_real(j, real[i]);
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		json_uint(j, whole[i]);
	for (size_t i = 0; i < sizeof negative / sizeof negative[0]; i++)
		json_int(j, negative[i]);
	json_close(j);
}

static void
write_all(struct json *j)
{
	json_object(j);
	json_key_str(j, "", "");
	json_key_str(j, "text",
	    "a \"quoted\"\n\tline\\ \x01 \x7f \xc2\x85 "
	    "\xe2\x80\xae \xe6\x97\xa5");
	json_key_str(j, "bad \xff\xc3 key", "\xff");
	json_key_str(j, "bad", "a\x80\x80z\xe2\x80");
	json_key_str(j, "none", NULL);
	json_key_bool(j, "yes", true);
	json_key_bool(j, "no", false);
	json_key_facts(j, "facts", "a=1\nb=\n=\nnothing\n");
	write_numbers(j);
	json_key(j, "lists");
	json_array(j);
	json_array(j);
	json_close(j);
	json_inline_object(j);
	json_key(j, "deep");
	json_object(j);
	json_close(j);
	json_close(j);
	json_close(j);
	json_key_int(j, "last", -1);
	json_close(j);
}

static void
same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void
same_items(const cJSON *a, const cJSON *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (!a)
		return;
	/* the first knows the last */
	same_text(a->prev->string, b->prev->string);
	for (; a && b; a = a->next, b = b->next) {
		assert_int_equal(a->type, b->type);
		assert_memory_equal(
		    &a->valuedouble, &b->valuedouble, sizeof a->valuedouble);
		assert_int_equal(a->valueint, b->valueint);
		same_text(a->string, b->string);
		same_text(a->valuestring, b->valuestring);
		assert_int_equal(a->child == NULL, b->child == NULL);
		same_items(a->child, b->child);
	}
	assert_true(!a && !b);
}

static void
test_as_read(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct json_tree tree;
	struct json j;
	struct arena a;
	struct cJSON *doc;
	char *text = NULL;
	size_t n;
	FILE *f = memory_stream(&text, &n);

	(void)state;
	json_init(&j, f, 1);
	write_all(&j);
	memory_stream_close(f);
	doc = jsonin_parse(text, n, "written", &err);
	assert_non_null(doc);
	arena_init(&a);
	json_tree_init(&tree, &a);
	json_init_tree(&j, &tree);
	write_all(&j);
	assert_null(tree.open);
	same_items(doc->child, tree.root->child);
	assert_int_equal(doc->type, tree.root->type);
	arena_release(&a);
	jsonin_close(doc);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_read)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
