#include "ir/infer/num.h"

#include <string.h>

#include "ir/base/size.h"

struct sym_form {
	uint32_t n;
};

void
symbols_init(struct symbols *s, struct graph *g, struct arena *a)
{
	*s = (struct symbols){.g = g, .arena = a};
	map_init(&s->by_name, a);
	for (uint32_t i = 0; i < g->nsymbols; i++)
		map_add(&s->by_name, g->symbol[i], strlen(g->symbol[i]), i);
}

int64_t
symbols_named(struct symbols *s, const char *name)
{
	struct graph *g = s->g;
	uint32_t found = map_find(&s->by_name, name, strlen(name));

	if (found != MAP_NONE)
		return DIM_SYMBOL(found);
	g->symbol = arena_grow(g->arena, g->symbol, &g->symbol_cap,
	    g->nsymbols + 1, sizeof *g->symbol);
	g->symbol[g->nsymbols] = arena_str(g->arena, name);
	map_add(&s->by_name, g->symbol[g->nsymbols], strlen(name), g->nsymbols);
	return DIM_SYMBOL(g->nsymbols++);
}

bool
symbol_is_anonymous(const char *name)
{
	return name[0] == '\0' || strcmp(name, "?") == 0
	    || strcmp(name, "None") == 0 || strncmp(name, "unk__", 5) == 0;
}

static bool
is_int(struct num a, int64_t v)
{
	return a.known && a.v == v;
}

bool
num_add(struct symbols *s, struct num a, struct num b, struct num *out)
{
	int64_t v;

	(void)s;
	if (a.known && b.known) {
		if (!i64_add(a.v, b.v, &v))
			return false;
		*out = num_int(v);
	} else if (is_int(a, 0) || is_int(b, 0)) {
		*out = is_int(a, 0) ? b : a;
	} else {
		*out = NUM_UNKNOWN;
	}
	return true;
}

bool
num_sub(struct symbols *s, struct num a, struct num b, struct num *out)
{
	int64_t minus;

	if (b.known)
		return i64_mul(b.v, -1, &minus)
		    && num_add(s, a, num_int(minus), out);
	*out = num_same(a, b) ? num_int(0) : NUM_UNKNOWN;
	return true;
}

bool
num_mul(struct symbols *s, struct num a, struct num b, struct num *out)
{
	int64_t v;

	(void)s;
	if (a.known && b.known) {
		if (!i64_mul(a.v, b.v, &v))
			return false;
		*out = num_int(v);
	} else if (is_int(a, 1) || is_int(b, 1)) {
		*out = is_int(a, 1) ? b : a;
	} else if (is_int(a, 0) || is_int(b, 0)) {
		*out = num_int(0);
	} else {
		*out = NUM_UNKNOWN;
	}
	return true;
}

static bool
floor_div(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = a / b - (a % b != 0 && (a < 0) != (b < 0));
	return true;
}

bool
num_div_floor(struct symbols *s, struct num a, struct num b, struct num *out)
{
	int64_t v;

	(void)s;
	if (a.known && b.known) {
		if (!floor_div(a.v, b.v, &v))
			return false;
		*out = num_int(v);
	} else if (is_int(b, 0)) {
		return false;
	} else if (is_int(b, 1)) {
		*out = a;
	} else {
		*out = num_same(a, b) ? num_int(1) : NUM_UNKNOWN;
	}
	return true;
}

/* Multiply the known numbers into *coefficient, list the symbols in sym[]. */
static bool
split_product(const struct num *x, uint32_t n, int64_t *coefficient,
    int64_t *sym, uint32_t *nsym)
{
	*coefficient = 1;
	*nsym = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!x[i].known)
			sym[(*nsym)++] = x[i].v;
		else if (!i64_mul(*coefficient, x[i].v, coefficient))
			return false;
	}
	return true;
}

/* Remove from top[] each symbol of bottom[]; false when one does not cancel. */
static bool
cancel(int64_t *top, uint32_t *ntop, const int64_t *bottom, uint32_t nbottom)
{
	for (uint32_t i = 0; i < nbottom; i++) {
		uint32_t k = 0;

		while (k < *ntop && top[k] != bottom[i])
			k++;
		if (k == *ntop || bottom[i] == DIM_UNKNOWN)
			return false;
		top[k] = top[--*ntop];
	}
	return true;
}

bool
num_quotient(struct symbols *s, const struct num *top, uint32_t ntop,
    const struct num *bottom, uint32_t nbottom, struct num *out)
{
	int64_t *up = arena_new(s->arena, int64_t, ntop);
	int64_t *down = arena_new(s->arena, int64_t, nbottom);
	int64_t a, b;
	uint32_t nup, ndown;

	*out = NUM_UNKNOWN;
	if (!split_product(top, ntop, &a, up, &nup)
	    || !split_product(bottom, nbottom, &b, down, &ndown))
		return false;
	if (!cancel(up, &nup, down, ndown) || b == 0 || a % b != 0)
		return true;
	*out = num_int(a / b);
	for (uint32_t i = 0; i < nup; i++)
		if (!num_mul(s, *out, num_dim(up[i]), out))
			return false;
	return true;
}
