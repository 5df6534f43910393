#include "targets/host/slide.h"

#include <string.h>

#include "ir/base/size.h"

/* TUNING: what a dimension, stride or pad may be; keeps every product of two
 * of them inside int64. */
#define LARGEST (INT64_C(1) << 30)
/* TUNING: taps of one window; what a kernel keeps of one fits in memory. */
#define MOST_TAPS ((size_t)1 << 24)

/* A list attribute of `n` entries, each in lo..LARGEST, or the default. */
static bool
read_list(const struct node *node, const char *name, uint32_t n, int64_t lo,
    int64_t *out, struct err *err)
{
	uint32_t have;
	const int64_t *list = attr_ints(node, name, &have);

	if (!list)
		return true;
	if (have != n)
		return err_set(err, ERR_INPUT,
		    "attribute %s has %u entries, not %u", name, have, n);
	for (uint32_t i = 0; i < n; i++) {
		if (list[i] < lo || list[i] > LARGEST)
			return err_set(err, ERR_INPUT,
			    "attribute %s has the value %lld", name,
			    (long long)list[i]);
		out[i] = list[i];
	}
	return true;
}

static bool
read_kernel(struct slide *w, const struct node *n, const int64_t *kernel,
    struct err *err)
{
	uint32_t have;

	for (uint32_t i = 0; i < w->rank; i++)
		w->kernel[i] = kernel ? kernel[i] : 0;
	if (kernel)
		return true;
	if (!attr_ints(n, "kernel_shape", &have))
		return err_set(err, ERR_INPUT, "no kernel_shape");
	return read_list(n, "kernel_shape", w->rank, 1, w->kernel, err);
}

bool
slide_lists(struct slide *w, const struct node *n, struct err *err)
{
	int64_t pads[2 * SLIDE_RANK] = {0};

	for (uint32_t i = 0; i < w->rank; i++)
		w->stride[i] = w->dilation[i] = 1;
	if (!read_list(n, "strides", w->rank, 1, w->stride, err)
	    || !read_list(n, "dilations", w->rank, 1, w->dilation, err)
	    || !read_list(n, "pads", 2 * w->rank, -LARGEST, pads, err))
		return false;
	for (uint32_t i = 0; i < w->rank; i++) {
		w->before[i] = pads[i];
		w->after[i] = pads[w->rank + i];
	}
	return true;
}

/* SAME_*: as many outputs as strides fit, padding shared, the odd one at the
 * end (UPPER) or the beginning (LOWER). */
static void
pad_same(struct slide *w, uint32_t i, bool lower)
{
	int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1, total;

	w->out[i] = (w->in[i] + w->stride[i] - 1) / w->stride[i];
	total = (w->out[i] - 1) * w->stride[i] + reach - w->in[i];
	if (total < 0)
		total = 0;
	w->before[i] = lower ? (total + 1) / 2 : total / 2;
	w->after[i] = total - w->before[i];
}

static bool
pad_explicit(struct slide *w, uint32_t i, bool ceil, struct err *err)
{
	int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
	int64_t room = w->in[i] + w->before[i] + w->after[i] - reach;

	if (room < 0)
		return err_set(err, ERR_INPUT,
		    "a window of %lld does not fit the padded size %lld",
		    (long long)reach, (long long)(room + reach));
	w->out[i] = room / w->stride[i] + 1;
	/* a window begun by rounding up must begin before the end padding */
	if (ceil && room % w->stride[i]
	    && w->out[i] * w->stride[i] < w->in[i] + w->before[i])
		w->out[i]++;
	return true;
}

bool
slide_read(struct slide *w, const struct node *n, uint32_t rank,
    const int64_t *in, const int64_t *kernel, struct err *err)
{
	bool upper = attr_is(n, "auto_pad", "NOTSET", "SAME_UPPER");
	bool lower = attr_is(n, "auto_pad", "NOTSET", "SAME_LOWER");
	bool valid = attr_is(n, "auto_pad", "NOTSET", "VALID");
	bool ceil = attr_int_or(n, "ceil_mode", 0) != 0;

	if (rank > SLIDE_RANK)
		return refuse(err, "%u spatial dimensions", rank);
	memset(w, 0, sizeof *w);
	w->rank = rank;
	if (!read_kernel(w, n, kernel, err) || !slide_lists(w, n, err))
		return false;
	w->nin = w->nout = w->nkernel = 1;
	for (uint32_t i = 0; i < rank; i++) {
		w->in[i] = in[i];
		if (in[i] > LARGEST || w->kernel[i] < 1
		    || w->kernel[i] > LARGEST)
			return err_set(err, ERR_INPUT,
			    "size %lld under a kernel of %lld",
			    (long long)in[i], (long long)w->kernel[i]);
		if (valid)
			w->before[i] = w->after[i] = 0;
		if (upper || lower)
			pad_same(w, i, lower);
		else if (!pad_explicit(w, i, ceil, err))
			return false;
		if (!size_mul(w->nin, (size_t)in[i], &w->nin)
		    || !size_mul(w->nout, (size_t)w->out[i], &w->nout)
		    || !size_mul(w->nkernel, (size_t)w->kernel[i], &w->nkernel))
			return err_set(err, ERR_INPUT, "too large");
	}
	if (w->nkernel > MOST_TAPS)
		return refuse(err, "a window of %zu taps", w->nkernel);
	return true;
}

struct position
position_of(const int64_t *dim, uint32_t rank, size_t i)
{
	struct position p = {{0}};

	for (uint32_t d = rank; d-- > 0;) {
		p.at[d] = (int64_t)(i % (size_t)dim[d]);
		i /= (size_t)dim[d];
	}
	return p;
}

void
position_next(struct position *p, const int64_t *dim, uint32_t rank)
{
	for (uint32_t d = rank; d-- > 0;) {
		if (++p->at[d] < dim[d])
			return;
		p->at[d] = 0;
	}
}

int64_t
slide_tap(
    const struct slide *w, const struct position *o, const struct position *k)
{
	int64_t at = 0;

	for (uint32_t d = 0; d < w->rank; d++) {
		int64_t x = o->at[d] * w->stride[d] - w->before[d]
		    + k->at[d] * w->dilation[d];

		if (x < 0 || x >= w->in[d])
			return -1;
		at = at * w->in[d] + x;
	}
	return at;
}
