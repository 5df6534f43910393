/* Fixed rearrangements of a tensor's elements. */
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"

/* Output 0, of shape s, = input 0 read as `dim` with axes permuted. */
static bool
rearrange(struct call *c, const struct shape *dim, const uint32_t *perm,
    const struct shape *s, struct err *err)
{
	const struct tensor *x = c->in[0];
	ptrdiff_t own[RANK_MAX], stride[RANK_MAX];
	struct shape moved = {.rank = dim->rank};
	struct sink to;
	struct walk w;

	if (!host_out(c, 0, x->dtype, s, &to, err))
		return false;
	strides_of(dim->rank, dim->dim, own);
	for (uint32_t d = 0; d < dim->rank; d++) {
		moved.dim[d] = dim->dim[perm[d]];
		stride[d] = own[perm[d]];
	}
	walk_init(&w, moved.rank, moved.dim);
	strides_of(moved.rank, moved.dim, own);
	walk_operand(&w, own);
	walk_operand(&w, stride);
	copy_strided(&w, to.data, host_bytes(c, x), host_unit(x->dtype));
	return true;
}

static bool
block_of(const struct call *c, int64_t *block, struct err *err)
{
	*block = attr_int_or(c->node, "blocksize", 0);
	if (c->in[0]->rank != 4)
		return err_set(
		    err, ERR_INPUT, "input of rank %u", c->in[0]->rank);
	if (*block < 1 || *block > INT16_MAX)
		return err_set(
		    err, ERR_INPUT, "blocksize %lld", (long long)*block);
	return true;
}

bool
depthtospace_run(struct call *c, struct err *err)
{
	static const uint32_t dcr[] = {0, 3, 4, 1, 5, 2};
	static const uint32_t crd[] = {0, 1, 4, 2, 5, 3};
	const struct tensor *x = c->in[0];
	bool by_column = attr_is(c->node, "mode", "DCR", "CRD");
	struct shape s = {.rank = 4}, v = {.rank = 6};
	int64_t b, depth;

	if (!block_of(c, &b, err))
		return false;
	depth = x->dim[1] / (b * b);
	if (x->dim[1] % (b * b))
		return err_set(err, ERR_INPUT,
		    "%lld channels in blocks of %lld", (long long)x->dim[1],
		    (long long)(b * b));
	memcpy(s.dim,
	    (int64_t[]){x->dim[0], depth, x->dim[2] * b, x->dim[3] * b},
	    4 * sizeof *s.dim);
	memcpy(v.dim,
	    (int64_t[]){x->dim[0], by_column ? depth : b, b,
	        by_column ? b : depth, x->dim[2], x->dim[3]},
	    6 * sizeof *v.dim);
	return rearrange(c, &v, by_column ? crd : dcr, &s, err);
}

bool
spacetodepth_run(struct call *c, struct err *err)
{
	static const uint32_t dcr[] = {0, 3, 5, 1, 2, 4};
	static const uint32_t crd[] = {0, 1, 3, 5, 2, 4};
	const bool columns = attr_is(c->node, "mode", "DCR", "CRD");
	const struct tensor *x = c->in[0];
	struct shape s = {.rank = 4}, v = {.rank = 6};
	int64_t b;

	if (!block_of(c, &b, err))
		return false;
	if (x->dim[2] % b || x->dim[3] % b)
		return err_set(err, ERR_INPUT, "%lld x %lld in blocks of %lld",
		    (long long)x->dim[2], (long long)x->dim[3], (long long)b);
	memcpy(s.dim,
	    (int64_t[]){
	        x->dim[0], x->dim[1] * b * b, x->dim[2] / b, x->dim[3] / b},
	    4 * sizeof *s.dim);
	memcpy(v.dim,
	    (int64_t[]){
	        x->dim[0], x->dim[1], x->dim[2] / b, b, x->dim[3] / b, b},
	    6 * sizeof *v.dim);
	return rearrange(c, &v, columns ? crd : dcr, &s, err);
}

bool
reversesequence_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *length = c->in[1];
	int64_t batch = attr_int_or(c->node, "batch_axis", 1);
	int64_t time = attr_int_or(c->node, "time_axis", 0);
	const unsigned char *from = host_bytes(c, x);
	struct shape s = shape_of(x);
	struct sink to;
	size_t bytes;

	if (x->rank < 2 || batch + time != 1 || (batch != 0 && batch != 1))
		return err_set(err, ERR_INPUT,
		    "batch_axis %lld, time_axis %lld", (long long)batch,
		    (long long)time);
	if (length->count != (size_t)x->dim[batch])
		return err_set(err, ERR_INPUT, "%zu lengths", length->count);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	bytes = shape_count(x->dim, 2, x->rank) * host_unit(x->dtype);
	for (int64_t i = 0; bytes && i < x->dim[0] * x->dim[1]; i++) {
		int64_t row = i / x->dim[1], column = i % x->dim[1];
		int64_t t = time ? column : row, b = time ? row : column;
		int64_t n = load_one_int(length, (size_t)b), mirror;

		if (n < 0 || n > x->dim[time])
			return err_set(
			    err, ERR_INPUT, "length %lld", (long long)n);
		mirror = t < n ? n - 1 - t : t;
		mirror = time ? row * x->dim[1] + mirror
		              : mirror * x->dim[1] + column;
		memcpy((unsigned char *)to.data + (size_t)i * bytes,
		    from + (size_t)mirror * bytes, bytes);
	}
	return true;
}

bool
trilu_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *k = call_in(c, 1);
	bool upper = attr_int_or(c->node, "upper", 1) != 0;
	int64_t shift = k && k->count == 1 ? load_one_int(k, 0) : 0;
	size_t unit = host_unit(x->dtype);
	const unsigned char *from = host_bytes(c, x);
	struct shape s = shape_of(x);
	int64_t rows, columns;
	struct sink to;

	if (x->rank < 2)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	rows = x->dim[x->rank - 2];
	columns = x->dim[x->rank - 1];
	if (shift > columns)
		shift = columns;
	if (shift < -rows)
		shift = -rows;
	for (size_t i = 0; i < x->count; i++) {
		int64_t column = (int64_t)i % columns;
		int64_t row = (int64_t)i / columns % rows;
		bool keep =
		    upper ? column - row >= shift : column - row <= shift;

		if (keep)
			memcpy((unsigned char *)to.data + i * unit,
			    from + i * unit, unit);
		else
			memset((unsigned char *)to.data + i * unit, 0, unit);
	}
	return true;
}
