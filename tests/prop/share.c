/* Buffers that share memory, against memory that is really written: random
 * programs of kernels that make, view, join, cut and write over values. After
 * every step each value that is still to be read holds what it should. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/memory.h"
#include "exec/share.h"
#include "tests/support/support.h"

#define UNIT 64 /* bytes; contents are kept by unit */
#define VALUES 24
#define UNITS_MAX 64

enum what { MAKES, VIEWS, JOINS, CUTS, WRITES_OVER };

struct made {
	enum what what;
	uint32_t in[2], nin; /* JOINS: both are parts, one behind the other */
	uint32_t at; /* CUTS: where in the input */
	uint32_t units, token[UNITS_MAX];
};

struct program {
	uint32_t n;
	struct made value[VALUES]; /* value i is made at time i */
	uint32_t last[VALUES];
	struct share share;
	uint32_t base[VALUES]; /* unit of memory it starts at */
	uint32_t memory[VALUES * UNITS_MAX];
};

static void
fill_fresh(struct made *v, uint32_t i)
{
	for (uint32_t k = 0; k < v->units; k++)
		v->token[k] = 1 + i * UNITS_MAX + k;
}

static void
make_value(struct program *p, uint32_t i, struct rng *r)
{
	struct made *v = &p->value[i];
	const struct made *x, *y;

	*v = (struct made){.what = rng_below(r, 5)};
	if (i < 3)
		v->what = MAKES;
	for (v->nin = 0; i >= 3 && v->nin < 2; v->nin++)
		v->in[v->nin] = i - 1 - rng_below(r, i < 6 ? i : 6);
	x = &p->value[v->in[0]];
	y = &p->value[v->in[1]];
	if (v->what == JOINS && x->units + y->units > UNITS_MAX)
		v->what = VIEWS;
	if (v->what == VIEWS || v->what == CUTS)
		v->nin = 1;
	v->units = v->what == MAKES ? 1 + rng_below(r, 4) : x->units;
	memcpy(v->token, x->token, sizeof v->token);
	if (v->what == CUTS) {
		v->at = rng_below(r, x->units);
		v->units = 1 + rng_below(r, x->units - v->at);
		memcpy(v->token, x->token + v->at, v->units * sizeof *v->token);
	}
	if (v->what == JOINS) {
		v->units = x->units + y->units;
		memcpy(
		    v->token + x->units, y->token, y->units * sizeof *v->token);
	}
	if (v->what == MAKES || v->what == WRITES_OVER)
		fill_fresh(v, i);
	for (uint32_t k = 0; k < v->nin; k++)
		p->last[v->in[k]] = i;
	p->last[i] = i;
}

static uint32_t
share_program(struct program *p, struct arena *a)
{
	uint32_t laid = 0;

	share_init(&p->share, p->n, a);
	for (uint32_t i = 0; i < p->n; i++) {
		p->share.member[i].bytes = (size_t)p->value[i].units * UNIT;
		p->share.member[i].first = i;
		p->share.member[i].last = p->last[i];
	}
	for (uint32_t i = 0; i < p->n; i++) {
		const struct made *v = &p->value[i];
		const ptrdiff_t behind =
		    (ptrdiff_t)p->value[v->in[0]].units * UNIT;

		if (v->what == VIEWS || v->what == JOINS)
			laid += share_lay(&p->share, v->in[0], i, 0);
		if (v->what == JOINS)
			laid += share_lay(&p->share, v->in[1], i, behind);
		if (v->what == CUTS)
			laid += share_lay(
			    &p->share, v->in[0], i, -(ptrdiff_t)v->at * UNIT);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		const struct made *v = &p->value[i];

		if (v->what == WRITES_OVER
		    && p->share.member[v->in[0]].group
		        != p->share.member[v->in[1]].group)
			laid += share_write_over(&p->share, v->in[0], i, i);
	}
	return laid;
}

static void
place_program(struct program *p, struct arena *a)
{
	struct lifetime *l = arena_new(a, struct lifetime, p->n);

	for (uint32_t i = 0; i < p->n; i++) {
		struct share_member all = share_extent(&p->share, i);

		if (p->share.member[i].group == i)
			l[i] = (struct lifetime){
			    all.bytes, all.first, all.last, 0};
	}
	memory_lay_out(l, p->n, a);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t group = p->share.member[i].group;
		ptrdiff_t at =
		    p->share.member[i].at - share_extent(&p->share, group).at;

		p->base[i] = (uint32_t)(l[group].offset + (size_t)at) / UNIT;
	}
}

static bool
holds(const struct program *p, uint32_t i)
{
	return memcmp(&p->memory[p->base[i]], p->value[i].token,
	           p->value[i].units * sizeof *p->memory)
	    == 0;
}

/* Pieces are copied, as kernels do it, where they do not lie right. */
static void
run_step(struct program *p, uint32_t i)
{
	const struct made *v = &p->value[i];
	uint32_t to = p->base[i], from = p->base[v->in[0]] + v->at;

	if (v->what == MAKES || v->what == WRITES_OVER) {
		memcpy(&p->memory[to], v->token, v->units * sizeof *v->token);
		return;
	}
	for (uint32_t k = 0; k < (v->what == JOINS ? 2u : 1u); k++) {
		uint32_t n =
		    v->what == CUTS ? v->units : p->value[v->in[k]].units;

		if (k == 1)
			from = p->base[v->in[1]];
		if (from != to)
			memcpy(&p->memory[to], &p->memory[from],
			    n * sizeof *p->memory);
		to += n;
	}
}

/* The value written over may be gone in the step that does it; nothing else
 * that is read in this step or later. */
static bool
run_program(struct program *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		bool over = p->value[i].what == WRITES_OVER;

		run_step(p, i);
		for (uint32_t k = 0; k <= i; k++)
			if (p->last[k] >= i && !holds(p, k)
			    && !(over && k == p->value[i].in[0]
			        && p->last[k] == i))
				return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : 20000;
	uint32_t failed = 0, laid = 0;
	static struct program p;

	for (uint32_t seed = 0; seed < seeds; seed++) {
		struct rng r = rng_seeded(seed);
		struct arena a;

		arena_init(&a);
		memset(&p, 0, sizeof p);
		p.n = 4 + rng_below(&r, VALUES - 3);
		for (uint32_t i = 0; i < p.n; i++)
			make_value(&p, i, &r);
		laid += share_program(&p, &a);
		place_program(&p, &a);
		if (!run_program(&p)) {
			printf("seed %u: a value was lost\n", (unsigned)seed);
			failed++;
		}
		arena_release(&a);
	}
	printf("%u programs, %u times memory was shared, %u failed\n",
	    (unsigned)seeds, (unsigned)laid, (unsigned)failed);
	return failed != 0 || laid == 0;
}
