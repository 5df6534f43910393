/* What a runner may say (targets/external/README.md), from one nobody vouches
 * for: a hello or a list of latencies is refused, or what comes out of it is
 * usable. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "targets/external/runner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc =
	    jsonin_parse((const char *)data, size, "answer", &err);
	struct runner_hello hello;
	struct sample answer = {.n = 0};
	struct arena a;

	if (!doc)
		return 0;
	arena_init(&a);
	if (runner_read_hello(&hello, doc, &a, &err)) {
		assert(!strpbrk(hello.name, "\r\n") && *hello.name);
		for (uint32_t i = 0; i < hello.nrules; i++)
			assert(hello.rule[i].pattern);
	}
	err_clear(&err);
	if (runner_read_latencies(&answer, doc, &err)) {
		assert(answer.n > 0 && answer.min > 0);
		assert(answer.min <= answer.low && answer.low <= answer.median
		    && answer.median <= answer.high);
	}
	jsonin_close(doc);
	arena_release(&a);
	return 0;
}
