/* What (de)quantisers of 8 bits say of bytes. */
#ifndef TARGETS_NATIVE_CODES_H
#define TARGETS_NATIVE_CODES_H

#include "targets/bytes.h"
#include "targets/native/loops.h"
#include "targets/target.h"

/* What codes of that type mean; scale and zero (NULL: 0) constant, one for all; false:
 * others. */
bool byte_code_read(struct byte_code *c, const struct type *t,
    const struct value *scale, const struct value *zero);
/* The scale and zero of a (de)quantiser, constant and one for all; false: others. */
bool byte_code_of(
    struct byte_code *c, const struct graph *g, const struct node *n);
/* A predicate: all (de)quantisers of a match have such. */
bool need_byte_codes(const struct match_in *m, struct why *why);

/* A quantiser, the root, behind an operator that reads dequantisers (and perhaps
 * constants), and perhaps a Relu between. */
struct byte_enclosed {
	const struct node *quantiser, *middle;
	bool rectified;
};

struct byte_enclosed byte_enclosed_of(
    const struct graph *g, const struct match *m);
/* What goes into the i-th dequantiser of an operator. */
value_id byte_input(const struct graph *g, const struct node *n, uint32_t i);
/* "plain", and where `last` is said "nhwc", number 1. */
uint32_t byte_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max, bool last);

/* The loops between a tensor's layouts in one of ways_byte_move()'s ways; false:
 * they are the same. */
bool layout_loops(
    struct move_loops *l, const struct type *t, uint32_t way, struct arena *a);

#endif
