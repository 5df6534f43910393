/* Drawing with graphviz, in a child that is ended when it takes too long. */
#ifndef EMIT_DRAW_H
#define EMIT_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/buf.h"

/* `dot -Tsvg` of n bytes of its language, from the "<svg" on, into `svg`.
 * false, with *why in words: not installed, failed or took too long. */
bool draw_svg(struct buf *svg, const char *dot, size_t n, const char **why);

#endif
