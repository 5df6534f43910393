#include "targets/look.h"

#include <stdatomic.h>
#include <string.h>

#include "targets/lanes.h"

#define SIGN 0x80000000u
#define EXPONENT_BIAS 127
#define MANTISSA_BITS 23

/* ---- floats ---- */

/* Added to a float's bits without its sign: then bit 31 says that it is not below. */
static inline uint32_t
margin(int power)
{
	return SIGN - ((uint32_t)(power + EXPONENT_BIAS) << MANTISSA_BITS);
}

/* The bits of the four vectors of `bytes` each, as far as there are four. Defined for each
 * instruction set with vectors of its own size: larger ones would go through memory. */
#define LOOP(name, bytes) \
	typedef uint32_t name##_lanes __attribute__((vector_size(bytes))); \
\
	static inline __attribute__((always_inline)) size_t name##_loop( \
	    uint32_t add, const unsigned char *data, size_t n, uint32_t *any) \
	{ \
		enum { COUNT = (bytes) / 4 }; \
		name##_lanes found[4] = {{0}}, x[4]; \
		size_t i = 0; \
\
		for (; i + 4 * COUNT <= n; i += 4 * COUNT) { \
			memcpy(x, data + i * sizeof add, sizeof x); \
			for (int k = 0; k < 4; k++) \
				found[k] |= (x[k] & ~SIGN) + add; \
		} \
		found[0] |= found[1] | found[2] | found[3]; \
		for (uint32_t k = 0; k < COUNT; k++) \
			*any |= found[0][k]; \
		return i; \
	}

typedef size_t look_loop(
    uint32_t add, const unsigned char *data, size_t n, uint32_t *any);

LOOP(base, 16)

static size_t
look_base(uint32_t add, const unsigned char *data, size_t n, uint32_t *any)
{
	return base_loop(add, data, n, any);
}

#ifdef __x86_64__
LOOP(avx2, 32)
LOOP(avx512, 64)

static __attribute__((target("avx2"))) size_t
look_avx2(uint32_t add, const unsigned char *data, size_t n, uint32_t *any)
{
	return avx2_loop(add, data, n, any);
}

static __attribute__((target("avx512f"))) size_t
look_avx512(uint32_t add, const unsigned char *data, size_t n, uint32_t *any)
{
	return avx512_loop(add, data, n, any);
}
#endif

static look_loop *
loop_here(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return look_avx512;
	if (__builtin_cpu_supports("avx2"))
		return look_avx2;
#endif
	return look_base;
}

bool
look_floats(int power, const void *data, size_t n)
{
	const unsigned char *at = data;
	const uint32_t add = margin(power);
	uint32_t any = 0, x;

	for (size_t i = loop_here()(add, at, n, &any); i < n; i++) {
		memcpy(&x, at + i * sizeof x, sizeof x);
		any |= (x & ~SIGN) + add;
	}
	return any < SIGN;
}

/* ---- on several threads ---- */

static bool
are_finite_halves(const unsigned char *data, size_t n)
{
	bool finite = true;
	uint16_t x;

	for (size_t i = 0; i < n; i++) {
		memcpy(&x, data + i * sizeof x, sizeof x);
		finite &= (x & 0x7fff) < 0x7c00;
	}
	return finite;
}

struct look_job {
	const unsigned char *data;
	enum dtype dtype;
	int power;
	atomic_bool large;
};

static void
look_at_part(void *of, size_t first, size_t n)
{
	struct look_job *l = of;
	const unsigned char *at = l->data + first * (dtype_bits(l->dtype) / 8);

	if (l->dtype == DT_FLOAT ? !look_floats(l->power, at, n)
	                         : !are_finite_halves(at, n))
		atomic_store(&l->large, true);
}

bool
look_at_all(int power, enum dtype dtype, const void *data, size_t n)
{
	struct look_job l = {.data = data, .dtype = dtype, .power = power};

	if (dtype == DT_FLOAT || dtype == DT_FLOAT16)
		lanes_split(n, look_at_part, &l);
	return !atomic_load(&l.large);
}
