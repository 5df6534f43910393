/* mod.params: names and arrays, as TVM's SaveParams() lays them out, and what of
 * the same stream format the module needs. Numbers are little-endian. */
#include <string.h>

#include "targets/mrvl/device.h"
#include "targets/mrvl/device_stream.h"

static void
put(FILE *f, uint64_t x, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		fputc((int)(x >> 8 * i & 0xff), f);
}

static uint32_t
code_of(enum dtype t)
{
	return t == DT_BFLOAT16                   ? STREAM_BFLOAT
	    : dtype_is_float(t)                   ? STREAM_FLOAT
	    : t == DT_BOOL || !dtype_is_signed(t) ? STREAM_UINT
	                                          : STREAM_INT;
}

static void
put_content(FILE *f, const struct tensor *t)
{
	size_t size = dtype_bits(t->dtype) / 8;

	if (t->kind == TENSOR_VIEW) {
		if (t->bytes)
			fwrite(t->data, 1, t->bytes, f);
		return;
	}
	for (size_t i = 0; i < t->count; i++)
		fwrite(t->fill, 1, size, f);
}

static void
put_array(FILE *f, const struct tensor *t)
{
	put(f, STREAM_ARRAY, 8);
	put(f, 0, 8);
	put(f, STREAM_CPU, 4);
	put(f, 0, 4);
	put(f, t->rank, 4);
	put(f, code_of(t->dtype), 1);
	put(f, t->dtype == DT_BOOL ? 1 : dtype_bits(t->dtype), 1);
	put(f, 1, 2);
	for (uint32_t i = 0; i < t->rank; i++)
		put(f, (uint64_t)t->dim[i], 8);
	put(f, t->bytes, 8);
	put_content(f, t);
}

void
device_write_params(FILE *f, const struct device *d)
{
	put(f, STREAM_LIST, 8);
	put(f, 0, 8);
	put(f, d->nparams, 8);
	for (uint32_t i = 0; i < d->nparams; i++) {
		const char *name = d->param[i].name;

		put(f, strlen(name), 8);
		fputs(name, f);
	}
	put(f, d->nparams, 8);
	for (uint32_t i = 0; i < d->nparams; i++)
		put_array(f, d->param[i].content);
}
