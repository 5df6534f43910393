/* Protobuf messages on their way out. Small fields are gathered in memory;
 * tensor contents are holes, filled when the message goes to a stream. */
#ifndef IR_WIRE_OUT_H
#define IR_WIRE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/buf.h"
#include "ir/tensor.h"

/* Content that comes at `at` of the gathered bytes. */
struct wire_hole {
	size_t at;
	const struct tensor *tensor;
	uint32_t tag; /* handed to the fill function */
};

struct wire_out {
	struct buf bytes;
	struct wire_hole *hole; /* [nholes], ascending */
	size_t nholes, hole_cap;
	size_t in_holes; /* bytes */
};

void wire_out_init(struct wire_out *w);
void wire_out_release(struct wire_out *w);

void wire_out_int(struct wire_out *w, uint32_t field, int64_t x);
void wire_out_float(struct wire_out *w, uint32_t field, float x);
void wire_out_bytes(
    struct wire_out *w, uint32_t field, const void *bytes, size_t n);
void wire_out_str(struct wire_out *w, uint32_t field, const char *s);
/* A packed list of varints. */
void wire_out_ints(
    struct wire_out *w, uint32_t field, const int64_t *x, size_t n);
/* A bytes field that holds a VIEW's or FILL's content. */
void wire_out_content(
    struct wire_out *w, uint32_t field, const struct tensor *t, uint32_t tag);
/* A finished message as a field; `inner` is released. */
void wire_out_message(
    struct wire_out *w, uint32_t field, struct wire_out *inner);

/* Write a VIEW's or FILL's content. Write errors stay with the stream. */
void wire_out_tensor(FILE *f, const struct tensor *t);

/* Write everything. `fill` may write a hole's content itself and return true;
 * NULL, or false from it: the tensor's own is written. Write errors stay with
 * the stream. */
void wire_out_write(FILE *f, const struct wire_out *w,
    bool (*fill)(FILE *f, const struct wire_hole *hole, const void *context),
    const void *context);

#endif
