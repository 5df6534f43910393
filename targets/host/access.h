/* Reading and writing elements of any dtype, written once. Kernels compute in
 * double (every floating-point format) or int64 (every integer and bool): one
 * rounding, at the store. A double holds every product of two floats exactly,
 * so sums are far better than the formats they end in. */
#ifndef TARGETS_HOST_ACCESS_H
#define TARGETS_HOST_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/tensor.h"

/* Sets of dtypes, one bit each. */
typedef uint64_t dtype_set;
#define DTYPE_BIT(t) (UINT64_C(1) << (t))

/* How a dtype is computed with. */
enum lane { LANE_REAL, LANE_INT };
enum lane lane_of(enum dtype t);

/* n elements from index `at`, `step` elements apart. The tensor is a VIEW of
 * any alignment or a FILL. */
void load_real(
    double *to, const struct tensor *t, size_t at, ptrdiff_t step, size_t n);
/* uint64 comes as its bit pattern; reals are cut towards zero, saturating. */
void load_int(
    int64_t *to, const struct tensor *t, size_t at, ptrdiff_t step, size_t n);

/* Where results go: memory of a dtype. */
struct sink {
	void *data;
	enum dtype dtype;
};
/* Rounded to nearest even for float formats; cut towards zero and saturated
 * (NaN: 0) for integers; != 0 for bool. */
void store_real(const struct sink *to, size_t at, ptrdiff_t step, size_t n,
    const double *from);
/* Low bits kept. */
void store_int(const struct sink *to, size_t at, ptrdiff_t step, size_t n,
    const int64_t *from);

double load_one(const struct tensor *t, size_t at);
int64_t load_one_int(const struct tensor *t, size_t at);

/* Cut towards zero; saturated to lo..hi; NaN is 0. */
int64_t real_to_int(double x, int64_t lo, int64_t hi);

#endif
