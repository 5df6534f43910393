/* The smaller operators of transformers: RotaryEmbedding, LinearAttention,
 * CausalConvWithState, TensorScatter, SwiGLU. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/map.h"

/* --- RotaryEmbedding ----------------------------------------------------- */

struct rotary {
	size_t batch, heads, seq, size, half; /* 2 * half are rotated */
	bool flat, interleaved;
	const struct tensor *cosines, *sines, *position;
};

static bool
rotary_read(struct rotary *r, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	int64_t heads = attr_int_or(c->node, "num_heads", 0), rotated;

	r->flat = x->rank == 3;
	if (x->rank != 4 && !(r->flat && heads > 0 && x->dim[2] % heads == 0))
		return err_set(err, ERR_INPUT, "rank %u with %lld heads",
		    x->rank, (long long)heads);
	r->batch = (size_t)x->dim[0];
	r->heads = r->flat ? (size_t)heads : (size_t)x->dim[1];
	r->seq = (size_t)x->dim[r->flat ? 1 : 2];
	r->size = r->flat ? (size_t)(x->dim[2] / heads) : (size_t)x->dim[3];
	rotated = attr_int_or(c->node, "rotary_embedding_dim", 0);
	if (rotated == 0)
		rotated = (int64_t)r->size;
	if (rotated < 0 || (size_t)rotated > r->size || rotated % 2)
		return err_set(err, ERR_INPUT, "rotary_embedding_dim %lld",
		    (long long)rotated);
	r->half = (size_t)rotated / 2;
	r->interleaved = attr_int_or(c->node, "interleaved", 0) != 0;
	r->cosines = c->in[1];
	r->sines = c->in[2];
	r->position = call_in(c, 3);
	if (r->cosines->count != r->sines->count
	    || (r->position && r->position->count != r->batch * r->seq)
	    || (!r->position
	        && r->cosines->count < r->batch * r->seq * r->half))
		return err_set(err, ERR_INPUT, "the caches do not fit");
	return true;
}

/* Rotate one head of one position in place. */
static void
rotate(const struct rotary *r, double *x, const double *cs, const double *sn)
{
	for (size_t i = 0; i < r->half; i++) {
		double *a = r->interleaved ? &x[2 * i] : &x[i];
		double *b = r->interleaved ? &x[2 * i + 1] : &x[r->half + i];
		double real = cs[i] * *a - sn[i] * *b;

		*b = sn[i] * *a + cs[i] * *b;
		*a = real;
	}
}

bool
rotaryembedding_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct rotary r;
	struct sink to;
	double *row, *cs, *sn;

	if (!rotary_read(&r, c, err) || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	row = arena_new(c->scratch, double, r.size);
	cs = arena_new(c->scratch, double, r.half);
	sn = arena_new(c->scratch, double, r.half);
	for (size_t i = 0; i < r.batch * r.seq; i++) {
		int64_t p =
		    r.position ? load_one_int(r.position, i) : (int64_t)i;
		size_t last = r.half ? r.cosines->count / r.half : 0;

		if (p < 0 || (size_t)p >= last)
			return err_set(
			    err, ERR_INPUT, "position %lld", (long long)p);
		load_real(cs, r.cosines, (size_t)p * r.half, 1, r.half);
		load_real(sn, r.sines, (size_t)p * r.half, 1, r.half);
		for (size_t h = 0; h < r.heads; h++) {
			size_t at = r.flat
			    ? i * r.heads + h
			    : (i / r.seq * r.heads + h) * r.seq + i % r.seq;

			load_real(row, x, at * r.size, 1, r.size);
			rotate(&r, row, cs, sn);
			store_real(&to, at * r.size, 1, r.size, row);
		}
	}
	return true;
}

/* --- LinearAttention ----------------------------------------------------- */

struct linear {
	size_t batch, seq, qheads, heads, dk, dv;
	bool gated, delta;
	const struct tensor *q, *k, *v, *decay, *beta;
	size_t decay_size, beta_heads; /* per head: 1 or dk; 1 or heads */
	double scale;
	struct sink y;
};

static bool
linear_sizes(struct linear *l, const struct call *c, struct err *err)
{
	int64_t q = attr_int_or(c->node, "q_num_heads", 0);
	int64_t kv = attr_int_or(c->node, "kv_num_heads", 0);
	size_t steps;

	if (l->q->rank != 3 || l->k->rank != 3 || l->v->rank != 3 || q < 1
	    || kv < 1 || q % kv || l->q->dim[2] % q || l->v->dim[2] % kv
	    || l->k->dim[2] / kv != l->q->dim[2] / q || l->k->dim[2] % kv)
		return err_set(err, ERR_INPUT, "%lld and %lld heads",
		    (long long)q, (long long)kv);
	l->batch = (size_t)l->q->dim[0];
	l->seq = (size_t)l->q->dim[1];
	l->qheads = (size_t)q;
	l->heads = (size_t)kv;
	l->dk = (size_t)(l->q->dim[2] / q);
	l->dv = (size_t)(l->v->dim[2] / kv);
	steps = l->batch * l->seq;
	if (l->k->count != steps * l->heads * l->dk
	    || l->v->count != steps * l->heads * l->dv)
		return err_set(err, ERR_INPUT, "keys or values do not fit");
	if ((l->gated && !l->decay) || (l->delta && !l->beta))
		return err_set(err, ERR_INPUT, "decay or beta is missing");
	l->decay_size =
	    l->gated && l->decay->count == steps * l->heads ? 1 : l->dk;
	l->beta_heads = l->delta && l->beta->count == steps ? 1 : l->heads;
	if ((l->gated && l->decay->count != steps * l->heads * l->decay_size)
	    || (l->delta && l->beta->count != steps * l->beta_heads))
		return err_set(err, ERR_INPUT, "decay or beta does not fit");
	return true;
}

static bool
linear_read(struct linear *l, const struct call *c, struct err *err)
{
	const struct node *n = c->node;

	l->gated = attr_is(n, "update_rule", "gated_delta", "gated")
	    || attr_is(n, "update_rule", "gated_delta", "gated_delta");
	l->delta = attr_is(n, "update_rule", "gated_delta", "delta")
	    || attr_is(n, "update_rule", "gated_delta", "gated_delta");
	if (!l->gated && !l->delta
	    && !attr_is(n, "update_rule", "gated_delta", "linear"))
		return refuse(err, "an unknown update_rule");
	l->q = c->in[0];
	l->k = c->in[1];
	l->v = c->in[2];
	l->decay = call_in(c, 4);
	l->beta = call_in(c, 5);
	if (!linear_sizes(l, c, err))
		return false;
	l->scale = (double)attr_float_or(n, "scale", 0);
	if (l->scale == 0)
		l->scale = 1 / sqrt((double)l->dk);
	return true;
}

/* state[dk][dv] of a head advances by step i (batch and time as one): it
 * decays, forgets what it said about k, and learns k -> v. */
static void
linear_step(
    const struct linear *l, size_t i, size_t h, double *state, double *v)
{
	size_t at = i * l->heads + h;
	double beta =
	    l->delta ? load_one(l->beta, l->beta_heads == 1 ? i : at) : 1;

	load_real(v, l->v, at * l->dv, 1, l->dv);
	for (size_t a = 0; l->gated && a < l->dk; a++) {
		double keep = exp(load_one(l->decay,
		    at * l->decay_size + (l->decay_size == 1 ? 0 : a)));

		for (size_t b = 0; b < l->dv; b++)
			state[a * l->dv + b] *= keep;
	}
	for (size_t b = 0; l->delta && b < l->dv; b++) {
		double said = 0;

		for (size_t a = 0; a < l->dk; a++)
			said += state[a * l->dv + b]
			    * load_one(l->k, at * l->dk + a);
		v[b] = beta * (v[b] - said);
	}
	for (size_t a = 0; a < l->dk; a++) {
		double k = load_one(l->k, at * l->dk + a);

		for (size_t b = 0; b < l->dv; b++)
			state[a * l->dv + b] += k * v[b];
	}
}

static void
linear_read_out(
    const struct linear *l, size_t i, size_t h, const double *state, double *y)
{
	size_t at = i * l->qheads + h;

	for (size_t b = 0; b < l->dv; b++) {
		y[b] = 0;
		for (size_t a = 0; a < l->dk; a++)
			y[b] += load_one(l->q, at * l->dk + a)
			    * state[a * l->dv + b];
		y[b] *= l->scale;
	}
	store_real(&l->y, at * l->dv, 1, l->dv, y);
}

static bool
linear_outputs(struct call *c, struct linear *l, const struct tensor *past,
    struct sink *state, struct err *err)
{
	struct shape y = shape_of(l->q), s = {.rank = 4};

	y.dim[2] = (int64_t)(l->qheads * l->dv);
	s.dim[0] = (int64_t)l->batch;
	s.dim[1] = (int64_t)l->heads;
	s.dim[2] = (int64_t)l->dk;
	s.dim[3] = (int64_t)l->dv;
	if (past && past->count != l->batch * l->heads * l->dk * l->dv)
		return err_set(err, ERR_INPUT, "the past does not fit");
	return host_out(c, 0, l->q->dtype, &y, &l->y, err)
	    && (!call_wants(c, 1)
	        || host_out(
	            c, 1, past ? past->dtype : l->q->dtype, &s, state, err));
}

bool
linearattention_run(struct call *c, struct err *err)
{
	const struct tensor *past = call_in(c, 3);
	struct linear l = {.batch = 0};
	struct sink to;
	double *state, *v;
	size_t n, group;

	if (c->node->ninputs > 6)
		return refuse(err, "more than six inputs");
	if (!linear_read(&l, c, err) || !linear_outputs(c, &l, past, &to, err))
		return false;
	n = l.dk * l.dv;
	group = l.qheads / l.heads;
	state = arena_new(c->scratch, double, n);
	v = arena_new(c->scratch, double, l.dv);
	for (size_t k = 0; k < l.batch * l.heads; k++) {
		size_t b = k / l.heads, h = k % l.heads;

		memset(state, 0, n * sizeof *state);
		if (past)
			load_real(state, past, k * n, 1, n);
		for (size_t t = 0; t < l.seq; t++) {
			linear_step(&l, b * l.seq + t, h, state, v);
			for (size_t g = 0; g < group; g++)
				linear_read_out(
				    &l, b * l.seq + t, h * group + g, state, v);
		}
		if (call_wants(c, 1))
			store_real(&to, k * n, 1, n, state);
	}
	return true;
}

/* --- CausalConvWithState ------------------------------------------------- */

static double
silu(double x)
{
	return x / (1 + exp(-x));
}

/* Depthwise over time, the past before the input. */
bool
causalconvwithstate_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *w = c->in[1];
	const struct tensor *bias = call_in(c, 2), *past = call_in(c, 3);
	bool plain = attr_is(c->node, "activation", "none", "none");
	struct shape s = shape_of(x), p = s;
	struct sink y, present;
	size_t channels, n, taps, before;
	double *row, *tap;

	if (!plain && !attr_is(c->node, "activation", "none", "silu")
	    && !attr_is(c->node, "activation", "none", "swish"))
		return refuse(err, "an unknown activation");
	if (x->rank != 3 || w->rank != 3 || w->dim[0] != x->dim[1]
	    || w->dim[1] != 1 || w->dim[2] < 1)
		return err_set(err, ERR_INPUT,
		    "input of rank %u, weights of "
		    "rank %u",
		    x->rank, w->rank);
	channels = (size_t)x->dim[1];
	n = (size_t)x->dim[2];
	taps = (size_t)w->dim[2];
	before = taps - 1;
	p.dim[2] = (int64_t)before;
	if ((bias && bias->count != channels)
	    || (past && past->count != (size_t)x->dim[0] * channels * before))
		return err_set(err, ERR_INPUT, "bias or past does not fit");
	if (!host_out(c, 0, x->dtype, &s, &y, err)
	    || (call_wants(c, 1)
	        && !host_out(c, 1, x->dtype, &p, &present, err)))
		return false;
	row = arena_new(c->scratch, double, before + n);
	tap = arena_new(c->scratch, double, taps);
	for (size_t i = 0; i < (size_t)x->dim[0] * channels; i++) {
		size_t ch = i % channels;

		memset(row, 0, before * sizeof *row);
		if (past)
			load_real(row, past, i * before, 1, before);
		load_real(row + before, x, i * n, 1, n);
		load_real(tap, w, ch * taps, 1, taps);
		for (size_t t = 0; t < n; t++) {
			double sum = bias ? load_one(bias, ch) : 0;

			for (size_t k = 0; k < taps; k++)
				sum += tap[k] * row[t + k];
			sum = plain ? sum : silu(sum);
			store_real(&y, i * n + t, 1, 1, &sum);
		}
		if (call_wants(c, 1))
			store_real(&present, i * before, 1, before, row + n);
	}
	return true;
}

/* --- TensorScatter: rows written into a cache ---------------------------- */

bool
tensorscatter_run(struct call *c, struct err *err)
{
	const struct tensor *cache = c->in[0], *new = c->in[1];
	const struct tensor *index = call_in(c, 2);
	bool circular = attr_is(c->node, "mode", "linear", "circular");
	struct shape s = shape_of(cache);
	size_t outer, inner, unit = host_unit(cache->dtype);
	const unsigned char *from = host_bytes(c, new);
	struct sink to;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", -2), cache->rank, &axis, err))
		return false;
	if (axis == 0 || new->rank != cache->rank || new->dtype != cache->dtype
	    || (index && index->count != (size_t)cache->dim[0])
	    || new->dim[axis] > cache->dim[axis])
		return err_set(err, ERR_INPUT, "the update does not fit");
	for (uint32_t d = 0; d < cache->rank; d++)
		if (d != axis && new->dim[d] != cache->dim[d])
			return err_set(err, ERR_INPUT,
			    "the update differs in dimension %u", d);
	if (!host_out(c, 0, cache->dtype, &s, &to, err))
		return false;
	if (cache->bytes)
		memcpy(to.data, host_bytes(c, cache), cache->bytes);
	outer = shape_count(cache->dim, 0, axis);
	inner = shape_count(cache->dim, axis + 1, cache->rank) * unit;
	for (size_t o = 0; inner && o < outer; o++) {
		size_t b = o / (outer / (size_t)cache->dim[0]);
		int64_t first = index ? load_one_int(index, b) : 0;

		for (int64_t i = 0; i < new->dim[axis]; i++) {
			int64_t at = first + i;

			if (circular && at >= 0)
				at %= cache->dim[axis];
			if (first < 0 || first > INT32_MAX
			    || at >= cache->dim[axis])
				return err_set(err, ERR_INPUT,
				    "row %lld of the cache", (long long)at);
			memcpy((unsigned char *)to.data
			        + (o * (size_t)cache->dim[axis] + (size_t)at)
			            * inner,
			    from
			        + (o * (size_t) new->dim[axis] + (size_t)i)
			            * inner,
			    inner);
		}
	}
	return true;
}

/* --- SwiGLU: swish(a) * b ------------------------------------------------ */

static void
swiglu(double *z, const double *const *x, size_t n, const void *p)
{
	double alpha = *(const double *)p;

	for (size_t i = 0; i < n; i++)
		z[i] = x[0][i] / (1 + exp(-alpha * x[0][i])) * x[1][i];
}

bool
swiglu_run(struct call *c, struct err *err)
{
	double alpha = (double)attr_float_or(c->node, "alpha", 1);
	struct elementwise f = {.real = swiglu, .p = &alpha};

	if (!call_in(c, 1))
		return refuse(err, "the form with one input");
	return map_run(c, &f, c->in, 2, LANE_REAL, c->in[0]->dtype, err);
}
