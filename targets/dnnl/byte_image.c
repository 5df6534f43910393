#include "targets/dnnl/byte_image.h"

#include <string.h>

#include "targets/bytes.h"
#include "targets/team.h"

/* TUNING: padded codes of a model's largest image are a hundredth of this. */
#define CODES_MAX ((double)(1u << 30))

/* ---- sizes ---- */

static bool
take_axis(
    struct byte_image *i, uint32_t axis, const struct window *w, uint32_t from)
{
	const double reach =
	    (double)(i->out[axis] - 1) * (double)w->stride[from]
	    + (double)(w->kernel[from] - 1) * (double)w->dilation[from] + 1;

	if (w->before[from] < 0 || reach > CODES_MAX)
		return false;
	i->before[axis] = (size_t)w->before[from];
	i->padded[axis] = (size_t)reach;
	i->kernel[axis] = (size_t)w->kernel[from];
	i->stride[axis] = i->out[axis] > 1 ? (size_t)w->stride[from] : 1;
	i->dilation[axis] = (size_t)w->dilation[from];
	return true;
}

bool
byte_image_of(struct byte_image *i, const struct window *w,
    const struct type *x, const struct type *y, size_t groups)
{
	*i = (struct byte_image){
	    .batch = (size_t)x->dim[0],
	    .channels = (size_t)x->dim[1],
	    .groups = groups,
	    .in = {1, 1},
	    .out = {1, 1},
	    .padded = {1, 1},
	    .kernel = {1, 1},
	    .stride = {1, 1},
	    .dilation = {1, 1},
	    .is_unsigned = x->dtype == DT_UINT8,
	};
	for (uint32_t from = 0; from < w->n; from++) {
		const uint32_t axis = from + 2 - w->n;

		i->in[axis] = (size_t)x->dim[2 + from];
		i->out[axis] = (size_t)y->dim[2 + from];
		if (!take_axis(i, axis, w, from))
			return false;
	}
	return (double)i->batch * (double)i->padded[0] * (double)i->padded[1]
	    * (double)i->channels
	    <= CODES_MAX;
}

struct window
byte_image_window(const struct byte_image *i)
{
	struct window w = {.n = 2};

	for (uint32_t k = 0; k < 2; k++) {
		w.kernel[k] = (int64_t)i->kernel[k];
		w.stride[k] = (int64_t)i->stride[k];
		w.dilation[k] = (int64_t)i->dilation[k];
	}
	return w;
}

size_t
byte_image_size(const struct byte_image *i)
{
	return i->batch * i->padded[0] * i->padded[1] * i->channels;
}

size_t
byte_image_positions(const struct byte_image *i)
{
	return i->batch * i->out[0] * i->out[1];
}

/* ---- channels last ---- */

/* TUNING: positions whose channels stay in the nearest cache while they are filled. */
#define BLOCK ((size_t)64)

struct filling {
	const struct byte_image *image;
	const uint8_t *from;
	uint8_t *to;
	size_t blocks; /* of a row */
};

/* Positions of the input that a window reaches. */
static size_t
reached(const struct byte_image *i, uint32_t axis)
{
	const size_t most = i->padded[axis] > i->before[axis]
	    ? i->padded[axis] - i->before[axis]
	    : 0;

	return i->in[axis] < most ? i->in[axis] : most;
}

/* One block of a row. */
static void
fill_block(void *data, uint32_t at)
{
	const struct filling *f = data;
	const struct byte_image *i = f->image;
	const size_t rows = reached(i, 0), area = i->in[0] * i->in[1];
	const size_t first = at % f->blocks * BLOCK;
	const size_t left = reached(i, 1) - first;
	const size_t n = left < BLOCK ? left : BLOCK;
	const size_t row = at / f->blocks % rows, image = at / f->blocks / rows;
	const uint8_t *from =
	    f->from + image * i->channels * area + row * i->in[1] + first;
	uint8_t *to = f->to
	    + ((image * i->padded[0] + i->before[0] + row) * i->padded[1]
	          + i->before[1] + first)
	        * i->channels;

	for (size_t c = 0; c < i->channels; c++, from += area)
		for (size_t k = 0; k < n; k++)
			to[k * i->channels + c] = from[k];
}

void
byte_image_fill(
    const struct byte_image *i, const void *from, int32_t zero, uint8_t *to)
{
	struct filling f = {i, from, to, (reached(i, 1) + BLOCK - 1) / BLOCK};
	const size_t rows = reached(i, 0);

	if (rows < i->padded[0] || reached(i, 1) < i->padded[1])
		memset(to, (uint8_t)zero, byte_image_size(i));
	team_run((uint32_t)(i->batch * rows * f.blocks), fill_block, &f);
}

/* ---- sums under windows ---- */

static void
sum_channels(const struct byte_image *i, const uint8_t *codes, int32_t zero,
    int32_t *plane)
{
	const size_t each = i->channels / i->groups;
	const size_t n = i->padded[0] * i->padded[1] * i->groups;

	for (size_t k = 0; k < n; k++, codes += each)
		plane[k] = byte_total(codes, each, i->is_unsigned)
		    - (int32_t)each * zero;
}

static void
add_window(const struct byte_image *i, const int32_t *plane, int32_t *sum)
{
	memset(sum, 0, i->groups * sizeof *sum);
	for (size_t y = 0; y < i->kernel[0]; y++)
		for (size_t x = 0; x < i->kernel[1]; x++) {
			const int32_t *at = plane
			    + (y * i->dilation[0] * i->padded[1]
			          + x * i->dilation[1])
			        * i->groups;

			for (size_t g = 0; g < i->groups; g++)
				sum[g] += at[g];
		}
}

void
byte_image_sums(const struct byte_image *i, const uint8_t *codes, int32_t zero,
    int32_t *plane, int32_t *sum)
{
	for (size_t n = 0; n < i->batch; n++) {
		sum_channels(i, codes, zero, plane);
		for (size_t y = 0; y < i->out[0]; y++)
			for (size_t x = 0; x < i->out[1]; x++) {
				add_window(i,
				    plane
				        + (y * i->stride[0] * i->padded[1]
				              + x * i->stride[1])
				            * i->groups,
				    sum);
				sum += i->groups;
			}
		codes += i->padded[0] * i->padded[1] * i->channels;
	}
}
