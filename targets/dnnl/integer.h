/* What convolutions and products of bytes share here. */
#ifndef TARGETS_DNNL_INTEGER_H
#define TARGETS_DNNL_INTEGER_H

#include "targets/dnnl/layer.h"
#include "targets/integer.h"

/* The processor sums products of bytes in 32 bits. */
bool need_wide_sums(struct why *why);
/* Like make_primitive(), of those implementations that do not saturate. */
bool make_exact(struct build *b, const struct operation *op, uint32_t nth,
    dnnl_primitive_desc_t *pd);

#endif
