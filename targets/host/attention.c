/* Attention: softmax(Q K' * scale, capped, masked) V, head by head. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/matmul.h"

/* How a [batch, heads, seq, size] operand lies in a tensor that may also be
 * [batch, seq, heads * size]. */
struct heads {
	const struct tensor *t;
	size_t batch, heads, seq, size;
	bool flat; /* the rank 3 form */
};

struct attention {
	struct heads q, k, v; /* k and v with the past before them */
	size_t past; /* length of the past */
	double scale, softcap;
	bool causal;
	int64_t left, right; /* of its own place a query sees; -1: all */
	int64_t mode; /* qk_matmul_output_mode */
	const struct tensor *mask, *lengths; /* either may be NULL */
	ptrdiff_t mask_stride[4];
	size_t mask_columns;
	double *score, *bias; /* [q.seq][k.seq] */
	struct sink y, qk;
};

static bool
heads_of(
    struct heads *h, const struct tensor *t, int64_t heads, struct err *err)
{
	h->t = t;
	h->flat = t->rank == 3;
	if (t->rank == 4) {
		h->heads = (size_t)t->dim[1];
		h->seq = (size_t)t->dim[2];
		h->size = (size_t)t->dim[3];
	} else if (h->flat && heads > 0 && t->dim[2] % heads == 0) {
		h->heads = (size_t)heads;
		h->seq = (size_t)t->dim[1];
		h->size = (size_t)(t->dim[2] / heads);
	} else {
		return err_set(err, ERR_INPUT, "rank %u with %lld heads",
		    t->rank, (long long)heads);
	}
	h->batch = (size_t)t->dim[0];
	return true;
}

/* One head of one batch entry: [seq][size]. */
static struct matrix
head_matrix(const struct heads *h, size_t b, size_t head)
{
	ptrdiff_t row = (ptrdiff_t)(h->flat ? h->heads * h->size : h->size);
	size_t at = h->flat ? (b * h->seq * h->heads + head) * h->size
	                    : (b * h->heads + head) * h->seq * h->size;

	return (struct matrix){h->t, at, row, 1};
}

/* The past and the new keys (or values) as one [batch, heads, seq, size]
 * tensor: output `out` when it is wanted. */
static bool
join_past(struct call *c, struct heads *h, const struct tensor *past,
    uint32_t out, struct err *err)
{
	struct tensor *all = arena_new(c->scratch, struct tensor, 1);
	size_t before = past ? (size_t)past->dim[2] : 0, at = 0;
	struct shape s = {.rank = 4};
	struct sink to;
	double *row;

	if (past
	    && (past->rank != 4 || (size_t)past->dim[0] != h->batch
	        || (size_t)past->dim[1] != h->heads
	        || (size_t)past->dim[3] != h->size))
		return err_set(err, ERR_INPUT, "the past does not fit");
	if (!past && !call_wants(c, out))
		return true;
	s.dim[0] = (int64_t)h->batch;
	s.dim[1] = (int64_t)h->heads;
	s.dim[2] = (int64_t)(before + h->seq);
	s.dim[3] = (int64_t)h->size;
	if (call_wants(c, out)) {
		if (!host_out(c, out, h->t->dtype, &s, &to, err))
			return false;
		*all = c->out[out];
	} else if (!host_temp(c, all, h->t->dtype, &s, &to, err)) {
		return false;
	}
	row = arena_new(c->scratch, double, h->size);
	for (size_t i = 0; i < h->batch * h->heads; i++) {
		struct matrix m = head_matrix(h, i / h->heads, i % h->heads);

		for (size_t r = 0; r < before + h->seq; r++, at += h->size) {
			if (r < before)
				load_real(row, past, (i * before + r) * h->size,
				    1, h->size);
			else
				load_real(row, m.t,
				    m.at + (r - before) * (size_t)m.row, 1,
				    h->size);
			store_real(&to, at, 1, h->size, row);
		}
	}
	*h = (struct heads){
	    all, h->batch, h->heads, before + h->seq, h->size, false};
	return true;
}

/* Strides of the mask read as [batch, heads, seq, columns]. */
static bool
read_mask(struct attention *a, struct err *err)
{
	int64_t dim[4] = {
	    (int64_t)a->q.batch, (int64_t)a->q.heads, (int64_t)a->q.seq, 0};
	const struct tensor *m = a->mask;
	ptrdiff_t stride[RANK_MAX];

	if (!m)
		return true;
	if (m->rank < 1 || m->rank > 4)
		return err_set(err, ERR_INPUT, "a mask of rank %u", m->rank);
	dim[3] = m->dim[m->rank - 1];
	for (uint32_t d = 0; d < m->rank; d++) {
		int64_t want = dim[4 - m->rank + d];

		if (m->dim[d] != 1 && m->dim[d] != want)
			return err_set(err, ERR_INPUT,
			    "the mask has %lld in dimension %u, not %lld",
			    (long long)m->dim[d], d, (long long)want);
	}
	broadcast_strides(m->rank, m->dim, 4, dim, stride);
	memcpy(a->mask_stride, stride, sizeof a->mask_stride);
	a->mask_columns = (size_t)dim[3];
	if (dim[3] == 1 && a->k.seq > 1) { /* one column for all */
		a->mask_stride[3] = 0;
		a->mask_columns = a->k.seq;
	}
	return true;
}

/* What is added to the score of query i and key j: 0, -infinity, or the mask's
 * own number. */
static double
bias_of(const struct attention *a, size_t b, size_t h, size_t i, size_t j)
{
	int64_t seen = (int64_t)a->past; /* keys before query 0 */
	size_t at;

	if (a->lengths) {
		int64_t n = load_one_int(a->lengths, b);

		if ((int64_t)j >= n)
			return -(double)INFINITY;
		seen = n - (int64_t)a->q.seq;
	}
	if ((a->causal && (int64_t)j > (int64_t)i + seen)
	    || (a->left >= 0 && (int64_t)j < (int64_t)i + seen - a->left)
	    || (a->right >= 0 && (int64_t)j - a->right > (int64_t)i + seen))
		return -(double)INFINITY;
	if (!a->mask)
		return 0;
	if (j >= a->mask_columns)
		return -(double)INFINITY;
	at = b * (size_t)a->mask_stride[0] + h * (size_t)a->mask_stride[1]
	    + i * (size_t)a->mask_stride[2] + j * (size_t)a->mask_stride[3];
	if (a->mask->dtype == DT_BOOL)
		return load_one_int(a->mask, at) ? 0 : -(double)INFINITY;
	return load_one(a->mask, at);
}

/* Softmax of score + bias; a row that is wholly masked becomes 0. */
static void
softmax_row(double *score, const double *bias, size_t n)
{
	double top = -(double)INFINITY, most = top, sum = 0;

	for (size_t j = 0; j < n; j++) {
		most = fmax(most, bias[j]);
		top = fmax(top, score[j]);
	}
	for (size_t j = 0; j < n; j++)
		sum += score[j] =
		    isinf(most) && most < 0 ? 0 : exp(score[j] - top);
	for (size_t j = 0; sum > 0 && j < n; j++)
		score[j] /= sum;
}

static void
give_scores(const struct attention *a, int64_t mode, size_t head)
{
	size_t n = a->q.seq * a->k.seq;

	if (a->qk.data && a->mode == mode)
		store_real(&a->qk, head * n, 1, n, a->score);
}

/* finish: keep the sums as doubles. */
static void
keep_score(const struct matrix_product *p, size_t row, size_t n0, size_t nn,
    double *sum)
{
	const struct attention *a = p->ctx;

	for (size_t j = 0; j < nn; j++)
		a->score[row * p->n + n0 + j] = sum[j] * a->scale;
}

/* finish: a row of the head's part of the output. */
static void
keep_output(const struct matrix_product *p, size_t row, size_t n0, size_t nn,
    double *sum)
{
	const struct attention *a = p->ctx;
	size_t step = a->q.flat ? a->q.heads * a->v.size : a->v.size;

	store_real(&a->y, p->to_at + row * step + n0, 1, nn, sum);
}

static void
score_head(struct attention *a, size_t b, size_t h, struct arena *scratch)
{
	size_t nq = a->q.seq, nk = a->k.seq, head = b * a->q.heads + h;
	struct matrix_product p = {.a = head_matrix(&a->q, b, h),
	    .b = head_matrix(&a->k, b, h / (a->q.heads / a->k.heads)),
	    .m = nq,
	    .n = nk,
	    .k = a->q.size,
	    .finish = keep_score,
	    .ctx = a};
	ptrdiff_t row = p.b.row;

	p.b.row = p.b.col; /* K transposed */
	p.b.col = row;
	product_run(&p, scratch);
	give_scores(a, 0, head);
	for (size_t i = 0; a->softcap > 0 && i < nq * nk; i++)
		a->score[i] = a->softcap * tanh(a->score[i] / a->softcap);
	give_scores(a, 1, head);
	for (size_t i = 0; i < nq * nk; i++) {
		a->bias[i] = bias_of(a, b, h, i / nk, i % nk);
		a->score[i] += a->bias[i];
	}
	give_scores(a, 2, head);
	for (size_t i = 0; i < nq; i++)
		softmax_row(a->score + i * nk, a->bias + i * nk, nk);
	give_scores(a, 3, head);
}

static void
output_head(struct attention *a, size_t b, size_t h, struct arena *scratch)
{
	int64_t dim[2] = {(int64_t)a->q.seq, (int64_t)a->k.seq};
	struct tensor weights = tensor_view(DT_DOUBLE, 2, dim, a->score);
	struct matrix_product p = {.a = {&weights, 0, (ptrdiff_t)a->k.seq, 1},
	    .b = head_matrix(&a->v, b, h / (a->q.heads / a->v.heads)),
	    .m = a->q.seq,
	    .n = a->v.size,
	    .k = a->k.seq,
	    .finish = keep_output,
	    .ctx = a};

	p.to_at = a->q.flat ? (b * a->q.seq * a->q.heads + h) * a->v.size
	                    : (b * a->q.heads + h) * a->q.seq * a->v.size;
	product_run(&p, scratch);
}

static bool
sizes_fit(const struct attention *a, struct err *err)
{
	if (a->q.batch != a->k.batch || a->q.batch != a->v.batch
	    || a->k.seq != a->v.seq || a->q.size != a->k.size || a->k.heads == 0
	    || a->k.heads != a->v.heads || a->q.heads % a->k.heads)
		return err_set(err, ERR_INPUT,
		    "%zu x %zu queries of %zu, %zu x %zu keys of %zu, %zu x "
		    "%zu values",
		    a->q.heads, a->q.seq, a->q.size, a->k.heads, a->k.seq,
		    a->k.size, a->v.heads, a->v.seq);
	if (a->lengths && a->lengths->count != a->q.batch)
		return err_set(
		    err, ERR_INPUT, "%zu sequence lengths", a->lengths->count);
	return true;
}

static bool
attention_outputs(struct call *c, struct attention *a, struct err *err)
{
	struct shape y = shape_of(a->q.t), qk = {.rank = 4};

	if (a->q.flat)
		y.dim[2] = (int64_t)(a->q.heads * a->v.size);
	else
		y.dim[3] = (int64_t)a->v.size;
	qk.dim[0] = (int64_t)a->q.batch;
	qk.dim[1] = (int64_t)a->q.heads;
	qk.dim[2] = (int64_t)a->q.seq;
	qk.dim[3] = (int64_t)a->k.seq;
	return host_out(c, 0, a->q.t->dtype, &y, &a->y, err)
	    && (!call_wants(c, 3)
	        || host_out(c, 3, a->q.t->dtype, &qk, &a->qk, err));
}

static bool
attention_read(struct call *c, struct attention *a, struct err *err)
{
	const struct node *n = c->node;
	int64_t q = attr_int_or(n, "q_num_heads", 0);
	int64_t kv = attr_int_or(n, "kv_num_heads", 0);

	a->causal = attr_int_or(n, "is_causal", 0) != 0;
	a->left = attr_int_or(n, "left_window_size", -1);
	a->right = attr_int_or(n, "right_window_size", -1);
	a->mode = attr_int_or(n, "qk_matmul_output_mode", 0);
	a->softcap = (double)attr_float_or(n, "softcap", 0);
	a->mask = call_in(c, 3);
	a->lengths = call_in(c, 6);
	a->past =
	    call_in(c, 4) && c->in[4]->rank == 4 ? (size_t)c->in[4]->dim[2] : 0;
	if (!heads_of(&a->q, c->in[0], q, err)
	    || !heads_of(&a->k, c->in[1], kv, err)
	    || !heads_of(&a->v, c->in[2], kv, err)
	    || !join_past(c, &a->k, call_in(c, 4), 1, err)
	    || !join_past(c, &a->v, call_in(c, 5), 2, err) || !sizes_fit(a, err)
	    || !read_mask(a, err))
		return false;
	a->scale = (double)attr_float_or(n, "scale", 0);
	if (!node_attr(n, "scale"))
		a->scale = 1 / sqrt((double)a->q.size);
	return true;
}

bool
attention_run(struct call *c, struct err *err)
{
	struct attention a = {.past = 0};
	size_t n;

	if (!attention_read(c, &a, err) || !attention_outputs(c, &a, err))
		return false;
	n = a.q.seq * a.k.seq;
	a.score = arena_new(c->scratch, double, n);
	a.bias = arena_new(c->scratch, double, n);
	for (size_t i = 0; i < a.q.batch * a.q.heads; i++) {
		score_head(&a, i / a.q.heads, i % a.q.heads, c->scratch);
		output_head(&a, i / a.q.heads, i % a.q.heads, c->scratch);
	}
	return true;
}
