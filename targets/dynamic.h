/* Products and convolutions of bytes quantised in each run, as exporters write them:
 * Add(Mul(Cast(MatMulInteger), Mul(scale, w_scale)), bias). */
#ifndef TARGETS_DYNAMIC_H
#define TARGETS_DYNAMIC_H

#include "targets/target.h"

#define DYNAMIC(op) \
	MAYBE(ADD, \
	    NODE(MUL, \
	        NODE(CAST, AS("product", NODE(op, VARIABLE, CONSTANT, REST))), \
	        NODE(MUL, AS("scale", VARIABLE), AS("w_scale", CONSTANT))), \
	    AS("bias", CONSTANT))
#define DYNAMIC_PRODUCT DYNAMIC(MATMULINTEGER)
#define DYNAMIC_CONV DYNAMIC(CONVINTEGER)

struct dynamic_product {
	const struct node *product;
	value_id scale; /* of the left side, in each run */
	const struct tensor *scales; /* of the right, one or one an output */
	const struct tensor *bias; /* one an output, or NULL */
	value_id end;
};

struct dynamic_product dynamic_read(
    const struct match *m, const struct graph *g);
/* 8 bits, known sizes, scales and bias of columns or of filters. */
bool need_dynamic(
    const struct match_in *m, struct why *why, const struct dynamic_product *d);

/* The left side's zero: a port's byte, or a constant. */
struct zero_of_run {
	int32_t port; /* < 0: the constant */
	int32_t constant;
	bool is_unsigned;
};

struct zero_of_run dynamic_read_zero(const struct dynamic_product *d,
    const struct graph *g, const struct candidate *c);
int32_t dynamic_zero(const struct zero_of_run *z, const void *const *in);

#endif
