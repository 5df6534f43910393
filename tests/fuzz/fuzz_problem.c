/* Problem files. */
#include "search/problem_json.h"
#include "tests/fuzz/solved.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return solve_parsed(problem_parse, data, size);
}
