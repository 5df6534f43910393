/* External data: tensor content in files beneath the model's folder. Each file
 * is opened once, without following links out of that folder, and mapped. */
#ifndef IR_EXTERNAL_H
#define IR_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/file.h"
#include "ir/onnx.pb-c.h"

/* Something to unmap when the model is closed. */
struct mapping {
	struct mapping *next;
	struct mapped_file file;
	const char *location; /* NULL: the model itself */
};

struct external {
	int folder; /* a directory descriptor, or -1: refuse external data */
	struct mapping **list; /* the model's */
	struct arena *a;
};

bool external_open(struct external *x, const char *model_path,
    struct mapping **list, struct arena *a, struct err *err);
void external_close(struct external *x);

/* Content of a tensor of `bytes` bytes that its external_data describes. */
bool external_find(struct external *x, const Onnx__TensorProto *p, size_t bytes,
    const void **data, struct err *err);

#endif
