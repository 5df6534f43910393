/* Durations and sizes as people write them: "7h30m", "200ms", "4GiB". */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/err.h"

/* Units h, m, s, ms, us, ns, largest first; a unit is required. */
bool parse_duration(const char *text, uint64_t *ns, struct err *err);

/* Bytes: a number with B, KiB, MiB, GiB or TiB. */
bool parse_bytes(const char *text, uint64_t *bytes, struct err *err);

/* "4.812 ms": three to four significant digits, into text[n]; gives text. */
char *format_duration(uint64_t ns, char *text, size_t n);

#endif
