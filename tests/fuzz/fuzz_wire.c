/* Wire bytes nobody vouches for: what the pre-pass lets through must unpack,
 * and walking its own output again must be possible for protobuf-c too. */
#include <stdint.h>
#include <stdlib.h>

#include "ir/onnx.pb-c.h"
#include "ir/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
unpack(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t size)
{
	struct wire in = {data, size, false};
	struct err err = {.kind = ERR_NONE};
	struct arena a;

	arena_init(&a);
	a.limit = (size_t)1 << 30; /* ends the process: far above the budget */
	if (!wire_unpack(type, &in, &a, &err) && err.kind == ERR_NONE)
		abort();
	arena_release(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unpack(&onnx__model_proto__descriptor, data, size);
	unpack(&onnx__tensor_proto__descriptor, data, size);
	unpack(&onnx__sequence_proto__descriptor, data, size);
	return 0;
}
