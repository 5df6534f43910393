/* The shared libraries this process runs, as facts: what was compiled against
 * and what is loaded are two things. */
#ifndef TARGETS_LOADED_H
#define TARGETS_LOADED_H

#include "ir/base/buf.h"

/* Append "<key>=<build id>" of the loaded library whose file name begins with
 * `prefix` ("libm.so"); a hash of its file where it has no build id, "static"
 * where none is loaded. */
void loaded_build(struct buf *b, const char *key, const char *prefix);

/* Append "<key>=<build id>" of this program itself. */
void loaded_program(struct buf *b, const char *key);

/* Append "<key>=<file name>" likewise: the version that its name says. */
void loaded_name(struct buf *b, const char *key, const char *prefix);

#endif
