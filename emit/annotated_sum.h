/* The SHA-256 of annotated.onnx, which the database remembers for the same bytes. */
#ifndef EMIT_ANNOTATED_SUM_H
#define EMIT_ANNOTATED_SUM_H

#include "emit/work.h"
#include "ir/base/bulk.h"

/* Of what is to be written, parts of which lie in the model's file, its source. */
void annotated_sum(
    const struct bulk *out, const struct emit_work *w, char sum[65]);

#endif
