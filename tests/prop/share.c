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
#define PARTS 12

enum what { MAKES, VIEWS, JOINS, CUTS, WRITES_OVER };

struct made {
	enum what what;
	uint32_t in[PARTS], nin; /* JOINS: parts, one behind the other */
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

/* Some are what an earlier value is that joins, and more: dense blocks. */
static void
choose_parts(struct program *p, uint32_t i, struct rng *r)
{
	struct made *v = &p->value[i];
	const struct made *earlier = &p->value[rng_below(r, i)];

	v->nin = v->what == MAKES ? 0 : 1;
	if (v->what == JOINS && earlier->what == JOINS
	    && earlier->nin + 1 < PARTS) {
		v->nin = earlier->nin;
		memcpy(v->in, earlier->in, sizeof v->in);
	} else if (v->nin)
		v->in[0] = i - 1 - rng_below(r, i < 6 ? i : 6);
	if (v->what == JOINS || v->what == WRITES_OVER)
		v->in[v->nin++] = i - 1 - rng_below(r, i < 6 ? i : 6);
}

static void
join_parts(struct program *p, struct made *v)
{
	v->units = 0;
	for (uint32_t k = 0; k < v->nin; k++) {
		const struct made *x = &p->value[v->in[k]];

		if (v->units + x->units > UNITS_MAX) {
			v->nin = k;
			return;
		}
		memcpy(
		    v->token + v->units, x->token, x->units * sizeof *v->token);
		v->units += x->units;
	}
}

static void
make_value(struct program *p, uint32_t i, struct rng *r)
{
	struct made *v = &p->value[i];
	const struct made *x;

	*v = (struct made){.what = rng_below(r, 5)};
	if (i < 3)
		v->what = MAKES;
	else
		choose_parts(p, i, r);
	x = &p->value[v->in[0]];
	v->units = v->what == MAKES ? 1 + rng_below(r, 4) : x->units;
	memcpy(v->token, x->token, sizeof v->token);
	if (v->what == CUTS) {
		v->at = rng_below(r, x->units);
		v->units = 1 + rng_below(r, x->units - v->at);
		memcpy(v->token, x->token + v->at, v->units * sizeof *v->token);
	}
	if (v->what == JOINS)
		join_parts(p, v);
	if (v->what == MAKES || v->what == WRITES_OVER)
		fill_fresh(v, i);
	for (uint32_t k = 0; k < v->nin; k++)
		p->last[v->in[k]] = i;
	p->last[i] = i;
}

/* What a value holds of others lies where it belongs, where that can be. */
static uint32_t
lay_value(struct program *p, uint32_t i)
{
	const struct made *v = &p->value[i];
	struct share_claim claim[PARTS];
	ptrdiff_t at = -(ptrdiff_t)v->at * UNIT;

	if (v->what == MAKES || v->what == WRITES_OVER)
		return 0;
	for (uint32_t k = 0; k < v->nin; k++) {
		claim[k] = (struct share_claim){v->in[k], i, at};
		at += (ptrdiff_t)p->value[v->in[k]].units * UNIT;
	}
	return share_lay(&p->share, claim, v->nin);
}

static void
share_init_program(struct program *p, struct arena *a)
{
	share_init(&p->share, p->n, a);
	for (uint32_t i = 0; i < p->n; i++) {
		p->share.member[i].bytes = (size_t)p->value[i].units * UNIT;
		p->share.member[i].first = i;
		p->share.member[i].last = p->last[i];
	}
}

static uint32_t
share_program(struct program *p, struct arena *a)
{
	uint32_t laid = 0;

	share_init_program(p, a);
	for (uint32_t i = 0; i < p->n; i++)
		laid += lay_value(p, i);
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
	uint32_t to = p->base[i], from;

	if (v->what == MAKES || v->what == WRITES_OVER) {
		memcpy(&p->memory[to], v->token, v->units * sizeof *v->token);
		return;
	}
	for (uint32_t k = 0; k < v->nin; k++) {
		uint32_t n =
		    v->what == CUTS ? v->units : p->value[v->in[k]].units;

		from = p->base[v->in[k]] + v->at;
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

/* A dense block: each joins all that is made, and what is made next is one more.
 * Whatever the order of the claims, nothing is left to be copied. */
static bool
lay_dense_block(struct program *p, uint32_t layers, struct arena *a)
{
	uint32_t wanted = 0, laid = 0;

	memset(p, 0, sizeof *p);
	p->n = 2 * layers + 1;
	for (uint32_t i = 0; i < p->n; i++) {
		struct made *v = &p->value[i];

		*v = (struct made){.what = MAKES, .units = 1 + i % 3};
		if (i > 0 && i % 2 == 0) {
			v->what = JOINS;
			for (uint32_t k = 0; k < i; k += k ? 2 : 1)
				v->in[v->nin++] = k;
			join_parts(p, v);
		} else
			fill_fresh(v, i);
		for (uint32_t k = 0; k < v->nin; k++)
			p->last[v->in[k]] = i;
	}
	share_init_program(p, a);
	for (uint32_t i = 0; i < p->n; i++) {
		wanted += p->value[i].nin;
		laid += lay_value(p, i);
	}
	place_program(p, a);
	return laid == wanted && run_program(p);
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
	for (uint32_t layers = 1; layers < PARTS; layers++) {
		struct arena a;

		arena_init(&a);
		if (!lay_dense_block(&p, layers, &a)) {
			printf("%u dense layers: copied\n", (unsigned)layers);
			failed++;
		}
		arena_release(&a);
	}
	printf("%u programs, %u times memory was shared, %u failed\n",
	    (unsigned)seeds, (unsigned)laid, (unsigned)failed);
	return failed != 0 || laid == 0;
}
