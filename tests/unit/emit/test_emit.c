/* What is written: the same bytes for the same plan, documents that parse and
 * agree with each other, and names that stay names. Golden files hold what
 * matters of each; costs and times are not in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>
#include <cmocka.h>

#include "emit/emit.h"
#include "emit/report/page.h"
#include "emit/writers.h"
#include "ir/base/jsonin.h"
#include "tests/support/plans.h"
#include "tests/support/support.h"

static struct arena arena;
static struct small_plan small;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	small_plan_init(&small, false, &arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

typedef bool (*writer)(FILE *f, const struct emit_work *w, struct err *err);

/* What a writer writes, in memory; free() it. */
static char *
text_of(writer write, const struct small_plan *s, size_t *n)
{
	struct emit_in in = {
	    .model = &s->model, .plan = &s->plan, .command = "marq search"};
	struct err err = {.kind = ERR_NONE};
	struct emit_work w;
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	emit_work_init(&w, &in, &arena);
	assert_true(write(f, &w, &err));
	fclose(f);
	return text;
}

static struct cJSON *
json_of(writer write, const struct small_plan *s)
{
	struct err err = {.kind = ERR_NONE};
	size_t n;
	char *text = text_of(write, s, &n);
	struct cJSON *doc = jsonin_parse(text, n, "written", &err);

	if (!doc)
		fail_msg("%s", err.text);
	free(text);
	return doc;
}

static const char *
string_in(const struct cJSON *object, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

static int
int_in(const struct cJSON *object, const char *key)
{
	const struct cJSON *item = cJSON_GetObjectItem(object, key);

	assert_true(cJSON_IsNumber(item));
	return item->valueint;
}

static const struct cJSON *
list_in(const struct cJSON *object, const char *key)
{
	const struct cJSON *item = cJSON_GetObjectItem(object, key);

	assert_true(cJSON_IsArray(item));
	return item;
}

static void
test_same_bytes(void **state)
{
	static const writer all[] = {write_result, write_map, write_provenance,
	    write_markdown, write_trace, write_partitioned, write_alternatives,
	    write_html};
	struct small_plan again;

	(void)state;
	small_plan_init(&again, false, &arena);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		size_t n, m;
		char *a = text_of(all[i], &small, &n);
		char *b = text_of(all[i], &again, &m);

		assert_int_equal(n, m);
		assert_memory_equal(a, b, n);
		free(a);
		free(b);
	}
}

/* One line a composite: the plan without costs. */
static char *
outline(const struct cJSON *plan)
{
	const struct cJSON *c, *node;
	struct buf b;
	char *text;

	buf_init(&b);
	cJSON_ArrayForEach(c, list_in(plan, "composites"))
	{
		buf_printf(&b, "%d region %d target %d %s %s:", int_in(c, "id"),
		    int_in(c, "region"), int_in(c, "target"),
		    string_in(c, "rule"), string_in(c, "implementation"));
		cJSON_ArrayForEach(node, list_in(c, "nodes"))
		    buf_printf(&b, " %s", cJSON_GetStringValue(node));
		buf_str(&b, "\n");
	}
	cJSON_ArrayForEach(c, list_in(plan, "conversions"))
	    buf_printf(&b, "%s %s -> %s\n", string_in(c, "value"),
	        string_in(c, "from"), string_in(c, "to"));
	text = arena_strn(&arena, b.data, b.n);
	buf_release(&b);
	return text;
}

static void
test_plan(void **state)
{
	struct cJSON *doc = json_of(write_result, &small);
	const struct cJSON *plan = cJSON_GetObjectItem(doc, "plan");

	(void)state;
	assert_string_equal(string_in(doc, "schema"), "marq.result/3");
	assert_string_equal(string_in(plan, "schema"), "marq.plan/1");
	assert_string_equal(outline(plan),
	    "0 region 0 target 0 npu.conv nhwc: v3 v4\n"
	    "1 region 0 target 0 npu.pool nhwc: v5\n"
	    "2 region 1 target 1 host.any plain: v6\n"
	    "3 region 2 target 0 npu.conv nhwc: v9 v10\n"
	    "4 region 3 target 1 host.any plain: v11\n"
	    "5 region 3 target 1 host.any plain: v12\n"
	    "6 region 3 target 1 host.any plain: y\n"
	    "x host/plain -> mrvl/nhwc/float16\n"
	    "v5 mrvl/nhwc/float16 -> host/plain\n"
	    "v6 host/plain -> mrvl/nhwc/float16\n"
	    "v10 mrvl/nhwc/float16 -> host/plain\n");
	jsonin_close(doc);
}

/* The parts of the total add up to it, and so do the composites. */
static void
test_totals(void **state)
{
	struct cJSON *doc = json_of(write_result, &small);
	const struct cJSON *total = cJSON_GetObjectItem(doc, "total"), *c;
	const struct cJSON *plan = cJSON_GetObjectItem(doc, "plan");
	int sum = 0;

	(void)state;
	cJSON_ArrayForEach(c, list_in(plan, "composites")) sum +=
	    int_in(c, "cost_ns");
	assert_int_equal(sum, int_in(total, "composites_ns"));
	cJSON_ArrayForEach(c, list_in(plan, "conversions")) sum +=
	    int_in(c, "cost_ns");
	cJSON_ArrayForEach(c, list_in(plan, "regions")) sum +=
	    int_in(c, "launch_ns");
	assert_int_equal(sum, int_in(total, "cost_ns"));
	assert_int_equal(sum, small.plan.cost);
	assert_true(int_in(total, "low_ns") < sum);
	assert_true(int_in(total, "high_ns") > sum);
	jsonin_close(doc);
}

/* From every ONNX node to its composite and back. */
static void
test_map_both_ways(void **state)
{
	struct cJSON *doc = json_of(write_map, &small);
	const struct cJSON *counts = cJSON_GetObjectItem(doc, "counts"), *o;
	const struct cJSON *nodes = list_in(doc, "nodes");
	int covered = 0;

	(void)state;
	assert_int_equal(int_in(counts, "covered"), 9);
	assert_int_equal(int_in(counts, "folded"), 1);
	assert_int_equal(int_in(counts, "dropped"), 1);
	cJSON_ArrayForEach(o, list_in(doc, "onnx"))
	{
		const struct cJSON *link, *back, *from;

		cJSON_ArrayForEach(link, list_in(o, "nodes"))
		{
			back = cJSON_GetArrayItem(nodes, int_in(link, "node"));
			from = cJSON_GetArrayItem(list_in(back, "onnx"), 0);
			assert_int_equal(int_in(from, "id"), int_in(o, "id"));
			covered++;
		}
	}
	assert_int_equal(covered, 9);
	jsonin_close(doc);
}

/* A node nobody carries but that was said to be covered. */
static void
test_conservation_is_checked(void **state)
{
	struct emit_in in = {.model = &small.model, .plan = &small.plan};
	struct err err = {.kind = ERR_NONE};
	struct emit_work w;
	FILE *f = tmpfile();

	(void)state;
	emit_work_init(&w, &in, &arena);
	small.model.graph->origin_table->node[9].fate = FATE_COVERED;
	assert_false(write_map(f, &w, &err));
	assert_int_equal(err.kind, ERR_INTERNAL);
	assert_non_null(strstr(err.text, "'shape' (Shape)"));
	small.model.graph->origin_table->node[9].fate = FATE_FOLDED;
	fclose(f);
}

/* Slices of a track do not overlap and end with the plan; arrows start inside a
 * slice. */
static void
test_trace(void **state)
{
	struct cJSON *doc = json_of(write_trace, &small);
	const struct cJSON *e;
	double end = 0;
	int starts = 0, ends = 0;

	(void)state;
	cJSON_ArrayForEach(e, list_in(doc, "traceEvents"))
	{
		const char *phase = string_in(e, "ph");
		const struct cJSON *ts = cJSON_GetObjectItem(e, "ts");
		const struct cJSON *dur = cJSON_GetObjectItem(e, "dur");

		starts += strcmp(phase, "s") == 0;
		ends += strcmp(phase, "f") == 0;
		if (strcmp(phase, "X") != 0)
			continue;
		assert_true(cJSON_IsNumber(ts) && cJSON_IsNumber(dur));
		assert_true(ts->valuedouble > end - 1e-6);
		end = ts->valuedouble + dur->valuedouble;
	}
	assert_int_equal(starts, 4);
	assert_int_equal(ends, 4);
	assert_true(end > (double)small.plan.cost / 1e3 - 1e-6);
	assert_true(end < (double)small.plan.cost / 1e3 + 1e-6);
	jsonin_close(doc);
}

static void
test_hostile_names(void **state)
{
	static const writer all[] = {write_result, write_map, write_provenance,
	    write_trace, write_alternatives};
	struct small_plan hostile;
	size_t n;
	char *text;

	(void)state;
	small_plan_init(&hostile, true, &arena);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		jsonin_close(json_of(all[i], &hostile));
	text = text_of(write_markdown, &hostile, &n);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<img"));
	free(text);
	text = text_of(write_html, &hostile, &n);
	assert_null(strstr(text, "<img"));
	assert_null(strstr(text, "</script><"));
	assert_non_null(strstr(text, "u003c/script"));
	free(text);
}

/* What a page of the documents' texts is. */
static char *
page_of_texts(const struct small_plan *s, size_t *n)
{
	static const writer all[NPAGE_DOCS] = {
	    write_result, write_map, write_provenance, write_alternatives};
	struct err err = {.kind = ERR_NONE};
	struct page_docs d = {.doc = {NULL}};
	char *text = NULL;
	FILE *f;

	for (int i = 0; i < NPAGE_DOCS; i++) {
		char *doc = text_of(all[i], s, n);

		assert_true(
		    page_docs_take(&d, (enum page_doc)i, doc, *n, &err));
		free(doc);
	}
	f = open_memstream(&text, n);
	assert_true(page_write(f, &d, &err));
	fclose(f);
	page_docs_close(&d);
	return text;
}

/* A search's page is the one that `marq report` makes of its files. */
static void
test_page_of_files(void **state)
{
	(void)state;
	for (int hostile = 0; hostile < 2; hostile++) {
		struct small_plan s;
		size_t n, m;
		char *a, *b;

		small_plan_init(&s, hostile, &arena);
		a = text_of(write_html, &s, &n);
		b = page_of_texts(&s, &m);
		assert_int_equal(n, m);
		assert_memory_equal(a, b, n);
		free(a);
		free(b);
	}
}

/* A composite's other candidates: same nodes first, the cheapest first. */
static void
test_alternatives(void **state)
{
	struct cJSON *doc = json_of(write_alternatives, &small);
	const struct cJSON *first =
	    cJSON_GetArrayItem(list_in(doc, "composites"), 0);
	const struct cJSON *others = list_in(first, "others");

	(void)state;
	/* conv+relu on npu: conv alone on npu; conv, relu on the host */
	assert_int_equal(int_in(first, "count"), 3);
	assert_int_equal(cJSON_GetArraySize(others), 3);
	assert_string_equal(
	    string_in(cJSON_GetArrayItem(others, 0), "rule"), "npu.conv");
	assert_int_equal(int_in(cJSON_GetArrayItem(others, 0), "ns"), 2000);
	assert_int_equal(int_in(cJSON_GetArrayItem(others, 1), "ns"), 20000);
	jsonin_close(doc);
}

static void
test_unknown_artefact(void **state)
{
	struct err err = {.kind = ERR_NONE};

	(void)state;
	assert_true(emit_check(NULL, &err));
	assert_true(emit_check("json,onnx,report,trace", &err));
	assert_false(emit_check("json,nonsense", &err));
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "'nonsense'"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_bytes),
	    cmocka_unit_test(test_plan),
	    cmocka_unit_test(test_totals),
	    cmocka_unit_test(test_map_both_ways),
	    cmocka_unit_test(test_conservation_is_checked),
	    cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_hostile_names),
	    cmocka_unit_test(test_page_of_files),
	    cmocka_unit_test(test_alternatives),
	    cmocka_unit_test(test_unknown_artefact),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
