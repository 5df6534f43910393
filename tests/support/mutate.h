/* Changes to protocol buffers that keep them well-formed: of any message, by
 * its descriptor; names, operators and types of ONNX where they belong. */
#ifndef TESTS_SUPPORT_MUTATE_H
#define TESTS_SUPPORT_MUTATE_H

#include <protobuf-c/protobuf-c.h>

#include "ir/base/arena.h"
#include "tests/support/support.h"

/* What is unpacked so lives in the arena and is never freed. */
ProtobufCAllocator mutate_allocator(struct arena *a);

/* One change somewhere in `m`, whose memory is the arena's. */
void mutate(ProtobufCMessage *m, struct rng *r, struct arena *a);

#endif
