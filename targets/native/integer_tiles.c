#include "targets/native/integer_tiles.h"

#include "targets/integer.h"
#include "targets/native/native.h"
#include "targets/window.h"

#define SIDE 3 /* of a window */

/* SOURCE: four times a sum of SIDE * SIDE products for each channel, none of them beyond
 * 255 * 255, is less than 2^31. */
#define MOST_CHANNELS (INT32_MAX / (4 * SIDE * SIDE * 255 * 255))

bool
tiles_fit(const struct match_in *m)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const struct graph *in = match_graph(m->match, m->graph);
	const int64_t channels = node_in(in, n, 0)->type.dim[1];
	const int64_t outputs = node_out(in, n, 0)->type.dim[1];
	const int64_t pair = 2 * (int64_t)native_version_of(m->target)->width;
	const char *fault;
	struct window w;
	bool fits = window_resolve(&w, in, n, &fault);

	for (uint32_t i = 0; fits && i < 2; i++)
		fits = w.kernel[i] == SIDE && w.stride[i] == 1
		    && w.dilation[i] == 1;
	return fits && channels <= MOST_CHANNELS && channels % pair == 0
	    && outputs % pair == 0;
}

void
tiles_set(struct integer_form *f, size_t images)
{
	f->points = TILE_POINTS;
	f->rows =
	    images * ((f->window.rows + 1) / 2) * ((f->window.columns + 1) / 2);
	f->depth = f->window.channels;
}

/* SOURCE: Lavin, Gray, "Fast Algorithms for Convolutional Neural Networks", 2015: F(2x2,
 * 3x3); twice the matrix there. */
static const int32_t matrix[4][SIDE] = {
    {2, 0, 0},
    {1, 1, 1},
    {1, -1, 1},
    {0, 0, 2},
};

/* to[4][4] of a window of one channel. */
static void
multiplied(const int32_t *from, int32_t to[TILE_POINTS])
{
	int32_t half[4][SIDE] = {{0}};

	for (size_t i = 0; i < 4; i++)
		for (size_t x = 0; x < SIDE; x++)
			for (size_t y = 0; y < SIDE; y++)
				half[i][x] += matrix[i][y] * from[y * SIDE + x];
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++) {
			int32_t sum = 0;

			for (size_t x = 0; x < SIDE; x++)
				sum += half[i][x] * matrix[j][x];
			to[4 * i + j] = sum;
		}
}

void
tiles_pack(const struct integer_form *f, const struct codes_at *w,
    const uint8_t *codes, size_t first, size_t pair, int16_t *to)
{
	const bool is_unsigned = w->codes->dtype == DT_UINT8;
	int32_t window[SIDE * SIDE], points[TILE_POINTS];

	for (size_t k = 0; k < pair; k++)
		for (size_t c = 0; c < f->depth; c++) {
			const uint8_t *at = codes + (first + k) * w->output
			    + c * w->taps * w->step;
			int16_t *place = to + (c / 2 * pair + k) * 2 + c % 2;

			for (size_t t = 0; t < SIDE * SIDE; t++, at += w->step)
				window[t] = (is_unsigned ? (int32_t)*at
				                         : (int32_t)(int8_t)*at)
				    - w->zero[first + k];
			multiplied(window, points);
			for (size_t i = 0; i < TILE_POINTS; i++)
				place[i * f->padded * pair] =
				    (int16_t)points[i];
		}
}
