/* Convolution of each channel by itself: a vector of channels of a band of rows at a
 * time, up to WINDOW_GROUP outputs of a row at once, whose sums are registers and go
 * through what follows. Where windows reach beyond the image, or pixels are further
 * apart than a vector, the inputs of a rectangle of outputs are copied first, with
 * zeros around them, so that no loop over a window asks where it is. */
#ifndef TARGETS_NATIVE_VECTOR_DEPTHWISE_H
#define TARGETS_NATIVE_VECTOR_DEPTHWISE_H

#include "targets/native/depthwise_form.h"
#include "targets/native/vector_product.h"
#include "targets/native/vector_steps.h"

/* ---- sums of a few outputs ---- */

/* Outputs whose sums, with a row's weights and the pixels they share, fit the
 * registers. */
#if NATIVE_GROUP > 6
#define WINDOW_GROUP 16
#else
#define WINDOW_GROUP 6
#endif

/* Windows side by side. */
struct window_sums {
	const float *x; /* the first window's first pixel */
	size_t pixel, down; /* floats to the next, and to the next row */
	const float *w; /* of that row */
	size_t rows, width; /* of the windows, what of them is in the image */
	size_t line; /* floats from a row's weights to the next's */
	size_t stride; /* pixels from a window to the next */
	const float *bias;
	float low, high;
	float *to; /* vectors, `step` apart */
	size_t step;
};

#define WINDOW_START(r) vec x##r = bias;
#define WINDOW_GIVE(r) \
	vec_store(to + (r)*step, vec_ceil_at(vec_floor_at(x##r, low), high));

ALWAYS vec
window_next(const float **at, size_t pixel)
{
	const vec x = vec_kept(vec_load(*at));

	*at += pixel;
	return x;
}

#define WINDOW_WEIGHT(k) const vec w##k = vec_load(w + (k)*NATIVE_WIDTH);
#define WINDOW_COLUMN(k) vec v##k = window_next(&at, pixel);

/* An output's part of a row: columns that the next window shares stay in registers. */
#define WINDOW_3(r) \
	x##r += v0 * w0; \
	x##r += v1 * w1; \
	x##r += v2 * w2;
#define WINDOW_3_BY_1(r) \
	{ \
		WINDOW_COLUMN(2) \
		WINDOW_3(r) \
		v0 = v1; \
		v1 = v2; \
	}
#define WINDOW_3_BY_2(r) \
	{ \
		WINDOW_COLUMN(1) \
		WINDOW_COLUMN(2) \
		WINDOW_3(r) \
		v0 = v2; \
	}
#define WINDOW_5(r) \
	WINDOW_3(r) \
	x##r += v3 * w3; \
	x##r += v4 * w4;
#define WINDOW_5_BY_1(r) \
	{ \
		WINDOW_COLUMN(4) \
		WINDOW_5(r) \
		v0 = v1; \
		v1 = v2; \
		v2 = v3; \
		v3 = v4; \
	}
#define WINDOW_5_BY_2(r) \
	{ \
		WINDOW_COLUMN(3) \
		WINDOW_COLUMN(4) \
		WINDOW_5(r) \
		v0 = v2; \
		v1 = v3; \
		v2 = v4; \
	}
#define WINDOW_ANY(r) x##r += window_next(&of, right) * weight;

#define ROW_3_BY_1(n) \
	ROWS_3(WINDOW_WEIGHT) ROWS_2(WINDOW_COLUMN) ROWS_##n(WINDOW_3_BY_1)
#define ROW_3_BY_2(n) \
	ROWS_3(WINDOW_WEIGHT) ROWS_1(WINDOW_COLUMN) ROWS_##n(WINDOW_3_BY_2)
#define ROW_5_BY_1(n) \
	ROWS_5(WINDOW_WEIGHT) ROWS_4(WINDOW_COLUMN) ROWS_##n(WINDOW_5_BY_1)
#define ROW_5_BY_2(n) \
	ROWS_5(WINDOW_WEIGHT) ROWS_3(WINDOW_COLUMN) ROWS_##n(WINDOW_5_BY_2)
#define ROW_ANY(n) \
	for (size_t k = 0; k < m->width; k++) { \
		const vec weight = vec_load(w + k * NATIVE_WIDTH); \
		const size_t right = m->stride * pixel; \
		const float *of = at + k * pixel; \
\
		ROWS_##n(WINDOW_ANY) \
	}

#define WINDOWS_OF(n, kind) \
	static __attribute__((noinline)) void windows_##kind##_##n( \
	    const struct window_sums *m) \
	{ \
		const vec bias = vec_load(m->bias); \
		const float *x = m->x, *w = m->w; \
		const float low = m->low, high = m->high; \
		const size_t pixel = m->pixel, down = m->down; \
		const size_t step = m->step, line = m->line, rows = m->rows; \
		float *to = m->to; \
\
		ROWS_##n(WINDOW_START) for (size_t y = 0; y < rows; y++) \
		{ \
			const float *at = x; \
\
			ROW_##kind(n) x += down; \
			w += line; \
		} \
		ROWS_##n(WINDOW_GIVE) \
	}
#define WINDOWS(n) \
	WINDOWS_OF(n, 3_BY_1) \
	WINDOWS_OF(n, 3_BY_2) \
	WINDOWS_OF(n, 5_BY_1) \
	WINDOWS_OF(n, 5_BY_2) \
	WINDOWS_OF(n, ANY)

WINDOWS(1)
WINDOWS(2)
WINDOWS(3)
WINDOWS(4)
WINDOWS(5)
WINDOWS(6)
#if WINDOW_GROUP > 6
WINDOWS(7)
WINDOWS(8)
WINDOWS(9)
WINDOWS(10)
WINDOWS(11)
WINDOWS(12)
WINDOWS(13)
WINDOWS(14)
WINDOWS(15)
WINDOWS(16)
#define WINDOWS_LIST(name) \
	{ \
		name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, \
		    name##_7, name##_8, name##_9, name##_10, name##_11, \
		    name##_12, name##_13, name##_14, name##_15, name##_16 \
	}
#else
#define WINDOWS_LIST(name) \
	{ \
		name##_1, name##_2, name##_3, name##_4, name##_5, name##_6 \
	}
#endif

/* Of n + 1 windows. */
typedef void (*const windows_list[WINDOW_GROUP])(const struct window_sums *m);
static windows_list windows_3[] = {
    WINDOWS_LIST(windows_3_BY_1), WINDOWS_LIST(windows_3_BY_2)};
static windows_list windows_5[] = {
    WINDOWS_LIST(windows_5_BY_1), WINDOWS_LIST(windows_5_BY_2)};
static windows_list windows_any = WINDOWS_LIST(windows_ANY);

ALWAYS const windows_list *
windows_of(size_t width, size_t stride)
{
	return width == 3 ? &windows_3[stride - 1]
	    : width == 5  ? &windows_5[stride - 1]
	                  : &windows_any;
}

/* ---- what follows ---- */

/* A vector of channels of an image. */
struct channel_vector {
	const struct channelwise *p;
	const void *const *in;
	float *out, *scratch;
	const float *x; /* its first pixel */
	size_t channel, there; /* how many may be read and written */
	size_t result; /* where its first output lies */
};

/* Step i of what follows n sums. */
static inline void
sums_step(const struct channel_vector *c, const struct native_step *s, vec *x,
    size_t n, size_t at)
{
	const size_t pixel = c->p->out.pixel;
	vec other[WINDOW_GROUP];

	if (s->channel) {
		other[0] = vec_load(s->channel + c->channel);
		step_operation(s, x, other, n, 0);
	} else if (s->port >= 0) {
		const float *from = (const float *)c->in[s->port] + at;

		for (size_t k = 0; k < n; k++)
			other[k] = vec_load_first(from + k * pixel, c->there);
		step_operation(s, x, other, n, 1);
	} else {
		step_function(s, x, n);
	}
}

/* What follows n sums, which then are written `at` floats on. */
static inline void
sums_finish(const struct channel_vector *c, vec *x, size_t n, size_t at)
{
	const struct channelwise *p = c->p;
	const uint32_t steps = p->steps.n;
	const bool written = c->channel + NATIVE_WIDTH <= p->real
	    && steps_end_in_function(&p->steps);
	bits mask;

	for (uint32_t i = 0; i < steps - written; i++)
		sums_step(c, &p->steps.step[i], x, n, at);
	if (written) {
		step_function_to(
		    &p->steps.step[steps - 1], x, n, c->out + at, p->out.pixel);
		return;
	}
	mask = lanes_before(p->real, c->channel);
	for (size_t k = 0; k < n; k++)
		vec_store_first(c->out + at + k * p->out.pixel,
		    vec_only(mask, x[k]), c->there);
}

/* ---- rectangles of outputs ---- */

struct rectangle {
	size_t y, rows, x, columns;
};

/* Where the inputs of windows lie. */
struct window_inputs {
	const float *x; /* of row `first` of the image */
	int64_t first;
	size_t pixel, down; /* floats to the next, and to the next row */
};

/* The first row or column of an output's window; before the image it is below 0. */
ALWAYS int64_t
window_at(size_t output, size_t stride, int64_t padding)
{
	return (int64_t)(output * stride) - padding;
}

/* Rows of the image that windows from row `from` to `to` have. */
ALWAYS void
rows_inside(const struct channelwise *p, int64_t *from, int64_t *to)
{
	const int64_t height = (int64_t)p->height;

	*from = *from < 0 ? 0 : *from;
	*to = *to > height ? height : *to;
	*to = *to < *from ? *from : *to;
}

/* n outputs, windows of that kind. */
static inline void
row_part(const struct channel_vector *c, struct window_sums *m,
    const windows_list *kind, size_t n, size_t at)
{
	const struct channelwise *p = c->p;
	const bool whole = p->steps.n == 0 && c->there >= NATIVE_WIDTH
	    && (c->channel + NATIVE_WIDTH <= p->real
	        || (p->low <= 0 && p->high >= 0));
	vec x[WINDOW_GROUP];

	m->to = whole ? c->out + at : (float *)x;
	m->step = whole ? p->out.pixel : NATIVE_WIDTH;
	(*kind)[n - 1](m);
	if (!whole)
		sums_finish(c, x, n, at);
}

/* The rows of the windows of row y of outputs, from the left edge of the inputs on. */
static inline struct window_sums
row_sums(
    const struct channel_vector *c, const struct window_inputs *in, size_t y)
{
	const struct channelwise *p = c->p;
	const int64_t first = window_at(y, p->stride[0], p->above);
	int64_t from = first, to = first + (int64_t)p->kernel[0];
	struct window_sums m = {.x = in->x,
	    .pixel = in->pixel,
	    .down = in->down,
	    .stride = p->stride[1],
	    .w = p->weights + c->channel * p->kernel[0] * p->kernel[1],
	    .width = p->kernel[1],
	    .line = p->kernel[1] * NATIVE_WIDTH,
	    .bias = p->bias + c->channel,
	    .low = p->low,
	    .high = p->high};

	rows_inside(p, &from, &to);
	m.rows = (size_t)(to - from);
	if (m.rows > 0) {
		m.w += (size_t)(from - first) * m.line;
		m.x += (size_t)(from - in->first) * in->down;
	}
	return m;
}

/* Outputs side by side, the first of which lies `at` floats on; their windows have all
 * columns, from m->x on. */
static inline void
row_middle(const struct channel_vector *c, struct window_sums *m,
    size_t columns, size_t at)
{
	const struct channelwise *p = c->p;
	const windows_list *kind = windows_of(p->kernel[1], p->stride[1]);
	const size_t groups = (columns + WINDOW_GROUP - 1) / WINDOW_GROUP;
	const size_t least = columns / groups, more = columns % groups;

	for (size_t i = 0; i < groups; i++) {
		const size_t n = i < more ? least + 1 : least;

		row_part(c, m, kind, n, at);
		m->x += n * p->stride[1] * m->pixel;
		at += n * p->out.pixel;
	}
}

/* A row of the image from column x on, n of them, with zeros where it has none. */
static inline void
row_copy(const struct channel_vector *c, const float *from, int64_t x, size_t n,
    float *to)
{
	const struct channelwise *p = c->p;
	const size_t width = p->width, pixel = p->in.pixel;
	const size_t zeros = x < 0 ? (size_t)-x < n ? (size_t)-x : n : 0;
	const size_t start = x < 0 ? 0 : (size_t)x;
	size_t there = start < width ? width - start : 0, i;

	there = there < n - zeros ? there : n - zeros;
	from += start * pixel;
	for (i = 0; i < zeros; i++)
		vec_store(to + i * NATIVE_WIDTH, vec_all(0));
	if (pixel == NATIVE_WIDTH) {
		memcpy(to + i * NATIVE_WIDTH, from, there * VECTOR_BYTES);
		i += there;
	} else if (c->there >= NATIVE_WIDTH) {
		for (; i < zeros + there; i++, from += pixel)
			vec_store(to + i * NATIVE_WIDTH, vec_load(from));
	}
	for (; i < zeros + there; i++, from += pixel)
		vec_store(
		    to + i * NATIVE_WIDTH, vec_load_first(from, c->there));
	for (; i < n; i++)
		vec_store(to + i * NATIVE_WIDTH, vec_all(0));
}

/* A few rows of outputs, whose inputs are copied. */
static inline void
rows_copied(const struct channel_vector *c, const struct rectangle *r)
{
	const struct channelwise *p = c->p;
	const size_t n = (r->columns - 1) * p->stride[1] + p->kernel[1];
	const int64_t x = window_at(r->x, p->stride[1], p->before);
	int64_t from = window_at(r->y, p->stride[0], p->above);
	int64_t to = window_at(r->y + r->rows - 1, p->stride[0], p->above)
	    + (int64_t)p->kernel[0];
	struct window_inputs in = {
	    c->scratch, 0, NATIVE_WIDTH, n * NATIVE_WIDTH};

	rows_inside(p, &from, &to);
	in.first = from;
	for (int64_t y = from; y < to; y++)
		row_copy(c, c->x + (size_t)y * p->width * p->in.pixel, x, n,
		    c->scratch + (size_t)(y - from) * in.down);
	for (size_t y = r->y; y < r->y + r->rows; y++) {
		struct window_sums m = row_sums(c, &in, y);

		row_middle(c, &m, r->columns,
		    c->result + (y * p->columns + r->x) * p->out.pixel);
	}
}

/* As many rows at once as there is room for. */
static inline void
rectangle_copied(const struct channel_vector *c, const struct rectangle *r)
{
	const struct channelwise *p = c->p;
	const size_t n = (r->columns - 1) * p->stride[1] + p->kernel[1];
	const size_t lines = DEPTHWISE_SCRATCH / NATIVE_WIDTH / n;
	const size_t most = (lines - p->kernel[0]) / p->stride[0] + 1;
	const size_t groups = (r->rows + most - 1) / most;

	for (size_t i = 0; i < groups; i++) {
		const size_t y = group_at(r->rows, groups, i);
		const size_t end = group_at(r->rows, groups, i + 1);

		rows_copied(c,
		    &(struct rectangle){r->y + y, end - y, r->x, r->columns});
	}
}

static inline void
strips_copied(const struct channel_vector *c, const struct rectangle *r)
{
	const size_t strips =
	    (r->columns + DEPTHWISE_STRIP - 1) / DEPTHWISE_STRIP;

	for (size_t i = 0; i < strips; i++) {
		const size_t x = group_at(r->columns, strips, i);
		const size_t end = group_at(r->columns, strips, i + 1);

		rectangle_copied(
		    c, &(struct rectangle){r->y, r->rows, r->x + x, end - x});
	}
}

/* ---- inputs where they lie ---- */

/* Outputs x to `end` of a row, windows that have not all columns, one by one; m->x is
 * the image's left edge. */
static inline void
row_end(const struct channel_vector *c, struct window_sums *m, size_t x,
    size_t end, size_t row)
{
	const struct channelwise *p = c->p;
	const int64_t width = (int64_t)p->width;
	const float *left = m->x, *w = m->w;

	for (; x < end; x++) {
		const int64_t first = window_at(x, p->stride[1], p->before);
		const int64_t last = first + (int64_t)p->kernel[1];
		const int64_t from = first < 0 ? 0 : first;
		const int64_t to = last > width ? width : last;

		m->width = to > from ? (size_t)(to - from) : 0;
		if (m->width > 0) {
			m->x = left + (size_t)from * m->pixel;
			m->w = w + (size_t)(from - first) * NATIVE_WIDTH;
		}
		row_part(c, m, &windows_any, 1, row + x * p->out.pixel);
	}
	m->x = left;
	m->w = w;
	m->width = p->kernel[1];
}

/* Outputs at the ends of a row whose windows have columns outside the image. */
struct row_ends {
	size_t left, right;
};

static inline struct row_ends
row_ends(const struct channelwise *p)
{
	const int64_t step = (int64_t)p->stride[1];
	const int64_t columns = (int64_t)p->columns;
	const int64_t room =
	    (int64_t)p->width + p->before - (int64_t)p->kernel[1];
	const int64_t left = p->before > 0 ? (p->before + step - 1) / step : 0;
	const int64_t end = room < 0 ? 0 : room / step + 1;

	return (struct row_ends){
	    (size_t)left, end < columns ? (size_t)(columns - end) : 0};
}

static inline void
band_direct(const struct channel_vector *c, const struct row_ends *ends,
    size_t y, size_t rows)
{
	const struct channelwise *p = c->p;
	const struct window_inputs in = {
	    c->x, 0, p->in.pixel, p->width * p->in.pixel};
	const size_t right = p->columns - ends->right;
	const int64_t x = window_at(ends->left, p->stride[1], p->before);

	for (size_t end = y + rows; y < end; y++) {
		const size_t row = c->result + y * p->columns * p->out.pixel;
		struct window_sums m = row_sums(c, &in, y);

		row_end(c, &m, 0, ends->left, row);
		row_end(c, &m, right, p->columns, row);
		m.x += (size_t)x * p->in.pixel;
		row_middle(
		    c, &m, right - ends->left, row + ends->left * p->out.pixel);
	}
}

/* TUNING: an output by itself costs as much as so many pixels that are copied. */
#define ALONE 12

/* SOURCE: first caches of today have 64 sets of lines; TUNING: and 8 ways at least. */
#define SETS ((size_t)64)
#define WAYS ((size_t)8)

/* Do pixels lie so far apart that a window's rows fall into few sets of the cache? */
static inline bool
is_crowded(const struct channelwise *p)
{
	const size_t lines = p->in.pixel * sizeof(float) / 64;
	const size_t power = lines & (~lines + 1);
	const size_t sets = power < SETS ? SETS / (power ? power : 1) : 1;

	return power > 1 && sets * WAYS < p->kernel[0] * p->width;
}

/* A vector of channels of a band of rows. */
static inline void
band_run(const struct channel_vector *c, size_t y, size_t rows)
{
	const struct channelwise *p = c->p;
	const struct row_ends ends = row_ends(p);
	const size_t alone = ends.left + ends.right;

	if (c->there >= NATIVE_WIDTH && alone < p->columns && !is_crowded(p)
	    && alone * ALONE <= p->columns * p->stride[0] * p->stride[1])
		band_direct(c, &ends, y, rows);
	else
		strips_copied(c, &(struct rectangle){y, rows, 0, p->columns});
}

static void
depthwise_unit(const struct channelwise *p, size_t unit, float *scratch,
    const void *const *in, float *out)
{
	const size_t vectors = p->channels / NATIVE_WIDTH;
	const size_t part = unit % p->parts, of_band = unit / p->parts;
	const size_t band = of_band % p->bands, image = of_band / p->bands;
	const size_t y = group_at(p->rows, p->bands, band);
	const size_t rows = group_at(p->rows, p->bands, band + 1) - y;

	for (size_t v = vectors * part / p->parts;
	     v < vectors * (part + 1) / p->parts; v++) {
		const size_t channel = v * NATIVE_WIDTH;
		struct channel_vector c = {.p = p,
		    .in = in,
		    .out = out,
		    .scratch = scratch,
		    .channel = channel};

		c.there = p->stored - channel;
		c.x = (const float *)in[p->port]
		    + pixels_at(&p->in, image, channel);
		c.result = pixels_at(&p->out, image, channel);
		band_run(&c, y, rows);
	}
}

#endif
