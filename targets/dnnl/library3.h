/* What differs within oneDNN 3: library3_1.c and library3_2.c each know one of
 * the two. */
#ifndef TARGETS_DNNL_LIBRARY3_H
#define TARGETS_DNNL_LIBRARY3_H

#include "targets/dnnl/library.h"

/* op->kind is library_groups; m: its tensors by role. */
dnnl_status_t describe_groups(dnnl_primitive_desc_t *pd,
    const struct operation *op, dnnl_memory_desc_t *m, dnnl_engine_t e,
    const_dnnl_primitive_attr_t attr);

#endif
