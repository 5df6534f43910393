/* An LSTM of bytes, one direction: products of bytes summed in 32 bits, by VNNI's
 * instruction where the processor has it. */
#ifndef TARGETS_NATIVE_VECTOR_BYTE_RECURRENT_H
#define TARGETS_NATIVE_VECTOR_BYTE_RECURRENT_H

#include "targets/host/quantize.h"
#include "targets/native/byte_recurrent_form.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_pairs.h"
#include "targets/native/vector_product.h"

/* TUNING: rows whose inputs are multiplied at once; they and what they make stay in
 * the cache. */
#define BYTE_ROWS_AHEAD ((size_t)32)
#define BYTE_TILE_ROWS ((size_t)4)
/* Columns of a vector's units. */
#define BYTE_COLUMNS (BYTE_GATES * NATIVE_WIDTH)

struct byte_scratch {
	size_t ahead; /* steps whose gates are made at once */
	float *gates; /* [ahead * batch][columns] */
	float *h, *c; /* [batch][units] */
	float *scale; /* [batch] */
	int32_t *row_sum; /* [batch] */
	int32_t *sum; /* [tile's rows][BYTE_COLUMNS] */
	uint8_t *codes; /* [batch][depth] */
};

static size_t
byte_scratch_place(
    struct byte_scratch *s, const struct byte_layer *l, void *scratch)
{
	const size_t rows = BYTE_ROWS_AHEAD / l->batch;
	float *at = scratch;

	s->ahead = rows > 0 ? rows : 1;
	s->gates = at;
	s->h = s->gates + s->ahead * l->batch * BYTE_GATES * l->units;
	s->c = s->h + l->batch * l->units;
	s->scale = s->c + l->batch * l->units;
	s->row_sum = (int32_t *)(s->scale + l->batch);
	s->sum = s->row_sum + l->batch;
	s->codes = (uint8_t *)(s->sum + BYTE_TILE_ROWS * BYTE_COLUMNS);
	return (size_t)(s->codes - (uint8_t *)scratch)
	    + l->batch * l->state.depth;
}

static size_t
byte_layer_bytes(const struct byte_layer *l)
{
	struct byte_scratch s;
	float nowhere;

	return byte_scratch_place(&s, l, &nowhere);
}

/* ---- sums of products ---- */

ALWAYS bits
quad_at(const uint8_t *at)
{
	int32_t quad;

	memcpy(&quad, at, sizeof quad);
	return bits_all(quad);
}

/* Four unsigned bytes of a lane times four signed ones: every second is a pair's. */
ALWAYS bits
quads_dot(bits sum, bits a, bits w)
{
	const bits even = bits_all(0x00ff00ff);
	const shorts codes = (shorts)w;

	sum = pairs_dot(sum, a & even, (bits)((codes << 8) >> 8));
	return pairs_dot(sum, (a >> 8) & even, (bits)(codes >> 8));
}
#define QUADS_DOT(sum, a, w) quads_dot(sum, a, w)

#define QUAD_START(r) bits i##r = {0}, o##r = {0}, f##r = {0}, z##r = {0};
#define QUAD_STEP(r, dot) \
	{ \
		const bits a = quad_at(codes + r * depth + k); \
\
		i##r = dot(i##r, a, wi); \
		o##r = dot(o##r, a, wo); \
		f##r = dot(f##r, a, wf); \
		z##r = dot(z##r, a, wz); \
	}
#define QUAD_STEP_HERE(r) QUAD_STEP(r, QUADS_DOT)
#define QUAD_STEP_VNNI(r) QUAD_STEP(r, VNNI_DOT)
#define QUAD_STORE(r) \
	memcpy(sum, &i##r, sizeof i##r); \
	memcpy(sum + NATIVE_WIDTH, &o##r, sizeof o##r); \
	memcpy(sum + 2 * NATIVE_WIDTH, &f##r, sizeof f##r); \
	memcpy(sum + 3 * NATIVE_WIDTH, &z##r, sizeof z##r); \
	sum += BYTE_COLUMNS;

/* sum[n][gates][width]: n rows of codes, `depth` apart, by a vector's units. */
#define QUADS(attributes, name, step, n) \
	attributes void name(const uint8_t *restrict codes, size_t depth, \
	    const int8_t *restrict w, int32_t *restrict sum) \
	{ \
		ROWS_##n(QUAD_START) for (size_t k = 0; k < depth; \
		                          k += BYTE_QUAD) \
		{ \
			const bits wi = bits_at(w); \
			const bits wo = bits_at(w + VECTOR_BYTES); \
			const bits wf = bits_at(w + 2 * VECTOR_BYTES); \
			const bits wz = bits_at(w + 3 * VECTOR_BYTES); \
\
			w += BYTE_GATES * VECTOR_BYTES; \
			ROWS_##n(step) \
		} \
		ROWS_##n(QUAD_STORE) \
	} \
	_Static_assert((n) >= 1 && (n) <= 4, "rows at once")

typedef void quads_run(const uint8_t *restrict codes, size_t depth,
    const int8_t *restrict w, int32_t *restrict sum);

#define QUADS_HERE(n) QUADS(static, quads_##n, QUAD_STEP_HERE, n)
QUADS_HERE(1);
QUADS_HERE(2);
QUADS_HERE(3);
QUADS_HERE(4);

#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
#define VNNI_DOT(sum, a, w) \
	(bits) _mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(a), (__m512i)(w))
#define VNNI static __attribute__((target("avx512vnni")))
#define QUADS_VNNI(n) QUADS(VNNI, quads_vnni_##n, QUAD_STEP_VNNI, n)
QUADS_VNNI(1);
QUADS_VNNI(2);
QUADS_VNNI(3);
QUADS_VNNI(4);
#endif

/* Of 1 to 4 rows. */
static quads_run *const *
quads_of_rows(void)
{
	static quads_run *const here[] = {quads_1, quads_2, quads_3, quads_4};
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	static quads_run *const vnni[] = {
	    quads_vnni_1, quads_vnni_2, quads_vnni_3, quads_vnni_4};

	if (__builtin_cpu_supports("avx512vnni"))
		return vnni;
#endif
	return here;
}

/* ---- gates ---- */

/* What sums stand for, added to what is there: both sides' zeros are taken away from
 * them first. */
static void
gates_of_sums(const struct byte_side *w, const struct byte_rows *rows, size_t r,
    size_t column, const int32_t *sum, const float *from, float *to)
{
	const bits zero = bits_all(rows->zero), all = bits_all(rows->sum[r]);
	const vec scale = vec_all(rows->scale[r]);

	for (size_t g = 0; g < BYTE_COLUMNS; g += NATIVE_WIDTH) {
		bits x, codes, other;

		memcpy(&x, sum + g, sizeof x);
		memcpy(&codes, w->sum + column + g, sizeof codes);
		x -= zero * codes;
		if (w->zeros) {
			memcpy(&other, w->zero + column + g, sizeof other);
			x -= all * other;
		}
		vec_store(to + g,
		    vec_load(from + g)
		        + __builtin_convertvector(x, vec)
		            * (vec_load(w->scale + column + g) * scale));
	}
}

/* A side in one direction. */
static struct byte_side
side_of(const struct byte_side *s, const struct byte_layer *l, size_t direction)
{
	const size_t columns = BYTE_GATES * l->units, at = direction * columns;

	return (struct byte_side){s->depth, s->codes + at * s->depth,
	    s->scale + at, s->sum + at, s->zero + at, s->zeros};
}

/* The gates, as inputs make them, of n rows from `first` on. */
static void
byte_gates_ahead(const struct byte_layer *l, const struct byte_scratch *s,
    const struct byte_side *w, const struct byte_rows *x, const float *bias,
    size_t first, size_t n)
{
	const size_t columns = BYTE_GATES * l->units;
	quads_run *const *quads = quads_of_rows();

	for (size_t j = 0; j < columns; j += BYTE_COLUMNS)
		for (size_t r = 0; r < n; r += BYTE_TILE_ROWS) {
			const size_t left = n - r;
			const size_t rows =
			    left < BYTE_TILE_ROWS ? left : BYTE_TILE_ROWS;

			quads[rows - 1](x->codes + (first + r) * w->depth,
			    w->depth, w->codes + j * w->depth, s->sum);
			for (size_t i = 0; i < rows; i++)
				gates_of_sums(w, x, first + r + i, j,
				    s->sum + i * BYTE_COLUMNS, bias + j,
				    s->gates + (r + i) * columns + j);
		}
}

/* ---- rows in bytes ---- */

ALWAYS bool
any_nan(const float *x, size_t n)
{
	bits nan = {0};
	int32_t any = 0, lanes[NATIVE_WIDTH];

	for (size_t i = 0; i < n; i += NATIVE_WIDTH) {
		const vec y = vec_load_first(x + i, n - i);

		nan |= y != y;
	}
	memcpy(lanes, &nan, sizeof nan);
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		any |= lanes[i];
	return any != 0;
}

static struct byte_rows
rows_rounded(
    const struct byte_room *to, const float *from, size_t n, size_t stride)
{
	float low = 0, high = 0;
	struct byte_steps s;
	struct byte_code code;

	floats_range_of(from, n * stride, &low, &high);
	s = byte_steps_between(low, high);
	/* an infinity makes NaN of all */
	code.scale = isfinite(s.step) ? s.step : 1;
	code.zero = isfinite(s.step) ? (float)s.zero : 0;
	code.is_unsigned = true;
	for (size_t r = 0; r < n; r++, from += stride) {
		uint8_t *codes = to->codes + r * to->depth;
		int32_t sum = 0;

		floats_quantize(codes, from, to->width, &code);
		for (size_t i = 0; i < to->width; i++)
			sum += codes[i];
		to->sum[r] = sum;
		to->scale[r] = isfinite(s.step) && !any_nan(from, to->width)
		    ? s.step
		    : NAN;
	}
	return (struct byte_rows){
	    to->codes, to->sum, to->scale, (int32_t)code.zero};
}

/* ---- steps ---- */

/* A vector of units of one entry: its gates are made. */
ALWAYS void
byte_unit(const float *gates, float *h, float *c)
{
	const vec i = vec_load(gates), o = vec_load(gates + NATIVE_WIDTH);
	const vec f = vec_load(gates + 2 * NATIVE_WIDTH);
	const vec z = vec_load(gates + 3 * NATIVE_WIDTH);
	const vec cell = vec_gated(vec_load(c), f) + vec_gated(vec_tanh(z), i);

	vec_store(c, cell);
	vec_store(h, vec_gated(vec_tanh(cell), o));
}

/* One step of all entries. gates: [batch][columns], of the inputs. */
static void
byte_step(const struct byte_layer *l, const struct byte_scratch *s,
    const struct byte_side *w, const float *gates)
{
	const struct byte_room room = {
	    l->hidden, w->depth, s->codes, s->row_sum, s->scale};
	const struct byte_rows h =
	    rows_rounded(&room, s->h, l->batch, l->units);
	const size_t columns = BYTE_GATES * l->units;
	quads_run *const *quads = quads_of_rows();
	float made[BYTE_COLUMNS];

	for (size_t j = 0; j < columns; j += BYTE_COLUMNS)
		for (size_t r = 0; r < l->batch; r += BYTE_TILE_ROWS) {
			const size_t left = l->batch - r;
			const size_t rows =
			    left < BYTE_TILE_ROWS ? left : BYTE_TILE_ROWS;

			quads[rows - 1](h.codes + r * w->depth, w->depth,
			    w->codes + j * w->depth, s->sum);
			for (size_t i = r; i < r + rows; i++) {
				const size_t at = i * l->units + j / BYTE_GATES;

				gates_of_sums(w, &h, i, j,
				    s->sum + (i - r) * BYTE_COLUMNS,
				    gates + i * columns + j, made);
				byte_unit(made, s->h + at, s->c + at);
			}
		}
}

/* States of all entries from or to rows without padding. */
static void
states_read(const struct byte_layer *l, float *to, const float *from)
{
	memset(to, 0, l->batch * l->units * sizeof *to);
	for (size_t b = 0; from && b < l->batch; b++)
		memcpy(to + b * l->units, from + b * l->hidden,
		    l->hidden * sizeof *to);
}

static void
states_written(const struct byte_layer *l, float *to, const float *from)
{
	for (size_t b = 0; to && b < l->batch; b++)
		memcpy(to + b * l->hidden, from + b * l->units,
		    l->hidden * sizeof *to);
}

static inline float *
floats_at(float *p, size_t at)
{
	return p ? p + at : NULL;
}

/* Steps from i on, as many as are made ahead, or as there are. */
static void
byte_steps_ahead(const struct byte_layer *l, const struct byte_scratch *s,
    const struct byte_layer_data *d, size_t direction, size_t i)
{
	const bool backward = l->backward || direction > 0;
	const size_t state = l->batch * l->hidden;
	const size_t columns = BYTE_GATES * l->units;
	const struct byte_side input = side_of(&l->input, l, direction);
	const struct byte_side w = side_of(&l->state, l, direction);
	const size_t left = l->steps - i, n = left < s->ahead ? left : s->ahead;
	const size_t first = backward ? left - n : i;

	byte_gates_ahead(l, s, &input, &d->x, l->bias + direction * columns,
	    first * l->batch, n * l->batch);
	for (size_t k = 0; k < n; k++) {
		const size_t at = backward ? n - 1 - k : k;

		byte_step(l, s, &w, s->gates + at * l->batch * columns);
		states_written(l,
		    floats_at(d->y,
		        ((first + at) * l->directions + direction) * state),
		    s->h);
	}
}

static void
byte_layer_direction(const struct byte_layer *l,
    const struct byte_layer_data *d, size_t direction, void *scratch)
{
	const size_t at = direction * l->batch * l->hidden;
	struct byte_scratch s;

	byte_scratch_place(&s, l, scratch);
	memset(s.codes, 0, l->batch * l->state.depth);
	states_read(l, s.h, d->h ? d->h + at : NULL);
	states_read(l, s.c, d->c ? d->c + at : NULL);
	for (size_t i = 0; i < l->steps; i += s.ahead)
		byte_steps_ahead(l, &s, d, direction, i);
	states_written(l, floats_at(d->last_h, at), s.h);
	states_written(l, floats_at(d->last_c, at), s.c);
}

#endif
