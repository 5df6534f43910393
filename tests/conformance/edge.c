/* Third-party corner cases, odd but mostly legal: everything well-formed must
 * import; what is not is refused for the reason given here, never crashes.
 * usage: conformance_edge FOLDER [-v]
 * FOLDER/index.json lists {file: "edge/...", nodes, [expect: accept|reject]}. */
#include <stdio.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"
#include "ir/onnx_read.h"
#include "tests/support/trial.h"

#define SECONDS_LIMIT 20.0

/* Files that are malformed: the end of their path, and words of the message. */
static const struct {
	const char *file, *because;
} refused[] = {
    {"bad_graph.onnx", "input 1 is missing"},
    {"bad_graph_with_dup_value_info.onnx", "defined twice"},
    {"bad_graph_with_no_import_domains.onnx", "no opset_import"},
    {"mul_1.noopset.onnx", "no opset_import"},
    {"bad_names.onnx", "no ir_version"},
    {"corrupt-model.onnx", "byte 0"},
    {"models/ext_weights.onnx", "No such file"},
    {"model_with_external_initializer_come_from_user.onnx", "No such file"},
    {"nested_local_function.onnx", "no operator Fake_2"},
    {"capability.onnx", "no operator FAKE!"},
    {"nested_dup_names.onnx", "no operator Nested"},
    {"toy_subgraph.onnx", "no operator O"},
    {"test_recursive_pattern_building.onnx", "no operator A"},
    {"match_case.onnx", "no operator"},
    {"bad_graph_with_multi_level_errors.onnx", "inner dimensions"},
    {"bad_graph_with_parallel_invalid_nodes.onnx", "inner dimensions"},
    {"model_with_external_initializers.onnx", "is declared"},
    {"high_rank_tensors.onnx", "is declared"},
    {"mixed_rank_broadcasting.onnx", "do not broadcast"},
};

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* Why a file must be refused, or NULL: it must be accepted. */
static const char *
expected_reason(const char *file)
{
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (ends_with(file, refused[i].file))
			return refused[i].because;
	return NULL;
}

/* Nodes the index counts in the file, or -1: for the child to compare. */
static int64_t stated_nodes;

static bool
import_and_count(const char *path, struct err *err)
{
	struct model m;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = onnx_read(&m, path, NULL, &a, err);
	if (ok && stated_nodes >= 0 && m.graph->origin_table->n != stated_nodes)
		ok = err_set(err, ERR_INTERNAL,
		    "%u nodes were read, the index says %lld",
		    m.graph->origin_table->n, (long long)stated_nodes);
	arena_release(&a);
	return ok && trial_import(path, err);
}

static bool
as_expected(const struct cJSON *entry, const char *file, const struct trial *t)
{
	struct err err = {.kind = ERR_NONE};
	const char *expect, *reason = expected_reason(file);

	if (t->verdict != VERDICT_ACCEPT && t->verdict != VERDICT_REJECT)
		return false;
	if (jsonin_has(entry, "expect")
	    && jsonin_str(entry, "expect", &expect, &err))
		return strcmp(expect, "either") == 0
		    || (strcmp(expect, "accept") == 0)
		    == (t->verdict == VERDICT_ACCEPT);
	if (!reason)
		return t->verdict == VERDICT_ACCEPT;
	return t->verdict == VERDICT_REJECT && strstr(t->text, reason);
}

static bool
run_case(const char *folder, const struct cJSON *entry, bool verbose)
{
	struct err err = {.kind = ERR_NONE};
	const char *file, *below;
	char path[4096];
	struct trial t;
	bool ok;

	if (!jsonin_str(entry, "file", &file, &err)) {
		printf("index.json: %s\n", err.text);
		return false;
	}
	stated_nodes = -1;
	if (jsonin_has(entry, "nodes")
	    && !jsonin_i64(entry, "nodes", &stated_nodes, &err))
		return false;
	below = strncmp(file, "edge/", 5) == 0 ? file + 5 : file;
	snprintf(path, sizeof path, "%s/%s", folder, below);
	trial_apart(&t, path, SECONDS_LIMIT, import_and_count);
	ok = as_expected(entry, file, &t);
	if (!ok || verbose)
		printf("%s %s: %s in %.2f s: %s\n", ok ? "ok  " : "FAIL", below,
		    trial_word(t.verdict), t.seconds, t.text);
	return ok;
}

int
main(int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};
	unsigned passed = 0, failed = 0;
	const struct cJSON *entry;
	struct cJSON *doc;
	char index[4096];

	if (argc < 2) {
		fprintf(stderr, "usage: %s FOLDER [-v]\n", argv[0]);
		return 2;
	}
	snprintf(index, sizeof index, "%s/index.json", argv[1]);
	doc = jsonin_open(index, LIMIT_READ_RESULT, &err);
	if (!doc) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	cJSON_ArrayForEach(entry, doc)
	{
		if (run_case(argv[1], entry, argc > 2))
			passed++;
		else
			failed++;
	}
	jsonin_close(doc);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
