/* Bytes as hexadecimal text, for JSON lines. */
#ifndef DB_HEX_H
#define DB_HEX_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/arena.h"

/* Lower case, NUL-terminated, in `a`. */
const char *hex_text(const void *bytes, size_t n, struct arena *a);

/* The bytes of a text, in `a`; false for anything but pairs of hex digits. */
bool hex_bytes(
    const char *text, const void **bytes, size_t *n, struct arena *a);

#endif
