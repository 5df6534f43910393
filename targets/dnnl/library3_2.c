/* oneDNN 3.2 and later (Debian 13): groups of channels are normalised. */
#include "targets/dnnl/library3.h"

const dnnl_primitive_kind_t library_groups = dnnl_group_normalization;

dnnl_status_t
describe_groups(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_memory_desc_t *m, dnnl_engine_t e, const_dnnl_primitive_attr_t attr)
{
	return dnnl_group_normalization_forward_primitive_desc_create(pd, e,
	    dnnl_forward_inference, m[ROLE_SRC], m[ROLE_DST], op->n, op->a,
	    op->flags, attr);
}
