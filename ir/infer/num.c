#include "ir/infer/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/size.h"

/* TUNING: expressions real models make have one or two terms; longer ones and
 * more of them are just unknown. */
#define MAX_TERMS 6u
#define MAX_FACTORS 6u
#define MAX_NAME 120u
#define MAX_DERIVED 8192u

struct term {
	int64_t coefficient;
	uint32_t atom; /* a symbol that is no sum */
};

/* constant + sum of terms, sorted by atom. */
struct sum {
	int64_t constant;
	uint32_t n;
	struct term term[MAX_TERMS];
};

/* What a derived symbol stands for: a sum, or a product of atoms (itself an
 * atom of sums). Symbols of the model are neither. */
struct sym_form {
	const struct sum *sum;
	uint32_t nfactors;
	uint32_t factor[MAX_FACTORS]; /* ascending */
};

void
symbols_init(struct symbols *s, struct graph *g, struct arena *a)
{
	*s = (struct symbols){.g = g, .arena = a};
	map_init(&s->by_name, a);
	for (uint32_t i = 0; i < g->nsymbols; i++)
		map_add(&s->by_name, g->symbol[i], strlen(g->symbol[i]), i);
}

static uint32_t
add_symbol(struct symbols *s, const char *name)
{
	struct graph *g = s->g;

	g->symbol = arena_grow(g->arena, g->symbol, &g->symbol_cap,
	    g->nsymbols + 1, sizeof *g->symbol);
	g->symbol[g->nsymbols] = arena_str(g->arena, name);
	map_add(&s->by_name, g->symbol[g->nsymbols], strlen(name), g->nsymbols);
	return g->nsymbols++;
}

int64_t
symbols_named(struct symbols *s, const char *name)
{
	uint32_t found = map_find(&s->by_name, name, strlen(name));

	return DIM_SYMBOL(found != MAP_NONE ? found : add_symbol(s, name));
}

/* A name of digits only could be taken for a number in an expression. */
static bool
is_number(const char *name)
{
	return strspn(name, "0123456789") == strlen(name);
}

bool
symbol_is_anonymous(const char *name)
{
	return is_number(name) || strcmp(name, "?") == 0
	    || strcmp(name, "None") == 0 || strncmp(name, "unk__", 5) == 0;
}

static uint32_t
symbol_of(struct num x)
{
	return (uint32_t)(DIM_SYMBOL(0) - x.v);
}

static struct sym_form *
form_of(struct symbols *s, uint32_t symbol)
{
	s->form = arena_grow(
	    s->arena, s->form, &s->cap, s->g->nsymbols, sizeof *s->form);
	return &s->form[symbol];
}

/* The number as a sum; false for unknown ones. */
static bool
as_sum(struct symbols *s, struct num x, struct sum *out)
{
	const struct sym_form *f;

	*out = (struct sum){0};
	if (x.known) {
		out->constant = x.v;
		return true;
	}
	if (x.v == DIM_UNKNOWN)
		return false;
	f = form_of(s, symbol_of(x));
	if (f->sum) {
		*out = *f->sum;
		return true;
	}
	out->n = 1;
	out->term[0] = (struct term){1, symbol_of(x)};
	return true;
}

/* to += coefficient * atom; false when it does not fit. */
static bool
add_term(struct sum *to, int64_t coefficient, uint32_t atom)
{
	uint32_t i = 0;

	while (i < to->n && to->term[i].atom < atom)
		i++;
	if (i < to->n && to->term[i].atom == atom) {
		if (!i64_add(to->term[i].coefficient, coefficient,
		        &to->term[i].coefficient))
			return false;
		if (to->term[i].coefficient == 0) {
			to->n--;
			memmove(&to->term[i], &to->term[i + 1],
			    (to->n - i) * sizeof to->term[0]);
		}
		return true;
	}
	if (to->n == MAX_TERMS)
		return false;
	memmove(
	    &to->term[i + 1], &to->term[i], (to->n - i) * sizeof to->term[0]);
	to->term[i] = (struct term){coefficient, atom};
	to->n++;
	return true;
}

/* to += by * from */
static bool
add_scaled(struct sum *to, const struct sum *from, int64_t by)
{
	int64_t c;

	if (by == 0)
		return true;
	if (!i64_mul(from->constant, by, &c)
	    || !i64_add(to->constant, c, &to->constant))
		return false;
	for (uint32_t i = 0; i < from->n; i++)
		if (!i64_mul(from->term[i].coefficient, by, &c)
		    || !add_term(to, c, from->term[i].atom))
			return false;
	return true;
}

/* A derived symbol of that name; false when there are too many. */
static bool
derive(struct symbols *s, const char *name, uint32_t *symbol)
{
	uint32_t found = map_find(&s->by_name, name, strlen(name));

	if (found == MAP_NONE) {
		if (s->derived == MAX_DERIVED)
			return false;
		s->derived++;
		found = add_symbol(s, name);
	}
	*symbol = found;
	return true;
}

/* Append to text[MAX_NAME]; false when it does not fit. */
static bool
append(char *text, const char *more)
{
	size_t have = strlen(text), n = strlen(more);

	if (have + n >= MAX_NAME)
		return false;
	memcpy(text + have, more, n + 1);
	return true;
}

static bool
append_int(char *text, const char *before, int64_t v, const char *after)
{
	char digits[32];

	snprintf(digits, sizeof digits, "%" PRId64, v);
	return append(text, before) && append(text, digits)
	    && append(text, after);
}

/* "2*N+M-1" */
static bool
sum_text(const struct symbols *s, const struct sum *x, char *text)
{
	for (uint32_t i = 0; i < x->n; i++) {
		int64_t c = x->term[i].coefficient;

		if (c == 1 ? !append(text, i ? "+" : "")
		        : c == -1
		        ? !append(text, "-")
		        : !append_int(text, i && c > 0 ? "+" : "", c, "*"))
			return false;
		if (!append(text, s->g->symbol[x->term[i].atom]))
			return false;
	}
	return x->constant == 0
	    || append_int(
	        text, x->n && x->constant > 0 ? "+" : "", x->constant, "");
}

static bool
from_sum(struct symbols *s, const struct sum *x, struct num *out)
{
	char text[MAX_NAME] = "";
	uint32_t symbol;

	*out = num_int(x->constant);
	if (x->n == 0)
		return true;
	*out = NUM_UNKNOWN;
	if (x->n == 1 && x->constant == 0 && x->term[0].coefficient == 1) {
		symbol = x->term[0].atom;
	} else {
		if (!sum_text(s, x, text) || !derive(s, text, &symbol))
			return false;
		form_of(s, symbol)->sum = arena_copy(s->arena, x, sizeof *x);
	}
	*out = num_dim(DIM_SYMBOL(symbol));
	return true;
}

/* a + by * b */
static bool
combine(
    struct symbols *s, struct num a, struct num b, int64_t by, struct num *out)
{
	struct sum x, y;
	int64_t v;

	*out = NUM_UNKNOWN;
	if (a.known && b.known) {
		if (!i64_mul(b.v, by, &v) || !i64_add(a.v, v, &v))
			return false;
		*out = num_int(v);
		return true;
	}
	if (b.known && b.v == 0) {
		*out = a;
		return true;
	}
	if (as_sum(s, a, &x) && as_sum(s, b, &y) && add_scaled(&x, &y, by))
		from_sum(s, &x, out);
	return true;
}

bool
num_add(struct symbols *s, struct num a, struct num b, struct num *out)
{
	if (a.known && a.v == 0) {
		*out = b;
		return true;
	}
	return combine(s, a, b, 1, out);
}

bool
num_sub(struct symbols *s, struct num a, struct num b, struct num *out)
{
	return combine(s, a, b, -1, out);
}

/* The atoms whose product an atom is: itself, or its factors. */
static bool
put_factors(struct symbols *s, uint32_t atom, uint32_t *factor, uint32_t *n)
{
	const struct sym_form *f = form_of(s, atom);
	uint32_t count = f->nfactors ? f->nfactors : 1;

	if (*n + count > MAX_FACTORS)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t x = f->nfactors ? f->factor[i] : atom, k = (*n)++;

		for (; k > 0 && factor[k - 1] > x; k--)
			factor[k] = factor[k - 1];
		factor[k] = x;
	}
	return true;
}

/* The atom that is the product of sorted factors. */
static bool
product_atom(
    struct symbols *s, const uint32_t *factor, uint32_t n, uint32_t *atom)
{
	char text[MAX_NAME] = "";
	struct sym_form *f;

	*atom = factor[0];
	if (n == 1)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (!append(text, i ? "*" : "")
		    || !append(text, s->g->symbol[factor[i]]))
			return false;
	if (!derive(s, text, atom))
		return false;
	f = form_of(s, *atom);
	f->nfactors = n;
	memcpy(f->factor, factor, n * sizeof *factor);
	return true;
}

static bool
multiply_terms(struct symbols *s, struct sum *to, struct term a, struct term b)
{
	uint32_t factor[MAX_FACTORS], n = 0, atom;
	int64_t c;

	return i64_mul(a.coefficient, b.coefficient, &c)
	    && put_factors(s, a.atom, factor, &n)
	    && put_factors(s, b.atom, factor, &n)
	    && product_atom(s, factor, n, &atom) && add_term(to, c, atom);
}

static bool
multiply_sums(struct symbols *s, const struct sum *x, const struct sum *y,
    struct sum *out)
{
	*out = (struct sum){0};
	if (!add_scaled(out, y, x->constant))
		return false;
	for (uint32_t i = 0; i < x->n; i++) {
		int64_t c;

		if (!i64_mul(x->term[i].coefficient, y->constant, &c)
		    || (c != 0 && !add_term(out, c, x->term[i].atom)))
			return false;
		for (uint32_t k = 0; k < y->n; k++)
			if (!multiply_terms(s, out, x->term[i], y->term[k]))
				return false;
	}
	return true;
}

bool
num_mul(struct symbols *s, struct num a, struct num b, struct num *out)
{
	struct sum x, y, product;
	int64_t v;

	*out = NUM_UNKNOWN;
	if (a.known && b.known) {
		if (!i64_mul(a.v, b.v, &v))
			return false;
		*out = num_int(v);
	} else if ((a.known && a.v == 0) || (b.known && b.v == 0)) {
		*out = num_int(0);
	} else if (a.known && a.v == 1) {
		*out = b;
	} else if (b.known && b.v == 1) {
		*out = a;
	} else if (as_sum(s, a, &x) && as_sum(s, b, &y)
	    && multiply_sums(s, &x, &y, &product)) {
		from_sum(s, &product, out);
	}
	return true;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
greatest_common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* floor(x / by), by > 1, is the terms that divide plus a remainder that keeps
 * its floor: "2*N+floor((M+1)/2)". */
static bool
divide_sum(struct symbols *s, const struct sum *x, int64_t by, struct sum *out)
{
	struct sum rest = {0};
	char text[MAX_NAME] = "floor((";
	int64_t common = by;
	uint32_t atom;

	*out = (struct sum){.constant = floor_div(x->constant, by)};
	rest.constant = x->constant - out->constant * by;
	for (uint32_t i = 0; i < x->n; i++) {
		struct term t = x->term[i];

		if (t.coefficient % by == 0) {
			out->term[out->n++] =
			    (struct term){t.coefficient / by, t.atom};
			continue;
		}
		rest.term[rest.n++] = t;
		common = greatest_common_divisor(t.coefficient, common);
	}
	if (rest.n == 0)
		return true;
	rest.constant = floor_div(rest.constant, common);
	for (uint32_t i = 0; i < rest.n; i++)
		rest.term[i].coefficient /= common;
	return sum_text(s, &rest, text)
	    && append_int(text, ")/", by / common, ")")
	    && derive(s, text, &atom) && add_term(out, 1, atom);
}

bool
num_div_floor(struct symbols *s, struct num a, struct num b, struct num *out)
{
	struct sum x, quotient;

	*out = NUM_UNKNOWN;
	if (b.known && (b.v == 0 || (b.v == -1 && a.known && a.v == INT64_MIN)))
		return false;
	if (a.known && b.known) {
		*out = num_int(floor_div(a.v, b.v));
	} else if (b.known && b.v == 1) {
		*out = a;
	} else if (!b.known) {
		return num_quotient(s, &a, 1, &b, 1, out);
	} else if (b.v > 1 && as_sum(s, a, &x)
	    && divide_sum(s, &x, b.v, &quotient)) {
		from_sum(s, &quotient, out);
	}
	return true;
}

/* A product under work: a coefficient and factors; a sum of several terms is
 * one factor. */
struct num_product {
	int64_t coefficient;
	uint32_t n;
	uint32_t *factor; /* [n] */
};

/* Multiply by x. *known turns false for an unknown one. */
static bool
take_factor(struct symbols *s, struct num_product *p, struct num x, bool *known)
{
	uint32_t factor[MAX_FACTORS], n = 0;
	int64_t c = 1;
	struct sum sum;

	if (x.known)
		return i64_mul(p->coefficient, x.v, &p->coefficient);
	if (!as_sum(s, x, &sum)) {
		*known = false;
		return true;
	}
	if (sum.n == 1 && sum.constant == 0) {
		c = sum.term[0].coefficient;
		if (!put_factors(s, sum.term[0].atom, factor, &n)) {
			*known = false;
			return true;
		}
	} else {
		factor[n++] = symbol_of(x);
	}
	for (uint32_t i = 0; i < n; i++)
		p->factor[p->n++] = factor[i];
	return i64_mul(p->coefficient, c, &p->coefficient);
}

static bool
take_factors(struct symbols *s, const struct num *x, uint32_t n,
    struct num_product *p, bool *known)
{
	*p = (struct num_product){.coefficient = 1};
	p->factor = arena_new(s->arena, uint32_t, (size_t)n * MAX_FACTORS);
	for (uint32_t i = 0; i < n; i++)
		if (!take_factor(s, p, x[i], known))
			return false;
	return true;
}

/* Remove from top each factor of bottom; false when one does not cancel. */
static bool
cancel(struct num_product *top, const struct num_product *bottom)
{
	for (uint32_t i = 0; i < bottom->n; i++) {
		uint32_t k = 0;

		while (k < top->n && top->factor[k] != bottom->factor[i])
			k++;
		if (k == top->n)
			return false;
		top->factor[k] = top->factor[--top->n];
	}
	return true;
}

bool
num_quotient(struct symbols *s, const struct num *top, uint32_t ntop,
    const struct num *bottom, uint32_t nbottom, struct num *out)
{
	struct num_product up, down;
	bool known = true;

	*out = NUM_UNKNOWN;
	if (!take_factors(s, top, ntop, &up, &known)
	    || !take_factors(s, bottom, nbottom, &down, &known))
		return false;
	if (!known || down.coefficient <= 0 || !cancel(&up, &down)
	    || up.coefficient % down.coefficient != 0)
		return true;
	*out = num_int(up.coefficient / down.coefficient);
	for (uint32_t i = 0; i < up.n; i++)
		if (!num_mul(s, *out, num_dim(DIM_SYMBOL(up.factor[i])), out))
			return false;
	return true;
}
