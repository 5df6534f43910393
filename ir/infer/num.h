/* Small integers that may be symbolic: what a dimension is, and what an
 * element of a shape vector is. Arithmetic keeps what it can: sums, products
 * and quotients of symbols become symbols named by their expression, so equal
 * expressions are equal dimensions. */
#ifndef IR_INFER_NUM_H
#define IR_INFER_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/graph.h"

/* An integer (known), or a dimension code: DIM_UNKNOWN or DIM_SYMBOL(s). */
struct num {
	int64_t v;
	bool known;
};

#define NUM_UNKNOWN ((struct num){DIM_UNKNOWN, false})

static inline struct num
num_int(int64_t v)
{
	return (struct num){v, true};
}

static inline struct num
num_dim(int64_t dim)
{
	return (struct num){dim, dim >= 0};
}

/* As a dimension; a known negative number has none: DIM_UNKNOWN. */
static inline int64_t
num_as_dim(struct num x)
{
	return x.known && x.v < 0 ? DIM_UNKNOWN : x.v;
}

/* The same integer for certain? Unknown equals nothing, itself included. */
static inline bool
num_same(struct num a, struct num b)
{
	return a.known == b.known && a.v == b.v
	    && (a.known || a.v != DIM_UNKNOWN);
}

struct sym_form;

/* What the symbols of one graph stand for. */
struct symbols {
	struct graph *g;
	struct arena *arena;
	struct map by_name; /* every symbol of g */
	struct sym_form *form; /* [cap], of symbol i */
	uint32_t cap;
	uint32_t derived; /* symbols made by arithmetic so far */
};

void symbols_init(struct symbols *s, struct graph *g, struct arena *a);

/* A symbol of that name (copied when new). */
int64_t symbols_named(struct symbols *s, const char *name);

/* Is this a name that exporters give to unrelated dimensions ("?", "None",
 * "unk__12")? Two dimensions of such a name are not known to be equal. */
bool symbol_is_anonymous(const char *name);

/* *out = a op b; false when known numbers overflow (or divide by zero). */
bool num_add(struct symbols *s, struct num a, struct num b, struct num *out);
bool num_sub(struct symbols *s, struct num a, struct num b, struct num *out);
bool num_mul(struct symbols *s, struct num a, struct num b, struct num *out);
/* Rounded towards minus infinity. */
bool num_div_floor(
    struct symbols *s, struct num a, struct num b, struct num *out);

/* The product of n numbers divided by the product of m others, when the
 * symbols of the divisor cancel and the division is exact; else unknown.
 * false when known products overflow. */
bool num_quotient(struct symbols *s, const struct num *top, uint32_t ntop,
    const struct num *bottom, uint32_t nbottom, struct num *out);

#endif
