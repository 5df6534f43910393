/* Problem files. Input that is no JSON object is the seed of a random problem that
 * is written with a port that nothing feeds, which must be refused. */
#include <stdio.h>

#include "ir/base/json.h"
#include "search/problem_json.h"
#include "tests/fuzz/solved.h"
#include "tests/support/problems.h"

static const struct problem_mix everything = {5, 8, 3, 3, .launches = true,
    .limits = true, .marks = true, .taps = true, .resources = true,
    .parts = true, .local = true};

static uint64_t
seed_of(const uint8_t *data, size_t size)
{
	uint64_t seed = size;

	for (size_t i = 0; i < size; i++)
		seed = seed * 1099511628211u + data[i];
	return seed;
}

/* Is the text refused for the port? */
static bool
is_refused(const char *text, size_t n, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct problem back;

	return !problem_parse(&back, text, n, "fuzz", a, &err)
	    && err.kind == ERR_INPUT;
}

static void
refuse_spoilt(const uint8_t *data, size_t size)
{
	struct rng r = rng_seeded(seed_of(data, size));
	struct problem *p;
	struct arena a;
	uint32_t port;

	arena_init(&a);
	p = problem_random(&r, &everything, &a);
	if (problem_spoil(p, rng_below(&r, p->ncandidates), &port, &r, &a)) {
		char *text = NULL;
		size_t n;
		FILE *f = open_memstream(&text, &n);
		struct json j;

		json_init(&j, f, 1);
		problem_write(p, &j);
		fclose(f);
		if (!is_refused(text, n, &a))
			abort();
		free(text);
	}
	arena_release(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && size <= 16 && data[0] != '{')
		refuse_spoilt(data, size);
	return solve_parsed(problem_parse, data, size);
}
