/* Kernels of our own against each library's best way, shape by shape: weights,
 * images and all in the caches, in turns. `bench_native [ROUNDS] [all]`; with `all`
 * every tile and block of Winograd is run, offered or not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/contest.h"
#include "costmodel/trial.h"
#include "ir/base/clock.h"
#include "targets/candidates.h"
#include "targets/native/winograd.h"
#include "tests/support/make.h"

struct shape {
	const char *of;
	int64_t channels, filters, size;
};

static const struct shape shapes[] = {
    {"ResNet", 64, 64, 56},
    {"ResNet", 128, 128, 28},
    {"ResNet", 256, 256, 14},
    {"ResNet", 512, 512, 7},
    {"VGG", 64, 64, 224},
    {"VGG", 128, 128, 112},
    {"VGG", 256, 256, 56},
    {"VGG", 512, 512, 28},
    {"VGG", 512, 512, 14},
    {"SqueezeNet", 16, 64, 55},
    {"SqueezeNet", 32, 128, 27},
    {"SqueezeNet", 64, 256, 13},
    {"Inception", 96, 128, 28},
    {"UNet", 32, 32, 256},
};

#define NSHAPES (sizeof shapes / sizeof *shapes)
#define ROUNDS_MAX 200

struct entry {
	const char *kind;
	struct candidate candidate;
	struct trial trial;
	cost_ns time[ROUNDS_MAX];
};

struct field {
	struct maker maker;
	struct mix mix;
	struct candidates found;
	struct entry *entry;
	uint32_t n, rounds;
	struct arena arena;
};

static void
quit(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* A convolution and what follows it in most networks. */
static void
make(struct field *f, const struct shape *s)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	struct maker *m = &f->maker;
	value_id x, w, b;

	make_begin(m, &f->arena);
	x = make_input(m, DIMS(1, s->channels, s->size, s->size));
	w = make_constant(m, DIMS(s->filters, s->channels, 3, 3), -.1f, .1f);
	b = make_constant(m, DIMS(s->filters), -1, 1);
	make_output(m, MAKE(m, RELU, MAKE_WITH(m, CONV, same, x, w, b)));
	make_end(m);
}

static void
enter(struct field *f, const struct candidate *c)
{
	struct entry *e = &f->entry[f->n];
	struct err err = {.kind = ERR_NONE};

	e->kind = f->mix.target[c->target].kind->name;
	e->candidate = *c;
	if (trial_open(&e->trial, f->maker.graph, &f->mix, &e->candidate,
	        &f->arena, &err))
		f->n++;
}

static void
find(struct field *f, bool all)
{
	static const char *const targets[] = {
	    "dnnl", "xnnpack", "blas", "native"};
	struct err err = {.kind = ERR_NONE};

	if (!mix_open(&f->mix, targets, 4, &f->arena, &err)
	    || !candidates_find(
	        &f->found, f->maker.graph, &f->mix, NULL, &f->arena, &err))
		quit(&err);
	f->entry =
	    arena_new(&f->arena, struct entry, f->found.n + WINOGRAD_WAYS * 2);
	for (uint32_t i = 0; i < f->found.n; i++) {
		struct candidate c = f->found.candidate[i];
		const char *kind = f->mix.target[c.target].kind->name;

		if (c.nnodes != 2 || strcmp(kind, "host") == 0)
			continue;
		enter(f, &c);
		if (!all || strcmp(kind, "native") != 0 || f->n == 0
		    || strcmp(f->entry[f->n - 1].kind, "native") != 0)
			continue;
		f->n--;
		for (uint32_t k = 0; k < WINOGRAD_WAYS; k++) {
			c.implementation = k * WINOGRAD_PLACES;
			c.implementation_name =
			    arena_printf(&f->arena, "way %u", (unsigned)k);
			enter(f, &c);
		}
		return;
	}
}

static void
run(struct field *f)
{
	for (uint32_t r = 0; r < f->rounds; r++)
		for (uint32_t i = 0; i < f->n; i++) {
			struct entry *e = &f->entry[(i + r) % f->n];
			cost_ns began;

			trial_run(&e->trial);
			began = clock_ns();
			trial_run(&e->trial);
			e->time[r] = clock_ns() - began;
		}
}

static const struct entry *
best(const struct field *f, const char *kind, cost_ns *ns)
{
	const struct entry *found = NULL;

	*ns = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		struct entry *e = &f->entry[i];
		const cost_ns t = cost_median(e->time, f->rounds);

		if (strcmp(e->kind, kind) == 0 && (!found || t < *ns)) {
			*ns = t;
			found = e;
		}
	}
	return found;
}

static void
print(const struct field *f, const struct shape *s, bool all)
{
	static const char *const kinds[] = {"dnnl", "xnnpack", "blas"};
	cost_ns own, other;
	const struct entry *e = best(f, "native", &own);

	printf("| %s %d %d %dx%d | %s | %.0f |", s->of, (int)s->channels,
	    (int)s->filters, (int)s->size, (int)s->size,
	    e ? e->candidate.implementation_name : "-", (double)own / 1e3);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (best(f, kinds[k], &other))
			printf(" %.0f (%.2f) |", (double)other / 1e3,
			    (double)own / (double)other);
		else
			printf(" - |");
	printf("\n");
	for (uint32_t i = 0; all && i < f->n; i++)
		if (strcmp(f->entry[i].kind, "native") == 0)
			printf("  %s: %.0f us\n",
			    f->entry[i].candidate.implementation_name,
			    (double)cost_median(f->entry[i].time, f->rounds)
			        / 1e3);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const bool all = argc > 2 && strcmp(argv[2], "all") == 0;
	const int rounds = argc > 1 ? atoi(argv[1]) : 15;

	printf(
	    "| shape | own way | us | oneDNN us (ratio) | XNNPACK | OpenBLAS "
	    "|\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < NSHAPES; i++) {
		struct field f = {.rounds = rounds < 1 ? 1
		        : rounds > ROUNDS_MAX          ? ROUNDS_MAX
		                                       : (uint32_t)rounds};

		arena_init(&f.arena);
		make(&f, &shapes[i]);
		find(&f, all);
		run(&f);
		print(&f, &shapes[i], all);
		for (uint32_t k = 0; k < f.n; k++)
			trial_close(&f.entry[k].trial);
		arena_release(&f.arena);
	}
	return 0;
}
