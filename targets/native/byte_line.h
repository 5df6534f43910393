/* Codes of one scale to those of another by whole numbers of 16 bits. */
#ifndef TARGETS_NATIVE_BYTE_LINE_H
#define TARGETS_NATIVE_BYTE_LINE_H

#include <stdbool.h>

#include "targets/native/byte_loops.h"

/* What a line makes of a code: what kernels compute. */
uint8_t byte_line_at(const struct byte_line *l, uint8_t code);

/* The line that says of every code what table[256] says, which makes `to` of `from`;
 * false: there is none. */
bool byte_line_find(struct byte_line *l, const struct byte_code *from,
    const struct byte_code *to, const uint8_t *table);

#endif
