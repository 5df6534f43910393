/* The wire pre-pass: protobuf bytes nobody vouches for are walked once, without
 * recursion and without looking into tensor payloads, and a small copy is made
 * that protobuf-c can unpack safely. The copy holds, in place of each payload,
 * where it lies in the file (TensorProto.payload). */
#ifndef IR_WIRE_H
#define IR_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/err.h"

/* TUNING: nested messages at most; what Google's own parsers allow. Three are
 * used per level of sub-graph. */
#define WIRE_DEPTH 100

/* A payload at least this long makes the rest of a mapping not worth reading
 * ahead (SOURCE: measured; 477 ms against 9 ms for 500 MB on a cold cache). */
#define WIRE_LARGE ((size_t)256 << 10)

struct wire {
	const unsigned char *bytes; /* [n], aligned to a page when `mapped` */
	size_t n;
	bool mapped; /* may be given advice about reading ahead */
};

/* Walk a message of that type and append its skeleton. ERR_INPUT with the byte
 * offset and the path of what is wrong; ERR_UNSUPPORTED when unpacking it would
 * take more memory than a file of that size can justify. */
bool wire_skeleton(struct buf *skeleton, const ProtobufCMessageDescriptor *type,
    const struct wire *in, struct err *err);

/* The same, unpacked into `a` (nothing to free); NULL on error. */
void *wire_unpack(const ProtobufCMessageDescriptor *type, const struct wire *in,
    struct arena *a, struct err *err);

/* One varint at bytes[*at], before `end`; false when it does not end there or
 * is longer than ten bytes. */
bool wire_varint(
    const unsigned char *bytes, size_t end, size_t *at, uint64_t *out);

#endif
