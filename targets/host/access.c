#include "targets/host/access.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum lane
lane_of(enum dtype t)
{
	return dtype_is_float(t) ? LANE_REAL : LANE_INT;
}

int64_t
real_to_int(double x, int64_t lo, int64_t hi)
{
	if (isnan(x))
		return 0;
	if (x <= (double)lo)
		return lo;
	/* (double)hi may have rounded up to 2^63, which does not fit */
	if (x >= (double)hi)
		return hi;
	return (int64_t)x;
}

/* x as uint64, its bit pattern in an int64. */
static int64_t
real_to_u64(double x)
{
	if (isnan(x) || x <= 0)
		return 0;
	return (int64_t)(x >= 0x1p64 ? UINT64_MAX : (uint64_t)x);
}

/* One loader and one storer a dtype: element i lies at p + i * step * size.
 * The loop of adjacent elements is apart because compilers vectorise it. */
#define LOADER(name, T, C, convert) \
	static void name( \
	    C *to, const unsigned char *p, ptrdiff_t step, size_t n) \
	{ \
		const ptrdiff_t size = (ptrdiff_t)sizeof(T); \
		T x; \
\
		for (size_t i = 0; step == 1 && i < n; i++) { \
			memcpy(&x, p + i * sizeof x, sizeof x); \
			to[i] = convert; \
		} \
		for (size_t i = 0; step != 1 && i < n; i++) { \
			memcpy(&x, p + (ptrdiff_t)i * step * size, sizeof x); \
			to[i] = convert; \
		} \
	}
#define STORER(name, T, C, convert) \
	static void name( \
	    unsigned char *p, ptrdiff_t step, size_t n, const C *from) \
	{ \
		const ptrdiff_t size = (ptrdiff_t)sizeof(T); \
		T x; \
\
		for (size_t i = 0; step == 1 && i < n; i++) { \
			x = convert; \
			memcpy(p + i * sizeof x, &x, sizeof x); \
		} \
		for (size_t i = 0; step != 1 && i < n; i++) { \
			x = convert; \
			memcpy(p + (ptrdiff_t)i * step * size, &x, sizeof x); \
		} \
	}

#define INTEGER(t, T, lo, hi) \
	LOADER(real_of_##t, T, double, (double)x) \
	LOADER(int_of_##t, T, int64_t, (int64_t)x) \
	STORER(t##_of_real, T, double, (T)real_to_int(from[i], lo, hi)) \
	STORER(t##_of_int, T, int64_t, (T)(uint64_t)from[i])

INTEGER(i8, int8_t, INT8_MIN, INT8_MAX)
INTEGER(u8, uint8_t, 0, UINT8_MAX)
INTEGER(i16, int16_t, INT16_MIN, INT16_MAX)
INTEGER(u16, uint16_t, 0, UINT16_MAX)
INTEGER(i32, int32_t, INT32_MIN, INT32_MAX)
INTEGER(u32, uint32_t, 0, UINT32_MAX)
INTEGER(i64, int64_t, INT64_MIN, INT64_MAX)
LOADER(real_of_u64, uint64_t, double, (double)x)
LOADER(int_of_u64, uint64_t, int64_t, (int64_t)x)
STORER(u64_of_real, uint64_t, double, (uint64_t)real_to_u64(from[i]))
STORER(u64_of_int, uint64_t, int64_t, (uint64_t)from[i])
LOADER(real_of_bool, uint8_t, double, x ? 1.0 : 0.0)
LOADER(int_of_bool, uint8_t, int64_t, x != 0)
STORER(bool_of_real, uint8_t, double, (uint8_t)(from[i] != 0))
STORER(bool_of_int, uint8_t, int64_t, (uint8_t)(from[i] != 0))

#define CUT(x) real_to_int(x, INT64_MIN, INT64_MAX)
#define REAL(t, T, widen, narrow) \
	LOADER(real_of_##t, T, double, (double)widen(x)) \
	LOADER(int_of_##t, T, int64_t, CUT((double)widen(x))) \
	STORER(t##_of_real, T, double, narrow(from[i])) \
	STORER(t##_of_int, T, int64_t, narrow((double)from[i]))

/* A float format by way of float would round twice: go to odd first, so that
 * the second rounding sees which side of a tie the double was on. */
static float
float_to_odd(double x)
{
	float f = (float)x;
	uint32_t bits;

	if ((double)f == x || isnan(x) || isinf(f))
		return f;
	memcpy(&bits, &f, sizeof bits);
	if (bits & 1)
		return f;
	/* f is even and inexact: its neighbour on x's side is odd */
	bits = fabs((double)f) < fabs(x) ? bits + 1 : bits - 1;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint16_t
f16_from(double x)
{
	return f32_to_f16(float_to_odd(x));
}

static uint16_t
bf16_from(double x)
{
	return f32_to_bf16(float_to_odd(x));
}

REAL(f32, float, , (float))
REAL(f64, double, , )
REAL(f16, uint16_t, f16_to_f32, f16_from)
REAL(bf16, uint16_t, bf16_to_f32, bf16_from)

#define SMALL(t, dtype) \
	LOADER(real_of_##t, uint8_t, double, small_float_value(dtype, x)) \
	LOADER(int_of_##t, uint8_t, int64_t, CUT(small_float_value(dtype, x))) \
	STORER(t##_of_real, uint8_t, double, \
	    small_float_code(dtype, from[i], true)) \
	STORER(t##_of_int, uint8_t, int64_t, \
	    small_float_code(dtype, (double)from[i], true))

SMALL(e4m3fn, DT_FLOAT8E4M3FN)
SMALL(e4m3fnuz, DT_FLOAT8E4M3FNUZ)
SMALL(e5m2, DT_FLOAT8E5M2)
SMALL(e5m2fnuz, DT_FLOAT8E5M2FNUZ)
SMALL(e8m0, DT_FLOAT8E8M0)

static const struct {
	void (*load_real)(double *, const unsigned char *, ptrdiff_t, size_t);
	void (*load_int)(int64_t *, const unsigned char *, ptrdiff_t, size_t);
	void (*store_real)(unsigned char *, ptrdiff_t, size_t, const double *);
	void (*store_int)(unsigned char *, ptrdiff_t, size_t, const int64_t *);
} access[NDTYPE] = {
#define ROW(t) \
	{ \
		real_of_##t, int_of_##t, t##_of_real, t##_of_int \
	}
    [DT_FLOAT] = ROW(f32),
    [DT_UINT8] = ROW(u8),
    [DT_INT8] = ROW(i8),
    [DT_UINT16] = ROW(u16),
    [DT_INT16] = ROW(i16),
    [DT_INT32] = ROW(i32),
    [DT_INT64] = ROW(i64),
    [DT_BOOL] = ROW(bool),
    [DT_FLOAT16] = ROW(f16),
    [DT_DOUBLE] = ROW(f64),
    [DT_UINT32] = ROW(u32),
    [DT_UINT64] = ROW(u64),
    [DT_BFLOAT16] = ROW(bf16),
    [DT_FLOAT8E4M3FN] = ROW(e4m3fn),
    [DT_FLOAT8E4M3FNUZ] = ROW(e4m3fnuz),
    [DT_FLOAT8E5M2] = ROW(e5m2),
    [DT_FLOAT8E5M2FNUZ] = ROW(e5m2fnuz),
    [DT_FLOAT8E8M0] = ROW(e8m0),
#undef ROW
};

/* --- Formats of less than a byte, low bits first ------------------------ */

static unsigned
packed_get(const struct tensor *t, size_t i)
{
	uint32_t bits = dtype_bits(t->dtype), per = 8 / bits;
	const unsigned char *p = t->data;

	return (unsigned)p[i / per] >> (bits * (i % per)) & ((1u << bits) - 1);
}

static void
packed_put(const struct sink *to, size_t i, unsigned code)
{
	uint32_t bits = dtype_bits(to->dtype), per = 8 / bits;
	uint32_t shift = bits * (uint32_t)(i % per);
	unsigned mask = ((1u << bits) - 1) << shift;
	unsigned char *p = to->data;

	p[i / per] =
	    (unsigned char)((p[i / per] & ~mask) | ((code << shift) & mask));
}

static int64_t
packed_load(const struct tensor *t, size_t i)
{
	int64_t bits = dtype_bits(t->dtype), code = packed_get(t, i);

	if (dtype_is_signed(t->dtype) && code >> (bits - 1))
		code -= INT64_C(1) << bits;
	return code;
}

static double
packed_load_real(const struct tensor *t, size_t i)
{
	if (t->dtype == DT_FLOAT4E2M1)
		return small_float_value(t->dtype, (uint8_t)packed_get(t, i));
	return (double)packed_load(t, i);
}

static void
packed_store_real(const struct sink *to, size_t i, double x)
{
	int64_t bits = dtype_bits(to->dtype);
	int64_t half = INT64_C(1) << (bits - 1);

	if (to->dtype == DT_FLOAT4E2M1)
		packed_put(to, i, small_float_code(to->dtype, x, true));
	else if (dtype_is_signed(to->dtype))
		packed_put(to, i, (unsigned)real_to_int(x, -half, half - 1));
	else
		packed_put(to, i, (unsigned)real_to_int(x, 0, 2 * half - 1));
}

/* --- Public -------------------------------------------------------------- */

/* The bytes of element `at`, and the step that goes with them: a FILL has one
 * element, which every index reads. */
static const unsigned char *
element(const struct tensor *t, size_t at, ptrdiff_t *step)
{
	if (t->kind == TENSOR_FILL) {
		*step = 0;
		return t->fill;
	}
	assert(t->kind == TENSOR_VIEW);
	return (const unsigned char *)t->data + at * (dtype_bits(t->dtype) / 8);
}

void
load_real(
    double *to, const struct tensor *t, size_t at, ptrdiff_t step, size_t n)
{
	const unsigned char *p;

	if (n == 0)
		return;
	if (dtype_bits(t->dtype) < 8) {
		for (size_t i = 0; i < n; i++)
			to[i] = packed_load_real(
			    t, at + (size_t)((ptrdiff_t)i * step));
		return;
	}
	p = element(t, at, &step);
	access[t->dtype].load_real(to, p, step, n);
}

void
load_int(
    int64_t *to, const struct tensor *t, size_t at, ptrdiff_t step, size_t n)
{
	const unsigned char *p;

	if (n == 0)
		return;
	if (dtype_bits(t->dtype) < 8) {
		for (size_t i = 0; i < n; i++)
			to[i] =
			    packed_load(t, at + (size_t)((ptrdiff_t)i * step));
		return;
	}
	p = element(t, at, &step);
	access[t->dtype].load_int(to, p, step, n);
}

void
store_real(const struct sink *to, size_t at, ptrdiff_t step, size_t n,
    const double *from)
{
	uint32_t bits = dtype_bits(to->dtype);
	unsigned char *p = to->data;

	if (n == 0)
		return;
	if (bits < 8) {
		for (size_t i = 0; i < n; i++)
			packed_store_real(
			    to, at + (size_t)((ptrdiff_t)i * step), from[i]);
		return;
	}
	access[to->dtype].store_real(p + at * (bits / 8), step, n, from);
}

void
store_int(const struct sink *to, size_t at, ptrdiff_t step, size_t n,
    const int64_t *from)
{
	uint32_t bits = dtype_bits(to->dtype);
	unsigned char *p = to->data;

	if (n == 0)
		return;
	if (bits < 8) {
		for (size_t i = 0; i < n; i++)
			packed_put(to, at + (size_t)((ptrdiff_t)i * step),
			    (unsigned)(uint64_t)from[i]);
		return;
	}
	access[to->dtype].store_int(p + at * (bits / 8), step, n, from);
}

double
load_one(const struct tensor *t, size_t at)
{
	double x;

	load_real(&x, t, at, 1, 1);
	return x;
}

int64_t
load_one_int(const struct tensor *t, size_t at)
{
	int64_t x;

	load_int(&x, t, at, 1, 1);
	return x;
}
