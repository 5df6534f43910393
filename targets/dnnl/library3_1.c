/* oneDNN 3.0 and 3.1 (Ubuntu 24.04). */
#include "targets/dnnl/library3.h"

const dnnl_primitive_kind_t library_groups = dnnl_undefined_primitive;

dnnl_status_t
describe_groups(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_memory_desc_t *m, dnnl_engine_t e, const_dnnl_primitive_attr_t attr)
{
	(void)pd, (void)op, (void)m, (void)e, (void)attr;
	return dnnl_unimplemented;
}
