/* What the functions of cpu.c are made of: the calling convention of TVM's C
 * runtime (c_backend_api.h, dlpack.h), and the operators that are more than one
 * loop. Plain C11, float accumulators. */
#ifndef OPS_H
#define OPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* SOURCE: dlpack 0.7, DLTensor. */
struct dl_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};

/* SOURCE: TVM, c_runtime_api.h. */
union tvm_value {
	int64_t v_int64;
	double v_float64;
	void *v_handle;
	const char *v_str;
};

/* Set by the runtime when it loads the module; NULL elsewhere. */
extern void (*__TVMAPISetLastError)(const char *message);

/* One function of the graph: inputs, then outputs. */
#define FUNCTION(name) \
	int name(union tvm_value *args, int *types, int nargs, \
	    union tvm_value *result, int *result_type, void *resource); \
	int name(union tvm_value *args, int *types, int nargs, \
	    union tvm_value *result, int *result_type, void *resource)

#define TAKES(name, n) \
	(void)types, (void)result, (void)result_type, (void)resource; \
	if (nargs != (n)) \
	return op_fail(name ": wrong number of arguments")

static inline int
op_fail(const char *message)
{
	if (__TVMAPISetLastError)
		__TVMAPISetLastError(message);
	return -1;
}

static inline void *
op_data(const union tvm_value *args, int i)
{
	const struct dl_tensor *t = (const struct dl_tensor *)args[i].v_handle;

	return (char *)t->data + t->byte_offset;
}

/* y[outer, n, inner]; logarithm: of the softmax. */
static inline void
op_softmax(float *y, const float *x, const long size[3], int logarithm)
{
	const long n = size[1], inner = size[2];

	for (long o = 0; o < size[0] * inner; o++) {
		const long at = o / inner * n * inner + o % inner;
		float top = -INFINITY, sum = 0;

		for (long i = 0; i < n; i++)
			top = fmaxf(top, x[at + i * inner]);
		for (long i = 0; i < n; i++)
			sum += expf(x[at + i * inner] - top);
		for (long i = 0; i < n; i++) {
			const float v = x[at + i * inner] - top;

			y[at + i * inner] =
			    logarithm ? v - logf(sum) : expf(v) / sum;
		}
	}
}

/* y[m, n] = scale * sum over k; steps of a: m, k; of b: k, n. */
struct op_product {
	long m, n, k, a[2], b[2];
	float scale;
};

static inline void
op_matmul(float *y, const float *a, const float *b, const struct op_product *p)
{
	for (long i = 0; i < p->m; i++) {
		float *row = y + i * p->n;

		memset(row, 0, (size_t)p->n * sizeof *row);
		for (long k = 0; k < p->k; k++) {
			const float v = p->scale * a[i * p->a[0] + k * p->a[1]];
			const float *from = b + k * p->b[0];

			for (long j = 0; j < p->n; j++)
				row[j] += v * from[j * p->b[1]];
		}
	}
}

/* A window over up to three dimensions, those that are missing of size 1. */
struct op_window {
	long in[3], out[3], kernel[3], stride[3], dilation[3], before[3],
	    after[3];
};

#define OP_EACH(a, size) \
	for (long a##0 = 0; a##0 < (size)[0]; a##0 ++) \
		for (long a##1 = 0; a##1 < (size)[1]; a##1 ++) \
			for (long a##2 = 0; a##2 < (size)[2]; a##2 ++)

static inline long
op_at(const struct op_window *w, int d, long out, long k)
{
	return out * w->stride[d] + k * w->dilation[d] - w->before[d];
}

static inline int
op_is_inside(const struct op_window *w, const long at[3])
{
	for (int d = 0; d < 3; d++)
		if (at[d] < 0 || at[d] >= w->in[d])
			return 0;
	return 1;
}

/* Inside the input or its padding? */
static inline int
op_is_padded(const struct op_window *w, const long at[3])
{
	for (int d = 0; d < 3; d++)
		if (at[d] >= w->in[d] + w->after[d])
			return 0;
	return 1;
}

static inline long
op_place(const long size[3], const long at[3])
{
	return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

static inline long
op_volume(const long size[3])
{
	return size[0] * size[1] * size[2];
}

struct op_conv {
	struct op_window w;
	long batch, channels_in, channels_out, groups;
};

/* One output channel of one image; x: of its group. */
static inline void
op_conv_channel(float *y, const float *x, const float *kernel, float bias,
    const struct op_conv *c)
{
	const struct op_window *w = &c->w;
	const long plane = op_volume(w->in), taps = op_volume(w->kernel);
	const long channels = c->channels_in / c->groups;

	OP_EACH(o, w->out)
	{
		float sum = bias;

		OP_EACH(k, w->kernel)
		{
			const long at[3] = {op_at(w, 0, o0, k0),
			    op_at(w, 1, o1, k1), op_at(w, 2, o2, k2)};
			const long tap[3] = {k0, k1, k2};

			if (!op_is_inside(w, at))
				continue;
			for (long i = 0; i < channels; i++)
				sum += x[i * plane + op_place(w->in, at)]
				    * kernel[i * taps
				        + op_place(w->kernel, tap)];
		}
		*y++ = sum;
	}
}

static inline void
op_conv(float *y, const float *x, const float *kernel, const float *bias,
    const struct op_conv *c)
{
	const long in = op_volume(c->w.in), out = op_volume(c->w.out);
	const long each = c->channels_in / c->groups;
	const long per_group = c->channels_out / c->groups;

	for (long b = 0; b < c->batch; b++)
		for (long o = 0; o < c->channels_out; o++)
			op_conv_channel(y + (b * c->channels_out + o) * out,
			    x
			        + (b * c->channels_in + o / per_group * each)
			            * in,
			    kernel + o * each * op_volume(c->w.kernel),
			    bias ? bias[o] : 0, c);
}

enum op_pool { OP_POOL_MAX, OP_POOL_MEAN, OP_POOL_MEAN_WITH_PADS };

/* `planes`: batch x channels. */
static inline void
op_pool(float *y, const float *x, long planes, const struct op_window *w,
    enum op_pool how)
{
	for (long p = 0; p < planes; p++, x += op_volume(w->in))
		OP_EACH(o, w->out)
		{
			float top = -INFINITY, sum = 0;
			long count = 0;

			OP_EACH(k, w->kernel)
			{
				const long at[3] = {op_at(w, 0, o0, k0),
				    op_at(w, 1, o1, k1), op_at(w, 2, o2, k2)};

				if (op_is_inside(w, at)) {
					const float v = x[op_place(w->in, at)];

					top = v > top ? v : top;
					sum += v;
					count++;
				} else if (how == OP_POOL_MEAN_WITH_PADS)
					count += op_is_padded(w, at);
			}
			*y++ = how == OP_POOL_MAX ? top : sum / (float)count;
		}
}

/* Lines of n elements made mean 0, deviation 1; then scale and bias of element
 * i / each % wrap. */
struct op_norm {
	long lines, n, each, wrap;
	float epsilon;
};

static inline void
op_normalise(float *y, const float *x, const float *scale, const float *bias,
    const struct op_norm *p)
{
	for (long l = 0; l < p->lines; l++) {
		const float *from = x + l * p->n;
		double mean = 0, square = 0;

		for (long i = 0; i < p->n; i++)
			mean += from[i];
		mean /= (double)p->n;
		for (long i = 0; i < p->n; i++)
			square += (from[i] - mean) * (from[i] - mean);
		square = sqrt(square / (double)p->n + p->epsilon);
		for (long i = 0; i < p->n; i++) {
			const long k = (l * p->n + i) / p->each % p->wrap;

			y[l * p->n + i] = (float)((from[i] - mean) / square)
			        * (scale ? scale[k] : 1)
			    + (bias ? bias[k] : 0);
		}
	}
}

/* LRN over `size` channels around each: batch, channels, inner. */
static inline void
op_lrn(
    float *y, const float *x, const long shape[3], long size, const float p[3])
{
	const long channels = shape[1], inner = shape[2];

	for (long i = 0; i < shape[0] * channels * inner; i++) {
		const long c = i / inner % channels;
		float sum = 0;

		for (long k = c - (size - 1) / 2; k <= c + size / 2; k++)
			if (k >= 0 && k < channels)
				sum += x[i + (k - c) * inner]
				    * x[i + (k - c) * inner];
		y[i] = x[i] / powf(p[2] + p[0] / (float)size * sum, p[1]);
	}
}

#endif
