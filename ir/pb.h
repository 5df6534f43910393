/* Protobuf messages on their way out. A message is its bytes plus references to
 * tensors whose payload is written only when the file is: nothing large is ever
 * copied, and every length is known before the first byte is written. */
#ifndef IR_PB_H
#define IR_PB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/buf.h"
#include "ir/base/err.h"
#include "ir/tensor.h"

/* Payload of a tensor that goes before bytes.data[at]. */
struct pb_reference {
	size_t at;
	const struct tensor *tensor;
};

struct pb {
	struct buf bytes;
	struct pb_reference *reference; /* [n], by position; on the heap */
	uint32_t n, cap;
	size_t total; /* bytes once payloads are in */
};

void pb_init(struct pb *m);
void pb_release(struct pb *m);

/* Fields: varint, fixed32, bytes, text (skipped when NULL). */
void pb_int(struct pb *m, uint32_t field, int64_t x);
void pb_float(struct pb *m, uint32_t field, float x);
void pb_bytes(struct pb *m, uint32_t field, const void *bytes, size_t n);
void pb_str(struct pb *m, uint32_t field, const char *s);
/* A payload, written from the tensor when the file is. */
void pb_payload(struct pb *m, uint32_t field, const struct tensor *t);
/* A sub-message; `child` is released. */
void pb_message(struct pb *m, uint32_t field, struct pb *child);

/* Write the message itself (no tag). ERR_IO when the stream fails. */
bool pb_write(FILE *f, const struct pb *m, struct err *err);

#endif
