/* What differs within the XNNPACK of 2022: library2022_02.c and library2022_12.c
 * each know one of the two. */
#ifndef TARGETS_XNNPACK_LIBRARY2022_H
#define TARGETS_XNNPACK_LIBRARY2022_H

#include "targets/xnnpack/library.h"

/* Operators that pack weights. */
enum xnn_status create_convolution(
    const struct operator* o, xnn_operator_t *op);
enum xnn_status create_deconvolution(
    const struct operator* o, xnn_operator_t *op);
enum xnn_status create_dense(const struct operator* o, xnn_operator_t *op);
enum xnn_status create_bytes(const struct operator* o, xnn_operator_t *op);
enum xnn_status create_slopes(const struct operator* o, xnn_operator_t *op);

/* Has it a transposition? The two calls fail where it has none. */
extern const bool library_transposes;
enum xnn_status create_transposition(
    const struct operator* o, xnn_operator_t *op);
enum xnn_status setup_transposition(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool);

#endif
