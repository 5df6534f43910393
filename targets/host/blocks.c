/* com.microsoft: weights in blocks of a power of two, each with a scale. Their
 * codes of 2, 4 or 8 bits lie side by side in bytes, the low one first, and are
 * unpacked where they are needed: nothing keeps them in another form. */
#include <string.h>

#include "targets/host/gemm.h"
#include "targets/host/kernels.h"

#define LEAST_BLOCK 16 /* SOURCE: ONNX Runtime's text of both operators */
#define TOGETHER 8 /* columns: doubles in a cache line; divides GEMM_COLUMNS */

/* How codes of one size lie in bytes. */
struct packing {
	uint32_t bits, shift; /* 2^shift codes a byte */
};

static bool
packing_of(struct packing *p, const struct node *n, struct err *err)
{
	const int64_t bits = attr_int_or(n, "bits", 4);

	if (bits != 2 && bits != 4 && bits != 8)
		return refuse(err, "codes of %lld bits", (long long)bits);
	p->bits = (uint32_t)bits;
	p->shift = bits == 8 ? 0 : bits == 4 ? 1 : 2;
	return true;
}

static double
code_at(struct packing p, const unsigned char *from, size_t i)
{
	const size_t in_byte = i & ((1u << p.shift) - 1);

	return (double)((unsigned)from[i >> p.shift] >> in_byte * p.bits
	    & ((1u << p.bits) - 1));
}

static size_t
packed_bytes(struct packing p, size_t codes)
{
	return (codes + (1u << p.shift) - 1) >> p.shift;
}

/* Where no zero point is given. */
static double
middle(struct packing p)
{
	return (double)(1u << (p.bits - 1));
}

/* log2 of block_size. */
static bool
block_shift(uint32_t *shift, int64_t size, struct err *err)
{
	if (size < LEAST_BLOCK || size > INT32_MAX || (size & (size - 1)))
		return err_set(
		    err, ERR_INPUT, "blocks of %lld", (long long)size);
	for (*shift = 0; INT64_C(1) << *shift < size; (*shift)++)
		;
	return true;
}

/* --- MatMulNBits --------------------------------------------------------- */

struct blocked {
	struct packing packing;
	size_t n, k, blocks; /* weights [k][n], blocks along k */
	uint32_t block_shift;
	bool absent; /* no weights at all: they count as zeros */
	const unsigned char *codes; /* [n][blocks][block] */
	const struct tensor *scales; /* [n][blocks] */
	const struct tensor *zeros; /* likewise, or packed; or NULL */
	const unsigned char *packed_zeros; /* [n][bytes], or NULL */
	const int64_t *group; /* [k]: the block of each row; NULL: in order */
	const struct tensor *bias; /* [n], or NULL */
	double *scale, *zero; /* [blocks], of the column at hand */
	const struct sink *to;
};

/* Scales and zero points of column `col`, blocks from..from+count. */
static void
load_blocks(const struct blocked *b, size_t col, size_t from, size_t count)
{
	const size_t at = col * b->blocks + from;
	const size_t row = packed_bytes(b->packing, b->blocks);

	load_real(b->scale + from, b->scales, at, 1, count);
	if (b->zeros && !b->packed_zeros)
		load_real(b->zero + from, b->zeros, at, 1, count);
	for (size_t i = from; !b->zeros && i < from + count; i++)
		b->zero[i] = middle(b->packing);
	for (size_t i = from; b->packed_zeros && i < from + count; i++)
		b->zero[i] =
		    code_at(b->packing, b->packed_zeros + col * row, i);
}

/* So many codes as numbers: the loops of constant length are vectorised. */
static inline void
unpack_as(uint32_t bits, const unsigned char *from, double zero, double scale,
    double *to)
{
	const uint32_t per = 8 / bits;
	int code[LEAST_BLOCK];

	for (uint32_t i = 0; i < LEAST_BLOCK / per; i++)
		for (uint32_t c = 0; c < per; c++)
			code[i * per + c] =
			    from[i] >> c * bits & ((1 << bits) - 1);
	for (uint32_t i = 0; i < LEAST_BLOCK; i++)
		to[i] = ((double)code[i] - zero) * scale;
}

static void
unpack(struct packing p, const unsigned char *from, double zero, double scale,
    double *to)
{
	switch (p.bits) {
	case 2:
		unpack_as(2, from, zero, scale, to);
		break;
	case 4:
		unpack_as(4, from, zero, scale, to);
		break;
	default:
		unpack_as(8, from, zero, scale, to);
	}
}

static void
scale_by_group(const struct blocked *b, size_t k0, size_t kn, double *to)
{
	for (size_t i = 0; i < kn; i++) {
		const size_t block = (size_t)b->group[k0 + i];

		to[i] = (to[i] - b->zero[block]) * b->scale[block];
	}
}

/* Rows k0..k0+kn of column `col`, and what else LEAST_BLOCK rows hold. */
static void
load_column(
    const struct blocked *b, size_t col, size_t k0, size_t kn, double *to)
{
	const size_t at = (col * b->blocks << b->block_shift) + k0;
	const unsigned char *codes = b->codes + (at >> b->packing.shift);
	const size_t first = k0 >> b->block_shift;
	const size_t last = (k0 + kn - 1) >> b->block_shift;

	if (b->group)
		load_blocks(b, col, 0, b->blocks);
	else
		load_blocks(b, col, first, last - first + 1);
	for (size_t i = 0; i < kn; i += LEAST_BLOCK) {
		const size_t block = (k0 + i) >> b->block_shift;

		unpack(b->packing, codes + (i >> b->packing.shift),
		    b->group ? 0 : b->zero[block],
		    b->group ? 1 : b->scale[block], to + i);
	}
	if (b->group)
		scale_by_group(b, k0, kn, to);
}

/* Columns are unpacked each by itself, and put in rows a cache line at once; what
 * there is beyond nn is nothing, or of columns before. */
static void
load_weights(
    const void *ctx, size_t k0, size_t kn, size_t n0, size_t nn, double *to)
{
	double column[TOGETHER][GEMM_DEPTH] = {{0}};

	for (size_t j = 0; j < nn; j += TOGETHER) {
		for (size_t c = 0; c < TOGETHER && j + c < nn; c++)
			load_column(ctx, n0 + j + c, k0, kn, column[c]);
		for (size_t k = 0; k < kn; k++)
			for (size_t c = 0; c < TOGETHER; c++)
				to[k * GEMM_COLUMNS + j + c] = column[c][k];
	}
}

static void
take_rows(const void *ctx, size_t n0, size_t nn, double *c, size_t m)
{
	const struct blocked *b = ctx;
	double bias[GEMM_COLUMNS] = {0};

	if (b->bias)
		load_real(bias, b->bias, n0, 1, nn);
	for (size_t i = 0; i < m; i++) {
		double *row = c + i * GEMM_COLUMNS;

		for (size_t j = 0; j < nn; j++)
			row[j] += bias[j];
		store_real(b->to, i * b->n + n0, 1, nn, row);
	}
}

static bool
read_sizes(struct blocked *b, const struct node *n, struct err *err)
{
	const int64_t rows = attr_int_or(n, "K", 0);
	const int64_t columns = attr_int_or(n, "N", 0);

	if (rows < 1 || columns < 1 || rows > INT32_MAX || columns > INT32_MAX)
		return err_set(err, ERR_INPUT, "K = %lld, N = %lld",
		    (long long)rows, (long long)columns);
	if (attr_int_or(n, "weight_prepacked", 0))
		return refuse(err, "weights packed for a device");
	if (!packing_of(&b->packing, n, err)
	    || !block_shift(
	        &b->block_shift, attr_int_or(n, "block_size", 0), err))
		return false;
	b->k = (size_t)rows;
	b->n = (size_t)columns;
	b->blocks = ((b->k - 1) >> b->block_shift) + 1;
	return true;
}

static bool
read_zeros(struct blocked *b, struct call *c, struct err *err)
{
	size_t want = b->n * b->blocks;

	b->zeros = call_in(c, 3);
	if (b->zeros && b->zeros->dtype == DT_UINT8) {
		b->packed_zeros = host_bytes(c, b->zeros);
		want = b->n * packed_bytes(b->packing, b->blocks);
	}
	return !b->zeros || b->zeros->count == want
	    || err_set(err, ERR_INPUT, "%zu zero points, not %zu",
	        b->zeros->count, want);
}

/* The blocks' scales go by g_idx, codes lie in the order of rows all the same.
 * SOURCE: ONNX Runtime, which takes it for 4 bits and looks at no zero points
 * then. */
static bool
read_group(struct blocked *b, struct call *c, struct err *err)
{
	uint32_t n;

	b->group = input_ints(c, 4, &n);
	if (!b->group)
		return true;
	if (b->packing.bits != 4)
		return refuse(
		    err, "g_idx of codes of %u bits", b->packing.bits);
	b->zeros = NULL;
	b->packed_zeros = NULL;
	if (n < b->k)
		return err_set(err, ERR_INPUT, "g_idx of %u rows", n);
	for (size_t k = 0; k < b->k; k++)
		if (b->group[k] < 0 || (size_t)b->group[k] >= b->blocks)
			return err_set(err, ERR_INPUT,
			    "g_idx %lld of %zu blocks", (long long)b->group[k],
			    b->blocks);
	return true;
}

static bool
read_weights(struct blocked *b, struct call *c, struct err *err)
{
	const struct tensor *codes = c->in[1];
	const size_t row = b->blocks << b->block_shift >> b->packing.shift;

	b->absent = codes->count == 0;
	b->scales = c->in[2];
	b->bias = call_in(c, 5);
	if (b->bias && b->bias->count != b->n)
		return err_set(err, ERR_INPUT, "a bias of %zu", b->bias->count);
	if (b->absent)
		return true;
	if (codes->dtype != DT_UINT8 || codes->count != b->n * row)
		return err_set(err, ERR_INPUT, "%zu bytes of weights, not %zu",
		    codes->count, b->n * row);
	if (b->scales->count != b->n * b->blocks)
		return err_set(err, ERR_INPUT, "%zu scales, not %zu",
		    b->scales->count, b->n * b->blocks);
	b->codes = host_bytes(c, codes);
	b->scale = arena_new(c->scratch, double, b->blocks);
	b->zero = arena_new(c->scratch, double, b->blocks);
	return read_zeros(b, c, err) && read_group(b, c, err);
}

bool
matmulnbits_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape y = shape_of(x);
	struct blocked b = {.to = NULL};
	struct sink to;
	struct gemm g = {
	    .a = x, .a_col = 1, .load_b = load_weights, .take = take_rows};

	if (!read_sizes(&b, c->node, err) || !read_weights(&b, c, err))
		return false;
	if (y.rank == 0 || (size_t)y.dim[y.rank - 1] != b.k)
		return err_set(err, ERR_INPUT, "no rows of %zu", b.k);
	y.dim[y.rank - 1] = (int64_t)b.n;
	if (lane_of(x->dtype) != LANE_REAL)
		return refuse(err, "a product of %s", dtype_name(x->dtype));
	if (!host_out(c, 0, x->dtype, &y, &to, err))
		return false;
	b.to = &to;
	g.ctx = &b;
	g.m = x->count / b.k;
	g.n = b.n;
	g.k = b.absent ? 0 : b.k;
	g.a_row = (ptrdiff_t)b.k;
	gemm_run(&g, c->scratch);
	return true;
}

/* --- GatherBlockQuantized ------------------------------------------------ */

struct gathered {
	struct packing packing;
	bool packed; /* bytes hold codes along the last dimension */
	struct shape data; /* in codes */
	uint32_t axis, along; /* gathered, quantised */
	uint32_t block_shift;
	size_t blocks; /* along the quantised axis */
	size_t last; /* scales along the last dimension */
	const unsigned char *codes, *zero_codes; /* of packed data */
	const struct tensor *from, *scales, *zeros;
};

/* The scale of code i: the blocks are one dimension of the scales. */
static size_t
block_of(const struct gathered *g, size_t i)
{
	const size_t inner =
	    shape_count(g->data.dim, g->along + 1, g->data.rank);
	const size_t n = (size_t)g->data.dim[g->along];

	return (i / inner / n * g->blocks + (i / inner % n >> g->block_shift))
	    * inner
	    + i % inner;
}

static double
zero_at(const struct gathered *g, size_t block)
{
	const size_t row = packed_bytes(g->packing, g->last);

	if (!g->zeros)
		return g->packed ? middle(g->packing) : 0;
	if (!g->packed)
		return load_one(g->zeros, block);
	return code_at(
	    g->packing, g->zero_codes + block / g->last * row, block % g->last);
}

static double
value_at(const struct gathered *g, size_t i)
{
	const size_t block = block_of(g, i);
	const double code =
	    g->packed ? code_at(g->packing, g->codes, i) : load_one(g->from, i);

	return (code - zero_at(g, block)) * load_one(g->scales, block);
}

static bool
read_axes(struct gathered *g, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	const int64_t size = attr_int_or(c->node, "block_size", 128);

	g->data = shape_of(x);
	g->packed = x->dtype == DT_UINT8;
	if (!packing_of(&g->packing, c->node, err)
	    || !axis_of(
	        attr_int_or(c->node, "gather_axis", 0), x->rank, &g->axis, err)
	    || !axis_of(attr_int_or(c->node, "quantize_axis", 1), x->rank,
	        &g->along, err)
	    || !block_shift(&g->block_shift, size, err))
		return false;
	if (g->packed)
		g->data.dim[x->rank - 1] <<= g->packing.shift;
	g->blocks =
	    (size_t)(g->data.dim[g->along] + size - 1) >> g->block_shift;
	g->last = g->along + 1 == x->rank ? g->blocks
	                                  : (size_t)g->data.dim[x->rank - 1];
	return true;
}

/* Scales and zero points fit the data. */
static bool
read_parts(struct gathered *g, struct call *c, struct err *err)
{
	struct shape parts = g->data;
	size_t want;

	parts.dim[g->along] = (int64_t)g->blocks;
	want = shape_count(parts.dim, 0, parts.rank);
	g->from = c->in[0];
	g->scales = c->in[2];
	g->zeros = call_in(c, 3);
	if (g->scales->count != want)
		return err_set(err, ERR_INPUT, "%zu scales, not %zu",
		    g->scales->count, want);
	if (g->packed && g->last)
		want = want / g->last * packed_bytes(g->packing, g->last);
	if (g->zeros && g->zeros->count != want)
		return err_set(err, ERR_INPUT, "%zu zero points, not %zu",
		    g->zeros->count, want);
	if (g->packed) {
		g->codes = host_bytes(c, g->from);
		g->zero_codes = g->zeros ? host_bytes(c, g->zeros) : NULL;
	}
	return true;
}

/* The part of the output that index `at` of an outer row makes. */
static void
give_slice(const struct gathered *g, size_t from, size_t n,
    const struct sink *to, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		double x = value_at(g, from + i);

		store_real(to, at + i, 1, 1, &x);
	}
}

/* An index beyond the axis makes zeros, as in ONNX Runtime. */
static void
give_rows(
    const struct gathered *g, const struct tensor *index, const struct sink *to)
{
	const int64_t rows = g->data.dim[g->axis];
	const size_t outer = shape_count(g->data.dim, 0, g->axis);
	const size_t inner =
	    shape_count(g->data.dim, g->axis + 1, g->data.rank);

	for (size_t o = 0; o < outer; o++)
		for (size_t i = 0; i < index->count; i++) {
			int64_t at = load_one_int(index, i);

			at += at < 0 ? rows : 0;
			if (at >= 0 && at < rows)
				give_slice(g,
				    (o * (size_t)rows + (size_t)at) * inner,
				    inner, to, (o * index->count + i) * inner);
		}
}

bool
gatherblockquantized_run(struct call *c, struct err *err)
{
	const struct tensor *index = c->in[1];
	struct gathered g = {.packed = false};
	struct shape y = {.rank = 0};
	struct sink to;

	if (!read_axes(&g, c, err) || !read_parts(&g, c, err))
		return false;
	if (lane_of(index->dtype) != LANE_INT
	    || lane_of(g.scales->dtype) != LANE_REAL)
		return refuse(err, "indices or scales of this type");
	if (g.data.rank + index->rank > RANK_MAX + 1)
		return err_set(err, ERR_INPUT, "rank above %u", RANK_MAX);
	for (uint32_t d = 0; d < g.axis; d++)
		y.dim[y.rank++] = g.data.dim[d];
	for (uint32_t d = 0; d < index->rank; d++)
		y.dim[y.rank++] = index->dim[d];
	for (uint32_t d = g.axis + 1; d < g.data.rank; d++)
		y.dim[y.rank++] = g.data.dim[d];
	if (!host_out(c, 0, g.scales->dtype, &y, &to, err))
		return false;
	memset(to.data, 0, c->out[0].bytes);
	give_rows(&g, index, &to);
	return true;
}
