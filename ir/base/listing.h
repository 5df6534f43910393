/* What a result directory holds: files.json names every file with its size and
 * SHA-256, so that anybody can tell a whole result from a damaged one. */
#ifndef IR_BASE_LISTING_H
#define IR_BASE_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

#define LISTING_NAME "files.json"

struct out_sum; /* ir/base/file.h */

/* Write the list of all files beneath a folder into it; those whose sums are
 * known (NULL: none is) are not read. */
bool listing_write(const char *folder, const struct out_sum *known,
    struct arena *a, struct err *err);

/* The file `name` was written again: the list says so, and of the others what it
 * said. A folder without a list stays without. */
bool listing_renew(
    const char *folder, const char *name, struct arena *a, struct err *err);

/* Is every file that is listed there, whole, and nothing else? ERR_IO naming
 * the first that is not; *n files are listed. */
bool listing_verify(
    const char *folder, uint32_t *n, struct arena *a, struct err *err);

#endif
