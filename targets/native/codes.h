/* What (de)quantisers of 8 bits say of bytes. */
#ifndef TARGETS_NATIVE_CODES_H
#define TARGETS_NATIVE_CODES_H

#include "targets/bytes.h"
#include "targets/native/loops.h"
#include "targets/target.h"

/* The scale and zero of a (de)quantiser, constant and one for all; false: others. */
bool byte_code_of(
    struct byte_code *c, const struct graph *g, const struct node *n);
/* A predicate: all (de)quantisers of a match have such. */
bool need_byte_codes(const struct match_in *m, struct why *why);

/* The loops between a tensor's layouts in one of ways_byte_move()'s ways; false:
 * they are the same. */
bool layout_loops(
    struct move_loops *l, const struct type *t, uint32_t way, struct arena *a);

#endif
