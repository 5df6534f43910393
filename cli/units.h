/* Durations and sizes as people write them: "7h30m", "200ms", "4GiB". */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

/* Units h, m, s, ms, us (µs), ns, largest first; a unit is required, and the sum
 * must not be nothing. */
bool parse_duration(const char *text, uint64_t *ns, struct err *err);

/* Bytes: a number from 1 with B, KiB, MiB, GiB or TiB. */
bool parse_bytes(const char *text, uint64_t *bytes, struct err *err);

/* A decimal number from `low` to `high`; ERR_USAGE saying so. */
bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out,
    struct err *err);

/* "4.812 ms": three to four significant digits, into text[n]; gives text. */
char *format_duration(uint64_t ns, char *text, size_t n);

/* " (rests on fp16_ratio)" of a parameter's name, " (...)" of a sentence, "" of
 * nothing (or NULL). */
const char *price_detail(const char *detail, struct arena *a);

/* The same after blanks, `width` columns in all. */
char *format_column(uint64_t ns, int width, char *text, size_t n);

#endif
