/* What a model that is written must import. */
#ifndef EMIT_OPSETS_H
#define EMIT_OPSETS_H

#include "ir/onnx_write.h"

/* The model's imports, `extra` (a domain of version 1; NULL: none) and those that
 * nodes of o's graphs need beyond: of the default domain the lowest version, from the
 * model's and `least` up, in which all of them mean what they do; ERR_UNSUPPORTED naming a node
 * where there is none. */
bool emit_opsets(struct onnx_out *o, const struct model *m, const char *extra,
    uint32_t least, struct arena *a, struct err *err);

#endif
