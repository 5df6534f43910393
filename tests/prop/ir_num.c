/* Symbolic arithmetic against plain arithmetic: random expressions are built
 * symbolically, then the names of the results are read as formulas and
 * evaluated under random sizes of N, M and K. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/infer/num.h"
#include "tests/support/support.h"

#define CASES 20000u
#define DEPTH 6u

struct reader {
	const char *p;
	const int64_t *size; /* of N, M, K */
	bool bad;
};

static int64_t read_sum(struct reader *r);

static int64_t
floored(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && a < 0);
}

/* N, 12, floor((sum)/12) */
static int64_t
read_atom(struct reader *r)
{
	static const char names[] = "NMK";
	const char *name;
	int64_t a;

	if (strncmp(r->p, "floor((", 7) == 0) {
		r->p += 7;
		a = read_sum(r);
		if (strncmp(r->p, ")/", 2) != 0) {
			r->bad = true;
			return 0;
		}
		r->p += 2;
		a = floored(a, strtoll(r->p, (char **)(uintptr_t)&r->p, 10));
		r->bad = r->bad || *r->p++ != ')';
		return a;
	}
	name = *r->p ? strchr(names, *r->p) : NULL;
	if (name) {
		r->p++;
		return r->size[name - names];
	}
	if (*r->p < '0' || *r->p > '9') {
		r->bad = true;
		return 0;
	}
	return strtoll(r->p, (char **)(uintptr_t)&r->p, 10);
}

static int64_t
read_product(struct reader *r)
{
	int64_t v = read_atom(r);

	while (*r->p == '*' && !r->bad) {
		r->p++;
		v *= read_atom(r);
	}
	return v;
}

static int64_t
read_sum(struct reader *r)
{
	int64_t v = 0, sign = 1;

	for (;;) {
		if (*r->p == '-' || *r->p == '+')
			sign = *r->p++ == '-' ? -1 : 1;
		v += sign * read_product(r);
		if (r->bad || (*r->p != '-' && *r->p != '+'))
			return v;
	}
}

/* A number with what it is under the sizes. */
struct pair {
	struct num n;
	int64_t v;
};

static struct pair
leaf(struct rng *rng, const struct num *symbol, const int64_t *size)
{
	uint32_t k = rng_below(rng, 5);

	if (k < 3)
		return (struct pair){symbol[k], size[k]};
	k = rng_below(rng, 6);
	return (struct pair){num_int(k), k};
}

static bool
step(struct symbols *s, struct rng *rng, struct pair *a, struct pair b)
{
	struct num top[2] = {a->n, b.n};

	switch (rng_below(rng, 5)) {
	case 0:
		a->v += b.v;
		return num_add(s, a->n, b.n, &a->n);
	case 1:
		a->v -= b.v;
		return num_sub(s, a->n, b.n, &a->n);
	case 2:
		a->v *= b.v;
		return num_mul(s, a->n, b.n, &a->n);
	case 3:
		if (!b.n.known || b.v == 0)
			return true;
		a->v = floored(a->v, b.v);
		return num_div_floor(s, a->n, b.n, &a->n);
	default: /* a * b / b */
		return b.v == 0 || num_quotient(s, top, 2, &b.n, 1, &a->n);
	}
}

static bool
agrees(const struct graph *g, struct pair x, const int64_t *size, bool *named)
{
	struct reader r = {NULL, size, false};

	if (x.n.known)
		return x.n.v == x.v;
	if (x.n.v == DIM_UNKNOWN)
		return true;
	*named = true;
	r.p = g->symbol[DIM_SYMBOL(0) - x.n.v];
	return read_sum(&r) == x.v && !r.bad && *r.p == '\0';
}

static bool
run_case(uint64_t seed, bool *named)
{
	static const char *const name[] = {"N", "M", "K"};
	struct rng rng = rng_seeded(seed);
	struct symbols s;
	struct num symbol[3];
	struct pair x;
	int64_t size[3];
	struct arena a;
	bool ok = true;

	arena_init(&a);
	symbols_init(&s, graph_new(&a, "g"), &a);
	for (uint32_t i = 0; i < 3; i++) {
		symbol[i] = num_dim(symbols_named(&s, name[i]));
		size[i] = 1 + rng_below(&rng, 9);
	}
	x = leaf(&rng, symbol, size);
	for (uint32_t i = rng_below(&rng, DEPTH); i-- > 0 && ok;) {
		ok = step(&s, &rng, &x, leaf(&rng, symbol, size));
		ok = ok && agrees(s.g, x, size, named);
	}
	arena_release(&a);
	return ok;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t cases = argc > 1 ? 1 : CASES, symbolic = 0;

	for (uint64_t seed = first; seed < first + cases; seed++) {
		bool named = false;

		if (!run_case(seed, &named)) {
			printf("seed %" PRIu64 " fails\n", seed);
			return 1;
		}
		symbolic += named;
	}
	printf("%u cases, %u of them symbolic\n", cases, symbolic);
	return argc == 1 && symbolic < cases / 4;
}
