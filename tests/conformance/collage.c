/* Collage's behaviour cases: rules that enumerate candidates, validity of
 * regions, costs, whole partitions, and the cases that Collage gets wrong.
 *
 * The rules of that system (seeds, combiners, limits) are modelled here, as
 * sets of nodes in 64 bits; what they offer is priced as the case says and
 * handed to search_exact(). Argument: the file of cases. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "tests/conformance/collage/dag.h"
#include "tests/conformance/collage/kinds.h"

static bool
run_case(const cJSON *test)
{
	const char *kind = text_of(test, "kind");
	struct dag d;

	if (!dag_read(&d, test))
		return false;
	if (strcmp(kind, "candidate_enumeration") == 0)
		return run_enumeration(&d, test);
	if (strcmp(kind, "subgraph_partition") == 0)
		return run_subgraph(&d, test);
	if (strcmp(kind, "candidate_cost") == 0)
		return run_costs(&d, test);
	if (strcmp(kind, "partition") == 0)
		return run_partition(&d, test, false);
	if (strcmp(kind, "beat_collage") == 0)
		return run_partition(&d, test, true);
	return COMPLAIN("kind '%s' is not known", kind);
}

int
main(int argc, char **argv)
{
	struct err err = {0};
	const cJSON *test;
	cJSON *doc;
	unsigned passed = 0, failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: collage CASES.json\n");
		return 2;
	}
	doc = jsonin_open(argv[1], LIMIT_READ_RESULT, &err);
	if (!doc) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	cJSON_ArrayForEach(test, get(doc, "cases"))
	{
		collage_complaint[0] = '\0';
		if (run_case(test)) {
			passed++;
			continue;
		}
		failed++;
		printf(
		    "FAILED %s: %s\n", text_of(test, "id"), collage_complaint);
	}
	jsonin_close(doc);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
