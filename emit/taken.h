/* A large file of the result that is replaced, taken into the new one: where it is to
 * have the very bytes that marq wrote, and nobody has written to it since, it is linked
 * instead of copied. */
#ifndef EMIT_TAKEN_H
#define EMIT_TAKEN_H

#include <stdbool.h>

#include "costmodel/pricer.h"
#include "ir/base/file.h"

/* Link the file that o->path has of that name into the new folder, if it is known as
 * that of this sum. False: it is to be written. */
bool taken_link(const struct outdir *o, const char *name, const char sum[65],
    struct pricer *p);

/* Remember those of known sums, when the folder is in its place and the former one is
 * gone. */
void taken_keep(const struct outdir *o, struct pricer *p);

#endif
