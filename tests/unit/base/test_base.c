/* ir/base: arenas, maps, errors, JSON out and in, small floats. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/float_mode.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "ir/base/size.h"
#include "ir/dtype.h"

static void
arena_gives_back_to_a_mark(void **state)
{
	struct arena a;
	struct arena_mark mark;
	char *first;

	(void)state;
	arena_init(&a);
	first = arena_str(&a, "kept");
	mark = arena_mark(&a);
	for (int i = 0; i < 1000; i++)
		memset(arena_alloc(&a, 1000), i, 1000);
	arena_back(&a, mark);
	assert_string_equal(first, "kept");
	for (size_t i = 0, *p = arena_alloc(&a, 4096); i < 512; i++)
		assert_int_equal(p[i], 0);
	assert_int_equal((uintptr_t)arena_alloc(&a, 256) % 64, 0);
	arena_release(&a);
}

/* What was outgrown goes back to the system, where it was the arena's. */
static void
arena_drops_what_was_outgrown(void **state)
{
	static uint32_t foreign[1 << 20];
	const uint32_t n = 1 << 20;
	uint32_t cap = 0, *old, *item;
	struct arena a;

	(void)state;
	arena_init(&a);
	old = arena_grow(&a, NULL, &cap, n, sizeof *old);
	for (uint32_t i = 0; i < n; i++)
		old[i] = foreign[i] = i + 1;
	item = arena_grow(&a, old, &cap, n + 1, sizeof *item);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(item[i], i + 1);
	assert_int_equal(item[n], 0);
	assert_int_equal(old[n / 2], 0); /* pages that are not there */
	cap = n;
	arena_grow(&a, foreign, &cap, n + 1, sizeof *item);
	assert_int_equal(foreign[n / 2], n / 2 + 1);
	arena_release(&a);
}

static void
map_keeps_what_it_is_given(void **state)
{
	struct arena a;
	struct map m;

	(void)state;
	arena_init(&a);
	map_init(&m, &a);
	assert_int_equal(map_find(&m, "x", 1), MAP_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		char *key = arena_printf(&a, "key%u", i);

		assert_int_equal(map_add(&m, key, strlen(key), i), i);
		assert_int_equal(map_add(&m, key, strlen(key), i + 1), i);
	}
	assert_int_equal(map_find(&m, "key4999", 7), 4999);
	assert_int_equal(map_find(&m, "key499", 6), 499);
	map_put(&m, "key499", 6, 7);
	assert_int_equal(map_find(&m, "key499", 6), 7);
	arena_release(&a);
}

static void
errors_keep_one_line_and_gain_context(void **state)
{
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_false(err_set(&err, ERR_INPUT, "bad\nname '%s'", "\x1b[1m"));
	assert_false(err_in(&err, "node #%d", 7));
	assert_string_equal(err.text, "node #7: bad?name '?[1m'");
	assert_int_equal(err_exit(err.kind), 3);
}

static void
json_escapes_and_nests(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct json j;

	(void)state;
	json_init(&j, f, 0);
	json_object(&j);
	json_key_str(&j, "a\"b", "tab\there \xc3\xa9 \xff");
	json_key(&j, "list");
	json_array(&j);
	json_int(&j, -1);
	json_uint(&j, UINT64_MAX);
	json_null(&j);
	json_close(&j);
	json_key(&j, "data");
	json_base64(&j, "hello", 5);
	json_close(&j);
	fclose(f);
	assert_string_equal(text,
	    "{\"a\\\"b\":\"tab\\there \xc3\xa9 \xef\xbf\xbd\","
	    "\"list\":[-1,18446744073709551615,null],\"data\":\"aGVsbG8=\"}\n");
	free(text);
}

static void
json_in_names_what_is_wrong(void **state)
{
	static const char text[] = "{\"n\": 1.5, \"s\": \"x\"}";
	static const char twice[] = "{\"o\": {\"k\": 1, \"k\": 2}}";
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc;
	int64_t n;

	(void)state;
	doc = jsonin_parse(text, sizeof text - 1, "t", &err);
	assert_non_null(doc);
	assert_false(jsonin_i64(doc, "n", &n, &err));
	assert_string_equal(err.text, "key 'n' is not an integer below 2^53");
	err_clear(&err);
	assert_false(jsonin_i64(doc, "m", &n, &err));
	assert_string_equal(err.text, "key 'm' is missing");
	err_clear(&err);
	jsonin_close(doc);
	assert_null(jsonin_parse(twice, sizeof twice - 1, "t", &err));
	assert_string_equal(err.text, "t: key 'k' appears twice in one object");
	err_clear(&err);
	assert_null(jsonin_parse("{} x", 4, "t", &err));
}

struct numbers {
	char i64[32], u62[32], real[64];
};

/* What each getter makes of a number; "-": it is refused. */
static void
read_numbers(struct numbers *out, const struct cJSON *doc)
{
	struct err err = {.kind = ERR_NONE};
	int64_t i;
	uint64_t u;
	double x;

	*out = (struct numbers){"-", "-", "-"};
	if (jsonin_i64(doc, "n", &i, &err))
		snprintf(out->i64, sizeof out->i64, "%" PRId64, i);
	err_clear(&err);
	if (jsonin_u62(doc, "n", &u, &err))
		snprintf(out->u62, sizeof out->u62, "%" PRIu64, u);
	err_clear(&err);
	if (jsonin_real(doc, "n", &x, &err) && x == floor(x))
		snprintf(out->real, sizeof out->real, "%.0f", x);
	else if (err.kind == ERR_NONE)
		snprintf(out->real, sizeof out->real, "%g", x);
}

static void
json_in_numbers_are_exact_or_refused(void **state)
{
	static const struct {
		const char *text, *i64, *u62, *real;
	} t[] = {
	    {"0", "0", "0", "0"},
	    {"-1", "-1", "-", "-1"},
	    {"1e3", "1000", "1000", "1000"},
	    {"1.5", "-", "-", "1.5"},
	    {"9007199254740991", "9007199254740991", "9007199254740991",
	        "9007199254740991"},
	    {"9007199254740992", "9007199254740992", "9007199254740992",
	        "9007199254740992"},
	    {"9007199254740993", "-", "9007199254740993", "-"},
	    {"-9007199254740993", "-", "-", "-"},
	    {"9007199254740993.0", "-", "-", "9007199254740992"},
	    {"1152921504606846976", "-", "1152921504606846976",
	        "1152921504606846976"},
	    {"1152921504606846977", "-", "1152921504606846977", "-"},
	    {"4611686018427387904", "-", "4611686018427387904",
	        "4611686018427387904"},
	    {"4611686018427387905", "-", "-", "-"},
	    {"1e30", "-", "-", "1000000000000000019884624838656"},
	    {"1e999", "-", "-", "-"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct err err = {.kind = ERR_NONE};
		struct numbers n;
		char text[64];
		int size =
		    snprintf(text, sizeof text, "{\"n\": %s}", t[i].text);
		struct cJSON *doc = jsonin_parse(text, (size_t)size, "t", &err);

		assert_non_null(doc);
		read_numbers(&n, doc);
		jsonin_close(doc);
		assert_string_equal(n.i64, t[i].i64);
		assert_string_equal(n.u62, t[i].u62);
		assert_string_equal(n.real, t[i].real);
	}
}

static void
half_floats_round_trip(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 0x10000; h++) {
		float f = f16_to_f32((uint16_t)h);

		if ((h & 0x7fff) > 0x7c00)
			assert_true(f != f);
		else
			assert_int_equal(f32_to_f16(f), h);
	}
	assert_int_equal(f32_to_f16(65519.0f), 0x7bff);
	assert_int_equal(f32_to_f16(65520.0f), 0x7c00);
	assert_int_equal(f32_to_f16(0x1p-25f), 0); /* tie to even */
	assert_int_equal(f32_to_f16(0x1.8p-24f), 2); /* tie to even */
	assert_int_equal(f32_to_f16(0x1.000002p-25f), 1);
	assert_int_equal(f32_to_bf16(1.00390625f), 0x3f80); /* tie to even */
}

static void
sizes_do_not_wrap(void **state)
{
	size_t n = 1;
	int64_t x;

	(void)state;
	assert_false(size_mul(SIZE_MAX / 2, 3, &n));
	assert_int_equal(n, 1);
	assert_true(size_mul(0, SIZE_MAX, &n));
	assert_false(i64_mul(INT64_MIN, -1, &x));
	assert_false(i64_mul(-1, INT64_MIN, &x));
	assert_true(i64_mul(INT64_MIN, 1, &x));
	assert_true(i64_mul(-3, 5, &x) && x == -15);
	assert_false(i64_add(INT64_MAX, 1, &x));
	assert_false(i64_add(INT64_MIN, -1, &x));
}

/* As long as denormals are off they are zeros, where they come from and where
 * they would come out. */
static void
test_denormals(void **state)
{
	volatile float least = 0x1p-126f, denormal = 0x1p-127f, two = 2.0f;
	volatile float made, read, back;
	uint32_t mode;

	(void)state;
	mode = float_denormals_off();
	made = least / two;
	read = denormal * two;
	float_mode_set(mode);
	back = least / two;
	assert_true(made == 0);
	assert_true(read == 0);
	assert_true(back == denormal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arena_gives_back_to_a_mark),
	    cmocka_unit_test(arena_drops_what_was_outgrown),
	    cmocka_unit_test(map_keeps_what_it_is_given),
	    cmocka_unit_test(errors_keep_one_line_and_gain_context),
	    cmocka_unit_test(json_escapes_and_nests),
	    cmocka_unit_test(json_in_names_what_is_wrong),
	    cmocka_unit_test(json_in_numbers_are_exact_or_refused),
	    cmocka_unit_test(half_floats_round_trip),
	    cmocka_unit_test(sizes_do_not_wrap),
	    cmocka_unit_test(test_denormals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
