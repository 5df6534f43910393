/* What a runner may say has limits: the most of it is taken, one more is refused
 * with the number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/buf.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"
#include "targets/external/runner.h"

/* `before`, then n times `item` with commas between and its # the number of each,
 * then `after`. */
static struct cJSON *
document(const char *before, const char *item, uint64_t n, const char *after)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc;
	struct buf b;

	buf_init(&b);
	buf_str(&b, before);
	for (uint64_t i = 0; i < n; i++) {
		buf_str(&b, i ? "," : "");
		for (const char *at = item; *at; at++)
			if (*at == '#')
				buf_printf(&b, "%" PRIu64, i);
			else
				buf_add(&b, at, 1);
	}
	buf_str(&b, after);
	doc = jsonin_parse(b.data, b.n, "answer", &err);
	buf_release(&b);
	assert_non_null(doc);
	return doc;
}

static bool
takes_rules(uint64_t n, struct err *err)
{
	struct cJSON *doc = document(
	    "{\"marq\":\"hello\",\"version\":1,\"name\":\"npu\","
	    "\"runner_version\":\"1\",\"runs\":true,\"facts\":{},\"rules\":[",
	    "{\"name\":\"npu.relu#\",\"pattern\":\"Relu(*)\"}", n, "]}");
	struct runner_hello hello;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = runner_read_hello(&hello, doc, &a, err);
	if (ok)
		assert_int_equal(hello.nrules, n);
	jsonin_close(doc);
	arena_release(&a);
	return ok;
}

static bool
takes_latencies(uint64_t n, struct err *err)
{
	struct cJSON *doc = document("{\"latencies_ns\":[", "1000", n, "]}");
	struct sample answer = {.n = 0};
	bool ok = runner_read_latencies(&answer, doc, err);

	if (ok)
		assert_int_equal(answer.n, n);
	jsonin_close(doc);
	return ok;
}

static void
expect_bound(bool (*takes)(uint64_t n, struct err *err), enum limit_id which)
{
	struct err err = {.kind = ERR_NONE};

	if (!takes(limit_of(which), &err))
		fail_msg("%s", err.text);
	assert_false(takes(limit_of(which) + 1, &err));
	assert_int_equal(err.kind, ERR_INPUT);
}

static void
rules_have_names_of_their_own(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc =
	    document("{\"marq\":\"hello\",\"version\":1,\"name\":\"npu\","
	             "\"runner_version\":\"1\",\"facts\":{},\"rules\":[",
	        "{\"name\":\"npu.relu\",\"pattern\":\"Relu(*)\"}", 2, "]}");
	struct runner_hello hello;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_false(runner_read_hello(&hello, doc, &a, &err));
	assert_non_null(strstr(err.text, "two rules 'npu.relu'"));
	jsonin_close(doc);
	arena_release(&a);
}

static void
rules_have_a_limit(void **state)
{
	(void)state;
	expect_bound(takes_rules, LIMIT_RUNNER_RULES);
}

static void
latencies_have_a_limit(void **state)
{
	(void)state;
	expect_bound(takes_latencies, LIMIT_RUNNER_LATENCIES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rules_have_names_of_their_own),
	    cmocka_unit_test(rules_have_a_limit),
	    cmocka_unit_test(latencies_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
