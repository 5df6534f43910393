/* What convolutions and products of bytes share here. */
#ifndef TARGETS_DNNL_INTEGER_H
#define TARGETS_DNNL_INTEGER_H

#include "targets/dnnl/layer.h"
#include "targets/integer.h"

/* The processor sums products of bytes in 32 bits. */
bool need_wide_sums(struct why *why);

/* How sums of bytes become codes: factors of filters (of groups, or not), and the codes of
 * zero on either side, 0 where none is to be told. */
struct code_steps {
	const float *multiplier; /* [filters] */
	int64_t filters;
	bool of_groups;
	int32_t from_zero, to_zero;
};

/* Into the attributes of the primitive, which are made here; where the library takes the
 * numbers themselves when it runs (`library_scales`), into its arguments. */
bool codes_describe(struct build *b, const struct code_steps *c);
bool codes_bind(struct build *b, const struct code_steps *c);

/* Like make_primitive(), of those implementations that do not saturate. */
bool make_exact(struct build *b, const struct operation *op, uint32_t nth,
    dnnl_primitive_desc_t *pd);

#endif
