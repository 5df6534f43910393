/* Linear quantisation: QuantizeLinear, DequantizeLinear, and the integer
 * convolutions and products. Scaling is done in float, as the operators' text
 * and every runtime have it: in double, ties would fall elsewhere. */
#include "targets/host/quantize.h"

#include <math.h>

#include "targets/bytes.h"
#include "targets/host/conv.h"
#include "targets/host/kernels.h"
#include "targets/host/line.h"
#include "targets/host/matmul.h"

/* Where the scale of an element is: one for all, one an index of an axis, or
 * one a block along it. */
struct scales {
	const struct tensor *scale, *zero; /* zero may be NULL */
	struct lines l; /* along the axis */
	size_t block; /* indices of the axis that share a scale */
	size_t blocks; /* along the axis; 0: one scale for all */
	bool blocked; /* scales vary over the other axes too */
};

static bool
scales_read(struct scales *s, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	int64_t block = attr_int_or(c->node, "block_size", 0);
	uint32_t axis;
	size_t want;

	*s = (struct scales){
	    .scale = c->in[1], .zero = call_in(c, 2), .block = 1};
	if (s->scale->count == 1 && s->scale->rank <= 1)
		return !s->zero || s->zero->count == 1
		    || err_set(err, ERR_INPUT, "%zu zero points for one scale",
		        s->zero->count);
	if (!axis_of(attr_int_or(c->node, "axis", 1), x->rank, &axis, err))
		return false;
	s->l = lines_along(x, axis);
	s->blocks = s->l.n;
	want = s->l.n;
	if (block > 0) {
		s->block = (size_t)block;
		s->blocks = (s->l.n + s->block - 1) / s->block;
		s->blocked = true;
		want = s->blocks * s->l.outer * s->l.inner;
	}
	if (s->scale->count != want || (s->zero && s->zero->count != want))
		return err_set(err, ERR_INPUT, "%zu scales, not %zu",
		    s->scale->count, want);
	return true;
}

static size_t
scale_of(const struct scales *s, size_t i)
{
	size_t k, in;

	if (s->blocks == 0)
		return 0;
	k = i / s->l.inner % s->l.n / s->block;
	in = i % s->l.inner;
	if (!s->blocked)
		return k;
	return (i / (s->l.inner * s->l.n) * s->blocks + k) * s->l.inner + in;
}

static bool
is_float8(enum dtype t)
{
	return t >= DT_FLOAT8E4M3FN && t <= DT_FLOAT8E5M2FNUZ;
}

/* TUNING: elements looked at in one go; they stay in the first cache. */
#define CHUNK 512u

/* How many elements from i on, at most `left`, share a scale. */
static size_t
run_of(const struct scales *s, size_t i, size_t left)
{
	const size_t line = s->l.inner * s->l.n, one = s->l.inner * s->block;
	size_t at, n;

	left = left < CHUNK ? left : CHUNK;
	if (s->blocks == 0)
		return left;
	if (s->blocked && s->l.inner > 1)
		return 1;
	at = i % line;
	n = one - at % one;
	n = n < line - at ? n : line - at;
	return n < left ? n : left;
}

/* Floats and bytes as they lie, for loops that compilers vectorise. */
static const float *
floats_of(const struct tensor *t)
{
	return t->kind == TENSOR_VIEW && t->dtype == DT_FLOAT
	        && (uintptr_t)t->data % sizeof(float) == 0
	    ? t->data
	    : NULL;
}

static bool
quantize_bytes(const struct call *c, const struct byte_code *code,
    const struct sink *to, size_t i, size_t n)
{
	const float *x = floats_of(c->in[0]);

	if (!x || !dtype_is_byte(to->dtype) || !isfinite(code->scale)
	    || !(code->scale > 0))
		return false;
	bytes_quantize((uint8_t *)to->data + i, x + i, n, code);
	return true;
}

/* y = round(x / scale) + zero, in the output's range. */
static void
quantize_run(const struct call *c, const struct scales *s,
    const struct sink *to, size_t i, size_t n)
{
	const size_t k = scale_of(s, i);
	const float scale = (float)load_one(s->scale, k);
	const double zero = s->zero ? load_one(s->zero, k) : 0;
	const bool whole = lane_of(to->dtype) == LANE_INT;
	const struct byte_code code = {
	    scale, (float)zero, to->dtype == DT_UINT8};
	double x[CHUNK];

	if (quantize_bytes(c, &code, to, i, n))
		return;
	load_real(x, c->in[0], i, 1, n);
	for (size_t e = 0; e < n; e++) {
		double y = (double)((float)x[e] / scale);

		x[e] = (whole ? rint(y) : y) + zero;
	}
	if (!is_float8(to->dtype)) {
		store_real(to, i, 1, n, x);
		return;
	}
	for (size_t e = 0; e < n; e++)
		((uint8_t *)to->data)[i + e] = small_float_code(
		    to->dtype, x[e], attr_int_or(c->node, "saturate", 1) != 0);
}

bool
quantizelinear_run(struct call *c, struct err *err)
{
	const size_t count = c->in[0]->count;
	struct shape shape = shape_of(c->in[0]);
	enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "output_dtype", DT_UNDEFINED);
	struct scales s;
	struct sink to;

	if (!scales_read(&s, c, err))
		return false;
	if (s.zero)
		dtype = s.zero->dtype;
	else if (dtype == DT_UNDEFINED)
		dtype = DT_UINT8;
	if (dtype_bits(dtype) == 0 || dtype_bits(dtype) > 32)
		return refuse(err, "quantising to %s", dtype_name(dtype));
	if (!host_out(c, 0, dtype, &shape, &to, err))
		return false;
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(&s, i, count - i);
		quantize_run(c, &s, &to, i, n);
	}
	return true;
}

static void
dequantize_run(const struct call *c, const struct scales *s,
    const struct sink *to, size_t i, size_t n)
{
	const size_t k = scale_of(s, i);
	const double scale = load_one(s->scale, k);
	const double zero = s->zero ? load_one(s->zero, k) : 0;
	const struct tensor *from = c->in[0];
	const struct byte_code code = {
	    (float)scale, (float)zero, from->dtype == DT_UINT8};
	double x[CHUNK];

	if (from->kind == TENSOR_VIEW && dtype_is_byte(from->dtype)
	    && to->dtype == DT_FLOAT && s->scale->dtype == DT_FLOAT) {
		bytes_dequantize((float *)to->data + i,
		    (const uint8_t *)from->data + i, n, &code);
		return;
	}
	load_real(x, from, i, 1, n);
	for (size_t e = 0; e < n; e++)
		x[e] = (x[e] - zero) * scale;
	store_real(to, i, 1, n, x);
}

bool
dequantizelinear_run(struct call *c, struct err *err)
{
	const size_t count = c->in[0]->count;
	enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "output_dtype", c->in[1]->dtype);
	struct shape shape = shape_of(c->in[0]);
	struct scales s;
	struct sink to;

	if (dtype == DT_UNDEFINED)
		dtype = c->in[1]->dtype;
	if (lane_of(dtype) != LANE_REAL)
		return refuse(err, "dequantising to %s", dtype_name(dtype));
	if (!scales_read(&s, c, err)
	    || !host_out(c, 0, dtype, &shape, &to, err))
		return false;
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(&s, i, count - i);
		dequantize_run(c, &s, &to, i, n);
	}
	return true;
}

struct byte_steps
byte_steps_between(float low, float high)
{
	/* Of zeros only, the text's scale would be 0; ONNX Runtime's is 1. */
	struct byte_steps s = {.step = high > low ? (high - low) / 255 : 1};

	s.zero = s.step > 0 ? rint((double)(-low / s.step)) : 0;
	s.zero = bounded(s.zero, 0, 255);
	return s;
}

double
byte_code(struct byte_steps s, float x)
{
	const double q = s.step > 0 ? rint((double)(x / s.step)) : 0;

	return bounded(q + s.zero, 0, 255);
}

void
round_to_bytes(double *x, size_t n)
{
	float low = 0, high = 0;
	struct byte_steps s;

	for (size_t i = 0; i < n; i++) {
		low = fminf(low, (float)x[i]);
		high = fmaxf(high, (float)x[i]);
	}
	s = byte_steps_between(low, high);
	for (size_t i = 0; i < n; i++)
		x[i] = (byte_code(s, (float)x[i]) - s.zero) * (double)s.step;
}

static void
find_range(const struct tensor *x, float *low, float *high)
{
	const float *real = floats_of(x);

	if (real) {
		floats_range(real, x->count, low, high);
		return;
	}
	for (size_t i = 0; i < x->count; i++) {
		*low = fminf(*low, (float)load_one(x, i));
		*high = fmaxf(*high, (float)load_one(x, i));
	}
}

bool
dynamicquantizelinear_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape shape = shape_of(x), one = {.rank = 0};
	struct sink y, scale, zero;
	float low = 0, high = 0;
	struct byte_code code = {.is_unsigned = true};
	struct byte_steps s;
	double q;

	if (!host_out(c, 0, DT_UINT8, &shape, &y, err)
	    || !host_out(c, 1, DT_FLOAT, &one, &scale, err)
	    || !host_out(c, 2, DT_UINT8, &one, &zero, err))
		return false;
	find_range(x, &low, &high);
	s = byte_steps_between(low, high);
	q = (double)s.step;
	store_real(&scale, 0, 1, 1, &q);
	store_real(&zero, 0, 1, 1, &s.zero);
	code.scale = s.step;
	code.zero = (float)s.zero;
	if (isfinite(s.zero) && quantize_bytes(c, &code, &y, 0, x->count))
		return true;
	for (size_t i = 0; i < x->count; i++) {
		q = byte_code(s, (float)load_one(x, i));
		store_real(&y, i, 1, 1, &q);
	}
	return true;
}

/* --- Requantising sums --------------------------------------------------- */

/* y = round(sum * multiplier) + zero. */
struct requantise {
	const float *multiplier; /* one, or one a channel */
	bool by_channel;
	double zero;
};

static void
requantise(const struct requantise *q, const struct sink *to, size_t channel,
    const size_t at_n[2], double *sum)
{
	float m = q->multiplier[q->by_channel ? channel : 0];

	for (size_t i = 0; i < at_n[1]; i++)
		sum[i] = rint((double)((float)sum[i] * m)) + q->zero;
	store_real(to, at_n[0], 1, at_n[1], sum);
}

/* n numbers of an input that has one or n; NULL (and err) otherwise. With no
 * input: zeros. */
static double *
numbers(struct call *c, uint32_t i, size_t n, struct err *err)
{
	const struct tensor *t = call_in(c, i);
	double *x = arena_new(c->scratch, double, n);

	if (t && t->count != 1 && t->count != n) {
		err_set(err, ERR_INPUT, "input %u has %zu entries, not %zu", i,
		    t->count, n);
		return NULL;
	}
	if (t)
		load_real(x, t, 0, t->count == 1 ? 0 : 1, n);
	return x;
}

/* The multipliers x_scale * w_scale / y_scale. */
static float *
multipliers(struct call *c, const uint32_t which[3], size_t n, struct err *err)
{
	float *m = arena_new(c->scratch, float, n);
	double *x = numbers(c, which[0], n, err), *w, *y;

	w = x ? numbers(c, which[1], n, err) : NULL;
	y = w ? numbers(c, which[2], n, err) : NULL;
	if (!y)
		return NULL;
	for (size_t i = 0; i < n; i++)
		m[i] = (float)x[i] * (float)w[i] / (float)y[i];
	return m;
}

static void
finish_quantised(
    const struct conv *v, size_t filter, size_t at, size_t n, double *sum)
{
	double bias = v->bias ? load_one(v->bias, filter) : 0;

	for (size_t i = 0; i < n; i++)
		sum[i] += bias;
	requantise(v->ctx, v->to, filter, (size_t[]){at, n}, sum);
}

bool
qlinearconv_run(struct call *c, struct err *err)
{
	struct conv v = {.finish = finish_quantised, .bias = call_in(c, 8)};
	struct requantise q = {.by_channel = true};
	const double *x_zero, *y_zero;
	struct sink to;
	size_t filters;

	if (!conv_read(&v, c, c->in[0], c->in[3], err))
		return false;
	filters = (size_t)v.w->dim[0];
	if (v.bias && v.bias->count != filters)
		return err_set(err, ERR_INPUT, "%zu biases", v.bias->count);
	q.multiplier =
	    multipliers(c, (const uint32_t[]){1, 4, 6}, filters, err);
	x_zero = q.multiplier ? numbers(c, 2, 1, err) : NULL;
	v.w_zero = x_zero ? numbers(c, 5, filters, err) : NULL;
	y_zero = v.w_zero ? numbers(c, 7, 1, err) : NULL;
	if (!y_zero || !host_out(c, 0, c->in[7]->dtype, &v.y, &to, err))
		return false;
	v.x_zero = *x_zero;
	q.zero = *y_zero;
	v.to = &to;
	v.ctx = &q;
	conv_apply(&v, c->scratch);
	return true;
}

/* Sums as they are, low 32 bits. */
static void
store_sums(const struct sink *to, size_t at, size_t n, const double *sum)
{
	for (size_t i = 0; i < n; i++)
		store_int(to, at + i, 1, 1, &(int64_t){(int64_t)sum[i]});
}

static void
finish_sums(
    const struct conv *v, size_t filter, size_t at, size_t n, double *sum)
{
	(void)filter;
	store_sums(v->to, at, n, sum);
}

bool
convinteger_run(struct call *c, struct err *err)
{
	struct conv v = {.finish = finish_sums};
	const double *x_zero;
	struct sink to;

	if (!conv_read(&v, c, c->in[0], c->in[1], err))
		return false;
	x_zero = numbers(c, 2, 1, err);
	v.w_zero = x_zero ? numbers(c, 3, (size_t)v.w->dim[0], err) : NULL;
	if (!v.w_zero || !host_out(c, 0, DT_INT32, &v.y, &to, err))
		return false;
	v.x_zero = *x_zero;
	v.to = &to;
	conv_apply(&v, c->scratch);
	return true;
}

static void
finish_product_sums(const struct matrix_product *p, size_t row, size_t n0,
    size_t nn, double *sum)
{
	store_sums(p->to, p->to_at + row * p->n + n0, nn, sum);
}

bool
matmulinteger_run(struct call *c, struct err *err)
{
	struct sink to;
	struct matmul v;
	struct matrix_product p = {.finish = finish_product_sums, .to = &to};

	if (!matmul_read(&v, c->in[0], c->in[1], err))
		return false;
	p.a_zero = numbers(c, 2, v.m, err);
	p.b_zero = p.a_zero ? numbers(c, 3, v.n, err) : NULL;
	if (!p.b_zero || !host_out(c, 0, DT_INT32, &v.y, &to, err))
		return false;
	matmul_apply(&v, &p, c->scratch);
	return true;
}

static void
finish_product_quantised(const struct matrix_product *p, size_t row, size_t n0,
    size_t nn, double *sum)
{
	const struct requantise *q = p->ctx;
	size_t at = p->to_at + row * p->n + n0;

	/* the scale of B may vary by column, that of A not */
	for (size_t i = 0; i < nn; i++)
		requantise(q, p->to, n0 + i, (size_t[]){at + i, 1}, sum + i);
}

bool
qlinearmatmul_run(struct call *c, struct err *err)
{
	struct sink to;
	struct matmul v;
	struct requantise q = {.by_channel = true};
	struct matrix_product p = {
	    .finish = finish_product_quantised, .to = &to, .ctx = &q};
	const double *zero;

	if (c->in[1]->count != 1)
		return refuse(err, "a scale for each row of A");
	if (!matmul_read(&v, c->in[0], c->in[3], err))
		return false;
	q.multiplier = multipliers(c, (const uint32_t[]){1, 4, 6}, v.n, err);
	p.a_zero = q.multiplier ? numbers(c, 2, v.m, err) : NULL;
	p.b_zero = p.a_zero ? numbers(c, 5, v.n, err) : NULL;
	zero = p.b_zero ? numbers(c, 7, 1, err) : NULL;
	if (!zero || !host_out(c, 0, c->in[7]->dtype, &v.y, &to, err))
		return false;
	q.zero = *zero;
	matmul_apply(&v, &p, c->scratch);
	return true;
}
