/* The reverse of a window: ConvTranspose, Col2Im, MaxUnpool add what each
 * position holds to the places its window covers. A slide is used backwards:
 * its `in` is the larger plane that is written, its `out` the one read. */
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"
#include "targets/host/matmul.h"
#include "targets/host/slide.h"

static bool
product_of(const int64_t *dim, uint32_t n, size_t *out, struct err *err)
{
	*out = 1;
	for (uint32_t i = 0; i < n; i++)
		if (dim[i] < 0 || dim[i] > INT32_MAX
		    || !size_mul(*out, (size_t)dim[i], out))
			return err_set(
			    err, ERR_INPUT, "size %lld", (long long)dim[i]);
	return true;
}

static bool
set_products(struct slide *w, struct err *err)
{
	return product_of(w->in, w->rank, &w->nin, err)
	    && product_of(w->out, w->rank, &w->nout, err)
	    && product_of(w->kernel, w->rank, &w->nkernel, err);
}

/* --- ConvTranspose ------------------------------------------------------- */

struct transpose_conv {
	struct slide w;
	double *plane; /* [filters][w.nin] sums of one group */
};

/* Row `row` = filter * nkernel + tap, for positions n0.. of the input. */
static void
scatter_row(const struct matrix_product *p, size_t row, size_t n0, size_t nn,
    double *sum)
{
	const struct transpose_conv *v = p->ctx;
	const struct slide *w = &v->w;
	struct position k = position_of(w->kernel, w->rank, row % w->nkernel);
	struct position o = position_of(w->out, w->rank, n0);
	double *plane = v->plane + row / w->nkernel * w->nin;

	for (size_t i = 0; i < nn; i++) {
		int64_t at = slide_tap(w, &o, &k);

		if (at >= 0)
			plane[at] += sum[i];
		position_next(&o, w->out, w->rank);
	}
}

/* Output size and padding along dimension i. */
static bool
output_size(struct slide *w, const struct node *n, uint32_t i, int64_t extra,
    const int64_t *wanted, struct err *err)
{
	bool upper = attr_is(n, "auto_pad", "NOTSET", "SAME_UPPER");
	bool same = upper || attr_is(n, "auto_pad", "NOTSET", "SAME_LOWER");
	int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
	int64_t full = w->stride[i] * (w->out[i] - 1) + extra + reach, total;

	if (!wanted && !same) {
		w->in[i] = full - w->before[i] - w->after[i];
	} else {
		w->in[i] = wanted ? wanted[i] : w->out[i] * w->stride[i];
		total = full - w->in[i];
		total = total < 0 ? 0 : total;
		w->before[i] = upper ? total / 2 : total - total / 2;
		w->after[i] = total - w->before[i];
	}
	if (w->in[i] < 0 || w->in[i] > INT32_MAX)
		return err_set(
		    err, ERR_INPUT, "output size %lld", (long long)w->in[i]);
	return true;
}

static bool
transpose_window(struct slide *w, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *f = c->in[1];
	uint32_t nextra, nwanted;
	const int64_t *extra = attr_ints(c->node, "output_padding", &nextra);
	const int64_t *wanted = attr_ints(c->node, "output_shape", &nwanted);

	memset(w, 0, sizeof *w);
	w->rank = x->rank - 2;
	if (w->rank > SLIDE_RANK)
		return refuse(err, "%u spatial dimensions", w->rank);
	if (!slide_lists(w, c->node, err))
		return false;
	if ((extra && nextra != w->rank) || (wanted && nwanted < w->rank))
		return err_set(err, ERR_INPUT,
		    "output_padding or output_shape of the wrong length");
	if (wanted) /* old models give N and C too */
		wanted += nwanted - w->rank;
	for (uint32_t i = 0; i < w->rank; i++) {
		w->out[i] = x->dim[i + 2];
		w->kernel[i] = f->dim[i + 2];
		if (w->out[i] > INT32_MAX || w->kernel[i] < 1
		    || w->kernel[i] > INT32_MAX || (extra && extra[i] < 0)
		    || (extra && extra[i] > INT32_MAX))
			return err_set(err, ERR_INPUT, "size out of range");
		if (!output_size(
		        w, c->node, i, extra ? extra[i] : 0, wanted, err))
			return false;
	}
	return set_products(w, err);
}

static void
transpose_group(struct call *c, struct transpose_conv *v, size_t group,
    const struct sink *to, size_t groups)
{
	const struct tensor *x = c->in[0], *f = c->in[1];
	const struct tensor *bias = call_in(c, 2);
	size_t per = (size_t)f->dim[1], depth = (size_t)x->dim[1] / groups;
	size_t first = group % groups * per;
	struct matrix_product p = {
	    .a = {f, group % groups * depth * per * v->w.nkernel, 1,
	        (ptrdiff_t)(per * v->w.nkernel)},
	    .b = {x, group * depth * v->w.nout, (ptrdiff_t)v->w.nout, 1},
	    .m = per * v->w.nkernel,
	    .n = v->w.nout,
	    .k = depth,
	    .finish = scatter_row,
	    .ctx = v,
	};

	for (size_t i = 0; i < per * v->w.nin; i++)
		v->plane[i] = bias ? load_one(bias, first + i / v->w.nin) : 0;
	product_run(&p, c->scratch);
	store_real(to, group * per * v->w.nin, 1, per * v->w.nin, v->plane);
}

bool
convtranspose_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *f = c->in[1];
	const struct tensor *bias = call_in(c, 2);
	int64_t groups = attr_int_or(c->node, "group", 1);
	struct transpose_conv v;
	struct shape s = shape_of(x);
	struct sink to;

	if (x->rank < 3 || f->rank != x->rank || groups < 1
	    || x->dim[1] % groups || f->dim[0] != x->dim[1])
		return err_set(err, ERR_INPUT,
		    "input of rank %u, weights of rank %u, %lld groups",
		    x->rank, f->rank, (long long)groups);
	if (!transpose_window(&v.w, c, err)
	    || !i64_mul(f->dim[1], groups, &s.dim[1]))
		return false;
	if (bias && bias->count != (size_t)s.dim[1])
		return err_set(err, ERR_INPUT, "%zu biases", bias->count);
	for (uint32_t i = 0; i < v.w.rank; i++)
		s.dim[i + 2] = v.w.in[i];
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	if (c->out[0].count == 0)
		return true;
	v.plane = arena_array(
	    c->scratch, (size_t)f->dim[1] * v.w.nin, sizeof *v.plane);
	for (size_t g = 0; g < (size_t)(x->dim[0] * groups); g++)
		transpose_group(c, &v, g, &to, (size_t)groups);
	return true;
}

/* --- Col2Im -------------------------------------------------------------- */

static bool
image_window(struct slide *w, struct call *c, struct err *err)
{
	uint32_t n, nblock;
	const int64_t *image = input_ints(c, 1, &n);
	const int64_t *block = input_ints(c, 2, &nblock);

	memset(w, 0, sizeof *w);
	if (!image || !block || n != nblock || n < 1 || n > SLIDE_RANK)
		return err_set(
		    err, ERR_INPUT, "image of rank %u, block of %u", n, nblock);
	w->rank = n;
	if (!slide_lists(w, c->node, err))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		int64_t reach, room;

		if (image[i] < 0 || image[i] > INT32_MAX || block[i] < 1
		    || block[i] > INT32_MAX)
			return err_set(err, ERR_INPUT, "size out of range");
		w->in[i] = image[i];
		w->kernel[i] = block[i];
		reach = w->dilation[i] * (block[i] - 1) + 1;
		room = image[i] + w->before[i] + w->after[i] - reach;
		w->out[i] = room < 0 ? 0 : room / w->stride[i] + 1;
	}
	return set_products(w, err);
}

/* Add one plane's columns [nkernel][nout] into the image. */
static void
add_columns(const struct slide *w, const struct tensor *x, size_t at,
    double *row, double *image)
{
	struct position k = {{0}};

	for (size_t tap = 0; tap < w->nkernel; tap++) {
		struct position o = {{0}};

		load_real(row, x, at + tap * w->nout, 1, w->nout);
		for (size_t i = 0; i < w->nout; i++) {
			int64_t to = slide_tap(w, &o, &k);

			if (to >= 0)
				image[to] += row[i];
			position_next(&o, w->out, w->rank);
		}
		position_next(&k, w->kernel, w->rank);
	}
}

bool
col2im_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct slide w;
	struct shape s = {.rank = 2};
	struct sink to;
	double *image, *row;
	size_t planes;

	if (!image_window(&w, c, err))
		return false;
	if (x->rank != 3 || (size_t)x->dim[1] % w.nkernel
	    || (size_t)x->dim[2] != w.nout)
		return err_set(err, ERR_INPUT,
		    "columns of rank %u do not fit the blocks", x->rank);
	s.dim[0] = x->dim[0];
	s.dim[1] = x->dim[1] / (int64_t)w.nkernel;
	for (uint32_t i = 0; i < w.rank; i++)
		s.dim[s.rank++] = w.in[i];
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	image = arena_new(c->scratch, double, w.nin);
	row = arena_new(c->scratch, double, w.nout);
	planes = (size_t)(s.dim[0] * s.dim[1]);
	for (size_t i = 0; i < planes; i++) {
		memset(image, 0, w.nin * sizeof *image);
		add_columns(&w, x, i * w.nkernel * w.nout, row, image);
		store_real(&to, i * w.nin, 1, w.nin, image);
	}
	return true;
}

/* --- MaxUnpool ----------------------------------------------------------- */

/* The shape a MaxPool with these attributes came from. */
static bool
pooled_from(struct call *c, struct shape *s, struct err *err)
{
	const struct tensor *x = c->in[0];
	uint32_t n;
	const int64_t *kernel = attr_ints(c->node, "kernel_shape", &n);
	struct slide w = {.rank = x->rank - 2};

	*s = shape_of(x);
	if (x->rank < 3 || x->rank - 2 > SLIDE_RANK || !kernel || n != w.rank)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	if (!slide_lists(&w, c->node, err))
		return false;
	for (uint32_t i = 0; i < w.rank; i++) {
		if (kernel[i] < 1 || kernel[i] > INT32_MAX
		    || x->dim[i + 2] > INT32_MAX)
			return err_set(err, ERR_INPUT, "size out of range");
		s->dim[i + 2] = (x->dim[i + 2] - 1) * w.stride[i] + kernel[i]
		    - w.before[i] - w.after[i];
		if (s->dim[i + 2] < 1)
			return err_set(err, ERR_INPUT, "pads leave nothing");
	}
	return true;
}

/* The output's shape: that one, or the wanted one. */
static bool
unpool_shape(
    struct call *c, const struct shape *from, struct shape *s, struct err *err)
{
	uint32_t n;
	const int64_t *wanted = input_ints(c, 2, &n);

	*s = *from;
	if (!wanted)
		return true;
	if (n != from->rank)
		return err_set(err, ERR_INPUT, "output_shape of %u entries", n);
	for (uint32_t i = 0; i < n; i++) {
		if (wanted[i] < from->dim[i])
			return err_set(err, ERR_INPUT,
			    "output_shape has %lld, the windows cover %lld",
			    (long long)wanted[i], (long long)from->dim[i]);
		s->dim[i] = wanted[i];
	}
	return true;
}

/* Offset i in a tensor of shape `from` as an offset in the larger `s`. */
static size_t
same_place(const struct shape *from, const struct shape *s, size_t i)
{
	size_t at = 0, stride = 1;

	for (uint32_t d = s->rank; d-- > 0;) {
		at += i % (size_t)from->dim[d] * stride;
		i /= (size_t)from->dim[d];
		stride *= (size_t)s->dim[d];
	}
	return at;
}

bool
maxunpool_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1];
	struct shape from, s;
	struct sink to;
	size_t total;

	if (!pooled_from(c, &from, err) || !unpool_shape(c, &from, &s, err)
	    || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	if (index->count != x->count)
		return err_set(err, ERR_INPUT, "%zu indices for %zu values",
		    index->count, x->count);
	total = shape_count(from.dim, 0, from.rank);
	memset(to.data, 0, c->out[0].bytes);
	for (size_t i = 0; i < x->count; i++) {
		int64_t at = load_one_int(index, i);
		double v = load_one(x, i);

		if (at < 0 || (size_t)at >= total)
			return err_set(err, ERR_INPUT, "index %lld of %zu",
			    (long long)at, total);
		store_real(&to, same_place(&from, &s, (size_t)at), 1, 1, &v);
	}
	return true;
}
