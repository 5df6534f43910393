/* A product of bytes with constant weights: QLinearMatMul, or what exporters write
 * between quantisers. */
#ifndef TARGETS_BYTE_PRODUCT_H
#define TARGETS_BYTE_PRODUCT_H

#include "targets/cores.h"
#include "targets/target.h"

#define BYTE_OPERAND(name, p) \
	AS(name, NODE(DEQUANTIZELINEAR, p, CONSTANT, REST))
#define BYTE_PRODUCT \
	EITHER(NODE(QLINEARMATMUL, AS("left", VARIABLE), CONSTANT, CONSTANT, \
	           CONSTANT, CONSTANT, REST), \
	    NODE(QUANTIZELINEAR, \
	        MAYBE(RELU, \
	            EITHER(AS("product", \
	                       NODE(GEMM, BYTE_OPERAND("left", VARIABLE), \
	                           BYTE_OPERAND("right", CONSTANT), \
	                           EITHER(ABSENT, \
	                               BYTE_OPERAND("bias", CONSTANT)))), \
	                AS("product", \
	                    NODE(MATMUL, BYTE_OPERAND("left", VARIABLE), \
	                        BYTE_OPERAND("right", CONSTANT))))), \
	        CONSTANT, REST))

#define BYTE_PRODUCT_INPUTS 9

struct byte_product {
	/* As a QLinearMatMul; a bias of whole numbers behind its inputs. */
	struct node node;
	value_id input[BYTE_PRODUCT_INPUTS];
	bool by_output; /* weights are [outputs][depth], not [depth][outputs] */
};

/* false: it is something else. */
bool byte_product_read(
    struct byte_product *p, const struct match *m, const struct graph *g);
/* The predicate. */
bool accept_byte_product(const struct match_in *m, struct why *why);

#endif
