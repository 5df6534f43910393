#include "targets/host/gemm.h"

#include <string.h>

/* C is computed in tiles of 4 x 4: 16 sums stay in registers. */
#define TILE 4

/* c[4][..] += a[k][4] * b[k][..]; the one hot loop of the host. */
static void
tile(double *restrict c, const double *restrict a, const double *restrict b,
    size_t k)
{
	double t[TILE][TILE];

	for (size_t i = 0; i < TILE; i++)
		for (size_t j = 0; j < TILE; j++)
			t[i][j] = c[i * GEMM_COLUMNS + j];
	for (size_t s = 0; s < k; s++) {
		const double *row = b + s * GEMM_COLUMNS;

		for (size_t i = 0; i < TILE; i++)
			for (size_t j = 0; j < TILE; j++)
				t[i][j] += a[s * TILE + i] * row[j];
	}
	for (size_t i = 0; i < TILE; i++)
		for (size_t j = 0; j < TILE; j++)
			c[i * GEMM_COLUMNS + j] = t[i][j];
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
	size_t wide = (nn + TILE - 1) / TILE * TILE;

	for (size_t k0 = 0; k0 < g->k; k0 += GEMM_DEPTH) {
		size_t left = g->k - k0;
		size_t kn = left < GEMM_DEPTH ? left : GEMM_DEPTH;

		g->load_b(g->ctx, k0, kn, n0, nn, b);
		for (size_t i = 0; i < g->m; i += TILE) {
			pack_a(g, i, k0, kn, a);
			for (size_t j = 0; j < wide; j += TILE)
				tile(c + i * GEMM_COLUMNS + j, a, b + j, kn);
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
