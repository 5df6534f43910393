/* Winograd's transforms of one dimension of a tile: vectors `from` apart read,
 * `to` apart written; tile_in_SIDE of inputs, tile_out_OUTPUTS_SIDE of sums, which are fewer by
 * one than the window is wide. SOURCE: A. Lavin, S. Gray, Fast Algorithms for Convolutional
 * Neural Networks, 2015; points 0, 1, -1 (2, -2, 1/2, -1/2) and infinity. */
#ifndef TARGETS_NATIVE_VECTOR_TILES_H
#define TARGETS_NATIVE_VECTOR_TILES_H

#include "targets/native/vector.h"

#define D(i) d[(i)*from]
#define O(i) o[(i)*to]

ALWAYS void
tile_in_4(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	O(0) = D(0) - D(2);
	O(1) = D(1) + D(2);
	O(2) = D(2) - D(1);
	O(3) = D(1) - D(3);
}

ALWAYS void
tile_out_2_4(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	O(0) = D(0) + D(1) + D(2);
	O(1) = D(1) - D(2) - D(3);
}

ALWAYS void
tile_in_6(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4);
	const vec p = d4 - 4 * d2, q = d3 - 4 * d1;
	const vec r = d4 - d2, u = 2 * (d3 - d1);

	O(0) = 4 * D(0) + (d4 - 5 * d2);
	O(1) = p + q;
	O(2) = p - q;
	O(3) = r + u;
	O(4) = r - u;
	O(5) = 4 * d1 + (D(5) - 5 * d3);
}

ALWAYS void
tile_out_4_6(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4);
	const vec a = d1 + d2, b = d1 - d2, c = d3 + d4, e = d3 - d4;

	O(0) = D(0) + a + c;
	O(1) = 2 * e + b;
	O(2) = 4 * c + a;
	O(3) = 8 * e + (b + D(5));
}

ALWAYS void
tile_in_8(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4), d5 = D(5);
	const vec d6 = D(6);
	vec p, q;

	O(0) = (D(0) - d6) + 5.25f * (d4 - d2);
	p = (d2 + d6) - 4.25f * d4;
	q = (d1 + d5) - 4.25f * d3;
	O(1) = p + q;
	O(2) = p - q;
	p = d6 + (0.25f * d2 - 1.25f * d4);
	q = 0.5f * d1 + (2 * d5 - 2.5f * d3);
	O(3) = p + q;
	O(4) = p - q;
	p = d6 + (4 * d2 - 5 * d4);
	q = 2 * d1 + (0.5f * d5 - 2.5f * d3);
	O(5) = p + q;
	O(6) = p - q;
	O(7) = (D(7) - d1) + 5.25f * (d3 - d5);
}

ALWAYS void
tile_out_6_8(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4), d5 = D(5);
	const vec d6 = D(6);
	const vec a = d1 + d2, b = d1 - d2, c = d3 + d4, e = d3 - d4;
	const vec f = d5 + d6, g = d5 - d6;

	O(0) = D(0) + a + (c + 32 * f);
	O(1) = b + 2 * e + 16 * g;
	O(2) = a + 4 * c + 8 * f;
	O(3) = b + 8 * e + 4 * g;
	O(4) = a + 16 * c + 2 * f;
	O(5) = (b + 32 * e) + (g + D(7));
}

/* ---- of windows of five: the same points, fewer outputs ---- */

ALWAYS void
tile_out_2_6(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4);

	O(0) = D(0) + (d1 + d2) + (d3 + d4);
	O(1) = 2 * (d3 - d4) + ((d1 - d2) + D(5));
}

ALWAYS void
tile_out_4_8(const vec *restrict d, size_t from, vec *restrict o, size_t to)
{
	const vec d1 = D(1), d2 = D(2), d3 = D(3), d4 = D(4), d5 = D(5);
	const vec d6 = D(6);
	const vec a = d1 + d2, b = d1 - d2, c = d3 + d4, e = d3 - d4;
	const vec f = d5 + d6, g = d5 - d6;

	O(0) = D(0) + a + (c + 8 * f);
	O(1) = b + 2 * e + 4 * g;
	O(2) = a + 4 * c + 2 * f;
	O(3) = (b + 8 * e) + (g + D(7));
}

#undef D
#undef O

#endif
