/* The text form: one line a node, prints and parses back to the same graph.
 * For tests, messages and `marq model canon`.
 *
 *   graph   = graph NAME { free* in ids node* out ids }
 *   free    = (value | capture SLOT) def [overridable] [= tensor]
 *   def     = %ID NAME type
 *   node    = node (def | _), ... = OP VERSION DOMAIN NAME (ids; captured) attr*
 *   attr    = NAME:KIND=entry | NAME:KIND=[entry, ...]
 *   type    = DTYPE[1,"N",?] | DTYPE[...] | sequence(type) | optional(type)
 *           | opaque | unknown
 *   tensor  = DTYPE[dims] (hex BYTES | fill BYTES | hash HEX | strings NAME*)
 *
 * Names are quoted. Content of more than a kilobyte prints as its hash, and a
 * hash parses as zeros: the shape is kept, the content is not. Origins are not
 * part of it. */
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
