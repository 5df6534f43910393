/* A TensorProto file nobody vouches for: what is taken has all its bytes. */
#include <assert.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/onnx_read.h"
#include "tests/support/infile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
touch(const struct tensor *t)
{
	const volatile unsigned char *p = t->data;
	size_t n, bytes;

	if (t->kind != TENSOR_VIEW)
		return;
	if (dtype_bits(t->dtype)
	    && tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
		assert(bytes == t->bytes && n == t->count);
	for (size_t i = 0; i < t->bytes; i++)
		(void)p[i];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct type want = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT};
	const char *path = infile(data, size);
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct tensor t;

	arena_init(&a);
	if (onnx_read_tensor(&t, path, &a, &err))
		touch(&t);
	err_clear(&err);
	if (onnx_read_value(&t, &want, path, &a, &err))
		touch(&t);
	arena_release(&a);
	return 0;
}
