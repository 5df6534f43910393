/* Valid models, changed where they have something to change: operators, wires,
 * attributes, shapes, types, constants, bodies, opsets. */
#include "ir/onnx.pb-c.h"
#include "tests/fuzz/taken.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t room, unsigned seed);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return take_model(data, size);
}

/* Up to four changes; what is no model any more stays as it is. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	struct rng r = rng_seeded((uint64_t)seed + 1);
	ProtobufCAllocator allocator;
	Onnx__ModelProto *m;
	struct arena a;
	size_t n = size;

	arena_init(&a);
	allocator = mutate_allocator(&a);
	m = onnx__model_proto__unpack(&allocator, size, data);
	if (m) {
		for (uint32_t i = rng_below(&r, 4) + 1; i > 0; i--)
			mutate(&m->base, &r, &a);
		n = onnx__model_proto__get_packed_size(m);
		if (n <= room)
			onnx__model_proto__pack(m, data);
		else
			n = size;
	}
	arena_release(&a);
	return n;
}
