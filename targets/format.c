#include "targets/format.h"

#include <assert.h>
#include <string.h>

#include "targets/quant.h"

const struct space space_host = {"host", 'h', NULL};

static const char *const layout_name[] = {
    [LAYOUT_PLAIN] = "plain",
    [LAYOUT_NHWC] = "nhwc",
    [LAYOUT_BLK8] = "nChw8c",
    [LAYOUT_BLK16] = "nChw16c",
};

void
formats_init(struct formats *f)
{
	memset(f, 0, sizeof *f);
	f->format[FORMAT_PLAIN] =
	    (struct format){SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED};
	f->n = 1;
}

format_id
format_intern(struct formats *f, struct format what)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct format *have = &f->format[i];

		if (have->space == what.space && have->layout == what.layout
		    && have->dtype == what.dtype)
			return (format_id)i;
	}
	/* Formats are spaces x layouts x dtypes that kinds name in their own
	 * tables; a file cannot make new ones. */
	assert(f->n < MAX_FORMATS);
	f->format[f->n] = what;
	return (format_id)f->n++;
}

const struct quant *
format_quant(const struct formats *f, uint32_t v)
{
	return f->quant && f->quant[v].scale > 0 ? &f->quant[v] : NULL;
}

const char *
format_text(struct format f, struct arena *a)
{
	const char *space = f.space->name, *layout = layout_name[f.layout];

	if (f.dtype == DT_UNDEFINED)
		return arena_printf(a, "%s/%s", space, layout);
	return arena_printf(a, "%s/%s/%s", space, layout, dtype_name(f.dtype));
}

size_t
format_bytes(struct format f, const struct type *type)
{
	enum dtype dtype = f.dtype == DT_UNDEFINED ? type->dtype : f.dtype;
	int64_t dim[4];
	size_t n, bytes;
	bool fits;

	assert(type_is_static(type));
	if (f.layout == LAYOUT_PLAIN || f.layout == LAYOUT_NHWC) {
		fits = tensor_size(dtype, type->dim, type->rank, &n, &bytes);
		return fits ? bytes : 0;
	}
	assert(type->rank == 4);
	memcpy(dim, type->dim, sizeof dim);
	int64_t block = f.layout == LAYOUT_BLK8 ? 8 : 16;
	dim[1] = (dim[1] + block - 1) / block * block;
	fits = tensor_size(dtype, dim, 4, &n, &bytes);
	return fits ? bytes : 0;
}

size_t
format_place_bytes(struct format f, const struct type *type)
{
	return type_has_size(type) ? format_bytes(f, type)
	                           : sizeof(struct tensor);
}
