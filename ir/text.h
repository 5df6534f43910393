/* The text form: one line a node, prints and parses back to the same graph
 * (constants by content when small, else by shape and hash). For tests,
 * messages and `marq model canon`. */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/graph.h"

void graph_print(FILE *f, const struct graph *g);
/* Parse; ERR_INPUT with line and column. */
bool graph_parse(struct graph **g, const char *text, size_t n, const char *name,
    struct arena *a, struct err *err);

#endif
