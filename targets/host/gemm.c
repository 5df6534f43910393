#include "targets/host/gemm.h"

#include <string.h>

/* C is computed in tiles of four rows and two vectors: their sums stay in registers. */
#define TILE 4

typedef void tile_run(double *restrict c, const double *restrict a,
    const double *restrict b, size_t k);

/* c[4][..] += a[k][4] * b[k][..]; the one hot loop of the host. Defined for each instruction
 * set with vectors of its own size. Products are rounded before they are added, and
 * the sum over k goes upwards, whatever the size: results are the same bits. */
#define LOOP(name, bytes) \
	typedef double name##_lanes __attribute__((vector_size(bytes))); \
\
	static inline __attribute__((always_inline)) void name##_loop( \
	    double *restrict c, const double *restrict a, \
	    const double *restrict b, size_t k) \
	{ \
		enum { COUNT = (bytes) / 8 }; \
		name##_lanes t[2 * TILE], left, right; \
\
		for (size_t i = 0; i < 2 * TILE; i++) \
			memcpy(&t[i], \
			    c + i / 2 * GEMM_COLUMNS + i % 2 * COUNT, bytes); \
		for (size_t s = 0; s < k; s++, b += GEMM_COLUMNS) { \
			memcpy(&left, b, bytes); \
			memcpy(&right, b + COUNT, bytes); \
			for (size_t i = 0; i < TILE; i++) { \
				t[2 * i] += a[s * TILE + i] * left; \
				t[2 * i + 1] += a[s * TILE + i] * right; \
			} \
		} \
		for (size_t i = 0; i < 2 * TILE; i++) \
			memcpy(c + i / 2 * GEMM_COLUMNS + i % 2 * COUNT, \
			    &t[i], bytes); \
	}

LOOP(base, 16)

static void
tile_base(double *restrict c, const double *restrict a,
    const double *restrict b, size_t k)
{
	base_loop(c, a, b, k);
}

#ifdef __x86_64__
LOOP(avx2, 32)
LOOP(avx512, 64)

static __attribute__((target("avx2"))) void
tile_avx2(double *restrict c, const double *restrict a,
    const double *restrict b, size_t k)
{
	avx2_loop(c, a, b, k);
}

static __attribute__((target("avx512f"))) void
tile_avx512(double *restrict c, const double *restrict a,
    const double *restrict b, size_t k)
{
	avx512_loop(c, a, b, k);
}
#endif

struct tiles {
	tile_run *run;
	size_t wide; /* columns of one */
};

static struct tiles
tiles_here(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return (struct tiles){tile_avx512, 16};
	if (__builtin_cpu_supports("avx2"))
		return (struct tiles){tile_avx2, 8};
#endif
	return (struct tiles){tile_base, 4};
}

/* Rows i0.. of A, columns k0..k0+kn, as a[kn][TILE]; rows beyond m are 0. */
static void
pack_a(const struct gemm *g, size_t i0, size_t k0, size_t kn, double *a)
{
	double row[GEMM_DEPTH];

	for (size_t i = 0; i < TILE; i++) {
		double zero = 0;

		if (i0 + i >= g->m) {
			memset(row, 0, kn * sizeof *row);
		} else {
			size_t at = g->a_at + (i0 + i) * (size_t)g->a_row
			    + k0 * (size_t)g->a_col;

			load_real(row, g->a, at, g->a_col, kn);
			zero = g->a_zero ? g->a_zero[i0 + i] : 0;
		}
		for (size_t s = 0; s < kn; s++)
			a[s * TILE + i] = row[s] - zero;
	}
}

static void
columns(const struct gemm *g, size_t n0, size_t nn, double *b, double *c)
{
	double a[GEMM_DEPTH * TILE];
	const struct tiles tiles = tiles_here();

	for (size_t k0 = 0; k0 < g->k; k0 += GEMM_DEPTH) {
		size_t left = g->k - k0;
		size_t kn = left < GEMM_DEPTH ? left : GEMM_DEPTH;

		g->load_b(g->ctx, k0, kn, n0, nn, b);
		for (size_t i = 0; i < g->m; i += TILE) {
			pack_a(g, i, k0, kn, a);
			for (size_t j = 0; j < nn; j += tiles.wide)
				tiles.run(
				    c + i * GEMM_COLUMNS + j, a, b + j, kn);
		}
	}
}

void
gemm_run(const struct gemm *g, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	size_t rows = (g->m + TILE - 1) / TILE * TILE;
	size_t depth = g->k < GEMM_DEPTH ? g->k : GEMM_DEPTH;
	double *b = arena_array(scratch, depth, GEMM_COLUMNS * sizeof *b);
	double *c = arena_array(scratch, rows, GEMM_COLUMNS * sizeof *c);

	for (size_t n0 = 0; n0 < g->n; n0 += GEMM_COLUMNS) {
		size_t left = g->n - n0;
		size_t nn = left < GEMM_COLUMNS ? left : GEMM_COLUMNS;

		memset(c, 0, rows * GEMM_COLUMNS * sizeof *c);
		columns(g, n0, nn, b, c);
		g->take(g->ctx, n0, nn, c, g->m);
	}
	arena_back(scratch, mark);
}
