/* Where a database lies: SQLite's write-ahead log needs shared memory, which
 * network file systems do not have. */
#ifndef DB_PLACE_H
#define DB_PLACE_H

#include <stdbool.h>

#include "ir/base/err.h"

/* The name of a network (or otherwise remote) file system by its statfs()
 * magic, or NULL for a local one. */
const char *place_network_name(unsigned long magic);

/* May a database at `path` (there or not yet) be written? ERR_DB on a network
 * file system, ERR_IO when its folder is missing or nearly full. */
bool place_check(const char *path, struct err *err);

#endif
