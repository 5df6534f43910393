/* Mapped files that shrink while they are read. The kernel answers a read past
 * the new end with SIGBUS; the guard turns it into one line and the exit status
 * of a file system error. */
#ifndef IR_BASE_FILE_GUARD_H
#define IR_BASE_FILE_GUARD_H

#include <stddef.h>

/* Watch `bytes` from `data`, the mapping of the file `name`. Mappings beyond
 * the 4,096th are not watched: a fault in them ends the process without words. */
void file_guard_add(const void *data, size_t bytes, const char *name);

/* As far as these bytes are of a mapping that is watched, memory need not hold
 * them for now: whoever reads them again has them from the file. */
void file_guard_let_go(const void *data, size_t bytes);

/* The mapping is about to go. */
void file_guard_remove(const void *data);

#endif
