/* Does the library multiply float16 right on this processor? SOURCE: seen in
 * XNNPACK of 2024-11 with AVX512-FP16: of 64 columns and more its packing makes
 * nonsense, whether weights are given as floats or as halves. */
#include "targets/xnnpack/halves.h"

#include <math.h>
#include <stdatomic.h>

#include "ir/dtype.h"

#define DEPTH 32
#define COLUMNS 64

/* Column j of the result is element j of the row, which there are DEPTH of. */
static bool
is_right(const uint16_t *result)
{
	for (uint32_t j = 0; j < COLUMNS; j++)
		if (result[j] != f32_to_f16((float)(j % DEPTH)))
			return false;
	return true;
}

static bool
try_product(void)
{
	static float weights[COLUMNS * DEPTH];
	/* (the library reads and writes 16 bytes beyond) */
	uint16_t row[DEPTH + 8] = {0}, result[COLUMNS + 8] = {0};
	const struct operator o = {
	    .kind = OPERATOR_DENSE,
	    .halves = true,
	    .flags = XNN_FLAG_FP32_STATIC_WEIGHTS,
	    .in = DEPTH,
	    .out = COLUMNS,
	    .row = COLUMNS,
	    .batch = 1,
	    .weights = weights,
	    .low = -INFINITY,
	    .high = INFINITY,
	};
	const float *const operand[2] = {(const void *)row, NULL};
	struct instance i = {0};
	bool ok;

	for (uint32_t j = 0; j < COLUMNS; j++)
		weights[j * DEPTH + j % DEPTH] = 1;
	for (uint32_t k = 0; k < DEPTH; k++)
		row[k] = f32_to_f16((float)k);
	ok = instance_create(&i, &o) == xnn_status_success
	    && instance_setup(&i, &o, operand, (void *)result, NULL)
	        == xnn_status_success
	    && xnn_run_operator(i.op, NULL) == xnn_status_success
	    && is_right(result);
	instance_release(&i);
	return ok;
}

/* Asked for once: 1 yes, 2 no. */
static bool
multiplies_right(void)
{
	static atomic_uint known;
	unsigned answer = atomic_load(&known);

	if (!answer) {
		answer = try_product() ? 1 : 2;
		atomic_store(&known, answer);
	}
	return answer == 1;
}

bool
halves_are_right(const struct operator* o)
{
	size_t columns = 0;

	if (o->kind == OPERATOR_CONVOLUTION || o->kind == OPERATOR_DENSE)
		columns = o->out;
	else if (o->kind == OPERATOR_PRODUCT)
		columns = o->right.size[o->right.rank - 1];
	return columns < COLUMNS || multiplies_right();
}
