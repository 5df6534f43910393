/* Builds what is accepted: every candidate that any kind accepts of random models
 * is compiled by its library, or priced where it has no kernels, and counted. Usage:
 *	fuzz_builds [-n MODELS] [-s FIRST SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/candidates/generate.h"
#include "tests/support/force.h"

static const char *const kinds[] = {
    "dnnl", "xnnpack", "blas", "native", "mrvl", "host"};
#define NKINDS (sizeof kinds / sizeof *kinds)

struct built {
	uint32_t models, wrong;
	uint32_t accepted[NKINDS], refused[NKINDS];
};

static void
count_candidate(
    struct built *t, uint32_t seed, const struct force *f, uint32_t i)
{
	const struct candidate *c = &f->found.candidate[i];
	const char *name = f->mix.target[c->target].kind->name;
	size_t k = 0;

	while (strcmp(kinds[k], name) != 0)
		k++;
	t->accepted[k]++;
	t->refused[k] += f->refused[i] != NULL;
	if (f->refused[i])
		printf("seed %u: %s: cannot be built: %s\n", (unsigned)seed,
		    force_text(f, i, f->arena), f->refused[i]);
}

/* The kinds that this program was built with. */
static void
usable_kinds(const char *target[NKINDS + 1])
{
	uint32_t n = 0;

	for (size_t k = 0; k < NKINDS; k++) {
		const struct target_kind *kind = target_kind_find(kinds[k]);

		if (kind && !kind->lacks)
			target[n++] = kinds[k];
	}
	target[n] = NULL;
}

static void
try_seed(struct built *t, uint32_t seed)
{
	const char *target[NKINDS + 1];
	struct err err = {.kind = ERR_NONE};
	struct generator g;
	struct arena a;
	struct force f;

	arena_init(&a);
	usable_kinds(target);
	if (!generate(&g, seed, &a)) {
		/* no model came of it */
	} else if (!force_open(&f, g.m.graph, target, false, &a, &err)) {
		t->wrong++;
		printf("seed %u: %s\n", (unsigned)seed, err.text);
	} else {
		t->models++;
		/* (a library may multiply halves wrong on a processor, which
		 * is found out when that is built) */
		for (uint32_t i = 0; i < f.found.n; i++)
			if (!g.halves || f.found.candidate[i].widened)
				count_candidate(t, seed, &f, i);
	}
	arena_release(&a);
}

int
main(int argc, char **argv)
{
	uint32_t n = 200, first = 0, refused = 0;
	struct built t = {0};
	int c;

	while ((c = getopt(argc, argv, "n:s:")) != -1)
		if (c == 'n')
			n = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 's')
			first = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return 2;
	for (uint32_t i = 0; i < n; i++)
		try_seed(&t, first + i);
	printf("%u models of %u seeds from %u:", (unsigned)t.models,
	    (unsigned)n, (unsigned)first);
	for (size_t k = 0; k < NKINDS; k++) {
		refused += t.refused[k];
		printf("%s %s %u accepted, %u cannot be built", k ? ";" : "",
		    kinds[k], (unsigned)t.accepted[k], (unsigned)t.refused[k]);
	}
	printf("\n");
	return t.models == 0 || t.wrong + refused != 0;
}
