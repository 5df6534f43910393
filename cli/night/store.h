/* Results by their content: OUT/nights/results/HASH/ is a result directory,
 * HASH being that of its files.json, which lists every file with its SHA-256.
 * Its files are links to OUT/nights/files/SUM, so what does not change from
 * night to night is on the disk once. Nothing in it is ever written again. */
#ifndef CLI_NIGHT_STORE_H
#define CLI_NIGHT_STORE_H

#include "cli/night/night.h"

/* Keep a result directory; *name is what it is called. ERR_IO. */
bool store_keep(const char *out, const char *result, const char **name,
    struct arena *a, struct err *err);

/* Where a kept result is. */
const char *store_path(const char *out, const char *name, struct arena *a);

/* Is it there and whole? Somebody may have damaged what is linked to it. */
bool store_has(const char *out, const char *name, struct arena *a);

/* Delete the records of nights before the last `keep`, and what none of the
 * remaining ones refers to. *n nights are gone; h is read again. */
bool store_prune(struct history *h, uint32_t keep, uint32_t *n, struct arena *a,
    struct err *err);

#endif
