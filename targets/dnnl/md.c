/* Tensors in words of our own. */
#include <string.h>

#include "targets/dnnl/library.h"

struct md
md_by_strides(int ndims, const dnnl_dims_t dims, const dnnl_dims_t strides)
{
	struct md md = {.ndims = ndims};

	memcpy(md.dims, dims, (size_t)ndims * sizeof *dims);
	memcpy(md.strides, strides, (size_t)ndims * sizeof *strides);
	return md;
}

struct md
md_by_tag(int ndims, const int64_t *dims, dnnl_format_tag_t tag)
{
	struct md md = {.ndims = ndims, .tag = tag};

	memcpy(md.dims, dims, (size_t)ndims * sizeof *dims);
	return md;
}

dnnl_data_type_t
md_type(const struct md *md)
{
	return md->type == dnnl_data_type_undef ? dnnl_f32 : md->type;
}

struct md
md_any(const struct md *like)
{
	struct md md = md_by_tag(like->ndims, like->dims, dnnl_format_tag_any);

	md.type = like->type;
	return md;
}
