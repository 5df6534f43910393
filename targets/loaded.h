/* The shared libraries this process runs, as facts: what was compiled against
 * and what is loaded are two things. */
#ifndef TARGETS_LOADED_H
#define TARGETS_LOADED_H

#include <stdbool.h>

#include "ir/base/buf.h"

/* A build id in hex, and its end. */
#define BUILD_TEXT 65

/* The build id of the library in a file, which is not loaded for it. False: it has
 * none, or it cannot be read. */
bool library_build(const char *path, char build[BUILD_TEXT]);

/* The build id, or a hash of the file, of the loaded library whose file name begins
 * with `prefix` ("libm.so"). False: none is loaded. */
bool loaded_find(const char *prefix, char build[BUILD_TEXT]);

/* Append "<key>=<build id>" of the loaded library, likewise; "static" where none
 * is loaded. */
void loaded_build(struct buf *b, const char *key, const char *prefix);

/* Append "<key>=<build id>" of this program itself. */
void loaded_program(struct buf *b, const char *key);

/* Append "<key>=<file name>" likewise: the version that its name says. */
void loaded_name(struct buf *b, const char *key, const char *prefix);

#endif
