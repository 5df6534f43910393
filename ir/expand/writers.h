/* What the table names. */
#ifndef IR_EXPAND_WRITERS_H
#define IR_EXPAND_WRITERS_H

#include "ir/expand/writer.h"

#define EXPAND(domain, type, function) void function(struct writer *w);
#include "ir/expand/expand.def"
#undef EXPAND

#endif
