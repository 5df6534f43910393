/* The largest bytes under windows, a vector of channels at a time. */
#ifndef TARGETS_NATIVE_VECTOR_POOL_BYTES_H
#define TARGETS_NATIVE_VECTOR_POOL_BYTES_H

#include "targets/native/pool_bytes_form.h"
#include "targets/native/vector.h"

ALWAYS uint8_t
byte_most(uint8_t a, uint8_t b, bool is_unsigned)
{
	if (is_unsigned)
		return a > b ? a : b;
	return (int8_t)a > (int8_t)b ? a : b;
}

/* Where the elements under a window lie. */
struct pool_taps {
	size_t n;
	size_t at[POOL_TAPS];
};

/* Few bytes, a constant number, of which the compiler makes a vector. */
#define POOL_PART ((size_t)8)

ALWAYS void
pool_part(uint8_t *to, const uint8_t *from, const struct pool_taps *t, size_t n,
    bool is_unsigned)
{
	uint8_t most[POOL_PART];

	for (size_t c = 0; c < n; c++)
		most[c] = from[t->at[0] + c];
	for (size_t i = 1; i < t->n; i++)
		for (size_t c = 0; c < n; c++)
			most[c] =
			    byte_most(from[t->at[i] + c], most[c], is_unsigned);
	for (size_t c = 0; c < n; c++)
		to[c] = most[c];
}

#ifdef __AVX2__
#define POOL_STEP ((size_t)32)

ALWAYS void
pool_step(uint8_t *to, const uint8_t *from, const struct pool_taps *t,
    bool is_unsigned)
{
	__m256i most = _mm256_loadu_si256((const __m256i *)(from + t->at[0]));

	for (size_t i = 1; i < t->n; i++) {
		const __m256i x =
		    _mm256_loadu_si256((const __m256i *)(from + t->at[i]));

		most = is_unsigned ? _mm256_max_epu8(most, x)
		                   : _mm256_max_epi8(most, x);
	}
	_mm256_storeu_si256((__m256i *)to, most);
}
#else
#define POOL_STEP POOL_PART

ALWAYS void
pool_step(uint8_t *to, const uint8_t *from, const struct pool_taps *t,
    bool is_unsigned)
{
	pool_part(to, from, t, POOL_PART, is_unsigned);
}
#endif

/* One pixel's channels; of the last ones some twice, where they are not whole parts. */
ALWAYS void
pool_pixel(uint8_t *to, const uint8_t *from, const struct pool_taps *t,
    size_t channels, bool is_unsigned)
{
	size_t c = 0;

	for (; c + POOL_STEP <= channels; c += POOL_STEP)
		pool_step(to + c, from + c, t, is_unsigned);
	for (; c + POOL_PART <= channels; c += POOL_PART)
		pool_part(to + c, from + c, t, POOL_PART, is_unsigned);
	if (c < channels && channels >= POOL_PART)
		pool_part(to + channels - POOL_PART,
		    from + channels - POOL_PART, t, POOL_PART, is_unsigned);
	else
		for (; c < channels; c++)
			pool_part(to + c, from + c, t, 1, is_unsigned);
}

/* Of the window whose first corner is at y, x; those outside the image are left out. */
static void
pool_find_taps(
    const struct integer_window *w, int64_t y, int64_t x, struct pool_taps *t)
{
	t->n = 0;
	for (size_t i = 0; i < w->kernel[0]; i++)
		for (size_t k = 0; k < w->kernel[1]; k++) {
			const int64_t row = y + (int64_t)i * w->dilation[0];
			const int64_t column = x + (int64_t)k * w->dilation[1];

			if (row >= 0 && row < (int64_t)w->height && column >= 0
			    && column < (int64_t)w->width)
				t->at[t->n++] =
				    ((size_t)row * w->width + (size_t)column)
				    * w->channels;
		}
}

ALWAYS bool
pool_is_within(const struct integer_window *w, int64_t x)
{
	const int64_t last = ((int64_t)w->kernel[1] - 1) * w->dilation[1];

	return x >= 0 && x + last < (int64_t)w->width;
}

ALWAYS void
pool_row(const struct integer_window *w, int64_t y, const uint8_t *from,
    uint8_t *to, bool is_unsigned)
{
	const size_t step = (size_t)w->stride[1] * w->channels;
	struct pool_taps taps = {.n = 0};
	size_t on = 0; /* from where taps were found */
	bool found = false; /* for all windows within the image's width */
	int64_t x = -w->before[1];

	for (size_t i = 0; i < w->columns; i++, x += w->stride[1]) {
		const bool within = pool_is_within(w, x);

		on = found && within ? on + step : 0;
		if (!on)
			pool_find_taps(w, y, x, &taps);
		found = within;
		pool_pixel(to, from + on, &taps, w->channels, is_unsigned);
		to += w->channels;
	}
}

static void
pool_bytes_row(
    const struct pool_bytes *p, size_t row, const uint8_t *in, uint8_t *out)
{
	const struct integer_window *w = &p->window;
	const uint8_t *from =
	    in + row / w->rows * w->height * w->width * w->channels;
	uint8_t *to = out + row * w->columns * w->channels;
	const int64_t y =
	    (int64_t)(row % w->rows) * w->stride[0] - w->before[0];

	if (p->is_unsigned)
		pool_row(w, y, from, to, true);
	else
		pool_row(w, y, from, to, false);
}

#endif
