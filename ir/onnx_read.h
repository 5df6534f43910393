/* Reading ONNX models. Tensor payloads stay in the mapped file. */
#ifndef IR_ONNX_READ_H
#define IR_ONNX_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/model.h"

/* Read, check and build. Functions are inlined, sub-graphs built, nodes sorted.
 * ERR_INPUT for a malformed model, ERR_UNSUPPORTED for a valid one this build
 * cannot take, ERR_IO for a file that cannot be read. */
bool onnx_read(struct model *m, const char *path, const struct onnx_options *o,
    struct arena *a, struct err *err);
/* The same from bytes that outlive the model; external data is refused. */
bool onnx_read_bytes(struct model *m, const void *bytes, size_t n,
    const struct onnx_options *o, struct arena *a, struct err *err);
/* Unmap. The graph must not be used afterwards. */
void model_close(struct model *m);

/* A TensorProto / SequenceProto / OptionalProto file of a test_data_set. */
bool onnx_read_tensor(
    struct tensor *t, const char *path, struct arena *a, struct err *err);
bool onnx_read_value(struct tensor *t, const struct type *type,
    const char *path, struct arena *a, struct err *err);

#endif
