/* RNN, GRU, LSTM: one loop over directions, batch entries and time; the three
 * differ in the cell. */
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"
#include "targets/host/quantize.h"

/* An activation with its parameters. */
struct activation {
	double (*f)(double x, double alpha, double beta);
	double alpha, beta;
};

#define FN(name, expression) \
	static double name(double x, double alpha, double beta) \
	{ \
		(void)alpha, (void)beta; \
		return expression; \
	}
FN(f_relu, x < 0 ? 0 : x)
FN(f_tanh, tanh(x))
FN(f_sigmoid, 1 / (1 + exp(-x)))
FN(f_affine, alpha *x + beta)
FN(f_leaky, x < 0 ? alpha * x : x)
FN(f_thresholded, x > alpha ? x : 0)
FN(f_scaled_tanh, alpha *tanh(beta *x))
FN(f_hard_sigmoid, bounded(alpha *x + beta, 0, 1))
FN(f_elu, x < 0 ? alpha * expm1(x) : x)
FN(f_softsign, x / (1 + fabs(x)))
FN(f_softplus, fmax(x, 0) + log1p(exp(-fabs(x))))

/* How many parameters it takes from the node's lists: alpha, then beta.
 * SOURCE: the ONNX schemas of RNN, GRU and LSTM for names and defaults. */
static const struct {
	const char *name;
	uint32_t takes;
	struct activation activation;
} activations[] = {
    {"Relu", 0, {f_relu, 0, 0}},
    {"Tanh", 0, {f_tanh, 0, 0}},
    {"Sigmoid", 0, {f_sigmoid, 0, 0}},
    {"Affine", 2, {f_affine, 1, 0}},
    {"LeakyRelu", 1, {f_leaky, 0.01, 0}},
    {"ThresholdedRelu", 1, {f_thresholded, 1, 0}},
    {"ScaledTanh", 2, {f_scaled_tanh, 1, 1}},
    {"HardSigmoid", 2, {f_hard_sigmoid, 0.2, 0.5}},
    {"Elu", 1, {f_elu, 1, 0}},
    {"Softsign", 0, {f_softsign, 0, 0}},
    {"Softplus", 0, {f_softplus, 0, 0}},
};

struct rnn;
/* h (and state c) of one batch entry advance by one step of input x. */
typedef void cell(const struct rnn *r, const double *x, double *h, double *c);

struct rnn {
	cell *step;
	uint32_t gates; /* matrices in W and R: 1, 3 or 4 */
	uint32_t nactivations; /* of one direction */
	size_t seq, batch, in, hidden, directions;
	bool by_batch; /* layout = 1 */
	double clip;
	bool flag; /* linear_before_reset, input_forget */
	bool bytes; /* x, and h of all entries before each step, in 8 bits */
	const double *w, *r, *b, *p; /* of the direction at hand */
	struct activation f[6];
	const struct activation *act; /* of the direction at hand */
	double *gate; /* [gates * hidden] */
	double *extra; /* [hidden] */
	double *rounded; /* [batch * hidden], where h is in 8 bits */
};

static double
activate(const struct rnn *r, uint32_t i, double x)
{
	const struct activation *a = &r->act[i];

	return a->f(x, a->alpha, a->beta);
}

/* What goes into a gate is clipped; a cell's state on its way to the output is
 * not, as in ONNX Runtime. */
static double
activate_gate(const struct rnn *r, uint32_t i, double x)
{
	return activate(r, i, r->clip > 0 ? bounded(x, -r->clip, r->clip) : x);
}

/* Sums beside each other, for each waits for what it adds to. */
#define SUMS 8

static double
dot(const double *a, const double *b, size_t n)
{
	double part[SUMS] = {0}, sum = 0;
	size_t i = 0;

	for (; i + SUMS <= n; i += SUMS)
		for (size_t k = 0; k < SUMS; k++)
			part[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum += a[i] * b[i];
	for (size_t k = 0; k < SUMS; k++)
		sum += part[k];
	return sum;
}

/* Row k of gate g: W x + R h + both biases. */
static double
pre(const struct rnn *r, uint32_t g, size_t k, const double *x, const double *h)
{
	size_t row = g * r->hidden + k, biases = r->gates * r->hidden;

	return dot(r->w + row * r->in, x, r->in)
	    + dot(r->r + row * r->hidden, h, r->hidden)
	    + (r->b ? r->b[row] + r->b[biases + row] : 0);
}

static void
rnn_cell(const struct rnn *r, const double *x, double *h, double *c)
{
	(void)c;
	for (size_t k = 0; k < r->hidden; k++)
		r->gate[k] = activate_gate(r, 0, pre(r, 0, k, x, h));
	memcpy(h, r->gate, r->hidden * sizeof *h);
}

/* Gates in the order z, r, h. */
static void
gru_cell(const struct rnn *v, const double *x, double *h, double *c)
{
	size_t n = v->hidden;
	double *z = v->gate, *r = z + n, *y = r + n, *rh = v->extra;

	(void)c;
	for (size_t k = 0; k < n; k++) {
		z[k] = activate_gate(v, 0, pre(v, 0, k, x, h));
		r[k] = activate_gate(v, 0, pre(v, 1, k, x, h));
	}
	for (size_t k = 0; k < n; k++)
		rh[k] = r[k] * h[k];
	for (size_t k = 0; k < n; k++) {
		size_t row = 2 * n + k;
		double sum =
		    dot(v->w + row * v->in, x, v->in) + (v->b ? v->b[row] : 0);
		double back = dot(v->r + row * n, v->flag ? h : rh, n)
		    + (v->b ? v->b[3 * n + row] : 0);

		y[k] =
		    activate_gate(v, 1, sum + (v->flag ? r[k] * back : back));
	}
	for (size_t k = 0; k < n; k++)
		h[k] = (1 - z[k]) * y[k] + z[k] * h[k];
}

/* Gates in the order i, o, f, c; peepholes i, o, f. */
static void
lstm_cell(const struct rnn *r, const double *x, double *h, double *c)
{
	size_t n = r->hidden;
	double *i = r->gate, *o = i + n, *f = o + n, *y = f + n;

	for (size_t k = 0; k < n; k++) {
		double peep_i = r->p ? r->p[k] * c[k] : 0;
		double peep_f = r->p ? r->p[2 * n + k] * c[k] : 0;

		i[k] = activate_gate(r, 0, pre(r, 0, k, x, h) + peep_i);
		f[k] = r->flag
		    ? 1 - i[k]
		    : activate_gate(r, 0, pre(r, 2, k, x, h) + peep_f);
		y[k] = activate_gate(r, 1, pre(r, 3, k, x, h));
		o[k] = pre(r, 1, k, x, h);
	}
	for (size_t k = 0; k < n; k++) {
		c[k] = f[k] * c[k] + i[k] * y[k];
		o[k] =
		    activate_gate(r, 0, o[k] + (r->p ? r->p[n + k] * c[k] : 0));
		h[k] = o[k] * activate(r, 2, c[k]);
	}
}

/* --- Reading the node ---------------------------------------------------- */

/* A list of parameters, and how many of them functions have taken. */
struct parameters {
	const struct attr *list; /* NULL: none */
	uint32_t taken;
};

static void
take_parameter(double *to, struct parameters *p)
{
	if (p->list && p->list->kind == ATTR_FLOATS && p->taken < p->list->n)
		*to = (double)p->list->floats[p->taken++];
}

/* SOURCE: "consumed in the order of activation functions"; as in ONNX Runtime by
 * those that have such a parameter. */
static bool
read_activation(struct activation *to, struct string_view name,
    struct parameters *alpha, struct parameters *beta, struct err *err)
{
	for (size_t k = 0; k < sizeof activations / sizeof *activations; k++) {
		if (!view_is(name, activations[k].name))
			continue;
		*to = activations[k].activation;
		if (activations[k].takes > 0)
			take_parameter(&to->alpha, alpha);
		if (activations[k].takes > 1)
			take_parameter(&to->beta, beta);
		return true;
	}
	return refuse(err, "activation '%.*s'", (int)name.n, name.s);
}

static bool
read_activations(struct rnn *r, const struct node *n, struct err *err)
{
	static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
	const struct attr *a = node_attr(n, "activations");
	struct parameters alpha = {node_attr(n, "activation_alpha"), 0};
	struct parameters beta = {node_attr(n, "activation_beta"), 0};
	uint32_t count = r->nactivations * (uint32_t)r->directions;

	if (a && (a->kind != ATTR_STRINGS || a->n != count))
		return err_set(
		    err, ERR_INPUT, "%u activations, not %u", a->n, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i % r->nactivations + (r->gates == 1);
		struct string_view name = {usual[k], strlen(usual[k])};

		if (!read_activation(
		        &r->f[i], a ? a->strings[i] : name, &alpha, &beta, err))
			return false;
	}
	return true;
}

/* Input i as doubles; its size must be `count`. NULL when left out. */
static bool
doubles(struct call *c, uint32_t i, size_t count, double **out, struct err *err)
{
	const struct tensor *t = call_in(c, i);

	*out = NULL;
	if (!t)
		return true;
	if (t->count != count)
		return err_set(err, ERR_INPUT,
		    "input %u has %zu elements, "
		    "not %zu",
		    i, t->count, count);
	*out = arena_new(c->scratch, double, count);
	load_real(*out, t, 0, 1, count);
	return true;
}

static bool
read_sizes(struct rnn *r, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *w = c->in[1], *back = c->in[2];
	/* Weights in 8 bits lie the other way round. */
	const int row = r->bytes ? 2 : 1, column = r->bytes ? 1 : 2;

	if (x->rank != 3 || w->rank != 3 || back->rank != 3)
		return err_set(err, ERR_INPUT, "ranks %u, %u, %u", x->rank,
		    w->rank, back->rank);
	r->by_batch = attr_int_or(c->node, "layout", 0) != 0;
	r->seq = (size_t)x->dim[r->by_batch ? 1 : 0];
	r->batch = (size_t)x->dim[r->by_batch ? 0 : 1];
	r->in = (size_t)x->dim[2];
	r->hidden = (size_t)back->dim[column];
	r->directions =
	    attr_is(c->node, "direction", "forward", "bidirectional") ? 2 : 1;
	r->clip = (double)attr_float_or(c->node, "clip", 0);
	if ((size_t)w->dim[0] != r->directions
	    || (size_t)w->dim[row] != r->gates * r->hidden
	    || (size_t)w->dim[column] != r->in
	    || (size_t)back->dim[0] != r->directions
	    || (size_t)back->dim[row] != r->gates * r->hidden)
		return err_set(err, ERR_INPUT,
		    "weights do not fit %zu inputs, %zu hidden, %zu "
		    "directions",
		    r->in, r->hidden, r->directions);
	return true;
}

/* Input i, integers [directions][width][rows] with a scale and a zero point for
 * each direction, or each of its rows too, as doubles [directions][rows][width];
 * the scales are input `part`, the zero points the next one. */
static bool
byte_weights(struct call *c, const struct rnn *r, uint32_t i, uint32_t part,
    double **out, struct err *err)
{
	const struct tensor *t = c->in[i];
	const struct tensor *scale = call_in(c, part);
	const struct tensor *zero = call_in(c, part + 1);
	const size_t rows = r->gates * r->hidden;
	const size_t width = (size_t)t->dim[1];
	bool by_row;

	if (!scale || !zero)
		return refuse(err, "scales or zero points left out");
	by_row = scale->count != r->directions;
	if ((by_row && scale->count != r->directions * rows)
	    || zero->count != scale->count)
		return err_set(err, ERR_INPUT, "%zu scales, %zu zero points",
		    scale->count, zero->count);
	*out = arena_new(c->scratch, double, t->count);
	for (size_t k = 0; k < r->directions * rows; k++) {
		const size_t dir = k / rows, at = by_row ? k : dir;
		const double step = load_one(scale, at);
		const double middle = load_one(zero, at);
		double *to = *out + k * width;

		load_real(to, t, dir * width * rows + k % rows, (ptrdiff_t)rows,
		    width);
		for (size_t j = 0; j < width; j++)
			to[j] = (to[j] - middle) * step;
	}
	return true;
}

struct rnn_data {
	double *x, *w, *r, *b, *h, *c, *p;
	double *y; /* [seq][directions][batch][hidden] */
	const int64_t *length; /* [batch], or NULL */
};

static bool
read_weights(
    struct call *c, const struct rnn *r, struct rnn_data *d, struct err *err)
{
	if (!r->bytes)
		return doubles(c, 1, c->in[1]->count, &d->w, err)
		    && doubles(c, 2, c->in[2]->count, &d->r, err);
	round_to_bytes(d->x, c->in[0]->count);
	return byte_weights(c, r, 1, 8, &d->w, err)
	    && byte_weights(c, r, 2, 10, &d->r, err);
}

static bool
read_data(
    struct call *c, const struct rnn *r, struct rnn_data *d, struct err *err)
{
	size_t states = r->directions * r->batch * r->hidden;
	size_t rows = r->directions * r->gates * r->hidden;
	uint32_t n;

	d->length = input_ints(c, 4, &n);
	if (d->length && n != r->batch)
		return err_set(err, ERR_INPUT, "%u sequence_lens", n);
	for (uint32_t i = 0; d->length && i < n; i++)
		if (d->length[i] < 0 || (size_t)d->length[i] > r->seq)
			return err_set(err, ERR_INPUT, "sequence_lens %lld",
			    (long long)d->length[i]);
	if (!doubles(c, 0, c->in[0]->count, &d->x, err)
	    || !read_weights(c, r, d, err)
	    || !doubles(c, 3, 2 * rows, &d->b, err)
	    || !doubles(c, 5, states, &d->h, err)
	    || !doubles(c, 6, states, &d->c, err)
	    || !doubles(c, 7, r->directions * 3 * r->hidden, &d->p, err))
		return false;
	if (!d->h)
		d->h = arena_new(c->scratch, double, states);
	if (!d->c)
		d->c = arena_new(c->scratch, double, states);
	d->y = arena_array(c->scratch, r->seq, states * sizeof *d->y);
	return true;
}

/* --- Running ------------------------------------------------------------- */

/* Place of a state [direction][batch] (or [batch][direction]). */
static size_t
state_at(const struct rnn *r, size_t dir, size_t b)
{
	return (r->by_batch ? b * r->directions + dir : dir * r->batch + b)
	    * r->hidden;
}

static size_t
output_at(const struct rnn *r, size_t t, size_t dir, size_t b)
{
	if (r->by_batch)
		return ((b * r->seq + t) * r->directions + dir) * r->hidden;
	return ((t * r->directions + dir) * r->batch + b) * r->hidden;
}

/* Step i of every entry that is as long. */
static void
run_step(
    const struct rnn *r, struct rnn_data *d, size_t dir, size_t i, bool reverse)
{
	const size_t n = r->hidden;

	if (r->bytes) {
		memcpy(r->rounded, d->h + state_at(r, dir, 0),
		    r->batch * n * sizeof *d->h);
		round_to_bytes(r->rounded, r->batch * n);
	}
	for (size_t b = 0; b < r->batch; b++) {
		size_t length = d->length ? (size_t)d->length[b] : r->seq;
		size_t t = reverse ? length - 1 - i : i;
		size_t at = r->by_batch ? b * r->seq + t : t * r->batch + b;
		double *h = d->h + state_at(r, dir, b);

		if (i >= length)
			continue;
		if (r->bytes)
			memcpy(h, r->rounded + b * n, n * sizeof *h);
		r->step(r, d->x + at * r->in, h, d->c + state_at(r, dir, b));
		memcpy(d->y + output_at(r, t, dir, b), h, n * sizeof *h);
	}
}

static void
run_directions(struct call *c, struct rnn *r, struct rnn_data *d)
{
	bool reverse = attr_is(c->node, "direction", "forward", "reverse");
	size_t rows = r->gates * r->hidden;

	r->gate = arena_new(c->scratch, double, rows);
	r->extra = arena_new(c->scratch, double, r->hidden);
	r->rounded = arena_new(c->scratch, double, r->batch * r->hidden);
	for (size_t dir = 0; dir < r->directions; dir++) {
		r->w = d->w + dir * rows * r->in;
		r->r = d->r + dir * rows * r->hidden;
		r->b = d->b ? d->b + dir * 2 * rows : NULL;
		r->p = d->p ? d->p + dir * 3 * r->hidden : NULL;
		r->act = r->f + dir * r->nactivations;
		for (size_t i = 0; i < r->seq; i++)
			run_step(r, d, dir, i, reverse || dir == 1);
	}
}

static bool
give(struct call *c, uint32_t i, const struct shape *s, const double *from,
    struct err *err)
{
	struct sink to;

	if (!call_wants(c, i))
		return true;
	if (!host_out(c, i, c->in[0]->dtype, s, &to, err))
		return false;
	store_real(&to, 0, 1, c->out[i].count, from);
	return true;
}

static bool
run(struct call *c, struct rnn *r, struct err *err)
{
	struct shape y = {.rank = 4}, h = {.rank = 3};
	struct rnn_data d;
	int64_t seq, batch, dirs, hidden;

	if (!read_sizes(r, c, err) || !read_activations(r, c->node, err)
	    || !read_data(c, r, &d, err))
		return false;
	run_directions(c, r, &d);
	seq = (int64_t)r->seq;
	batch = (int64_t)r->batch;
	dirs = (int64_t)r->directions;
	hidden = (int64_t)r->hidden;
	memcpy(y.dim,
	    r->by_batch ? (int64_t[]){batch, seq, dirs, hidden}
	                : (int64_t[]){seq, dirs, batch, hidden},
	    4 * sizeof *y.dim);
	memcpy(h.dim,
	    r->by_batch ? (int64_t[]){batch, dirs, hidden}
	                : (int64_t[]){dirs, batch, hidden},
	    3 * sizeof *h.dim);
	return give(c, 0, &y, d.y, err) && give(c, 1, &h, d.h, err)
	    && give(c, 2, &h, d.c, err);
}

bool
rnn_run(struct call *c, struct err *err)
{
	struct rnn r = {.step = rnn_cell, .gates = 1, .nactivations = 1};

	return run(c, &r, err);
}

bool
gru_run(struct call *c, struct err *err)
{
	struct rnn r = {.step = gru_cell,
	    .gates = 3,
	    .nactivations = 2,
	    .flag = attr_int_or(c->node, "linear_before_reset", 0) != 0};

	return run(c, &r, err);
}

bool
lstm_run(struct call *c, struct err *err)
{
	struct rnn r = {.step = lstm_cell,
	    .gates = 4,
	    .nactivations = 3,
	    .flag = attr_int_or(c->node, "input_forget", 0) != 0};

	return run(c, &r, err);
}

/* SOURCE: ONNX Runtime quantises x as a whole, and the hidden states of a step
 * as a whole. */
bool
dynamicquantizelstm_run(struct call *c, struct err *err)
{
	struct rnn r = {.step = lstm_cell,
	    .gates = 4,
	    .nactivations = 3,
	    .flag = attr_int_or(c->node, "input_forget", 0) != 0,
	    .bytes = true};

	return run(c, &r, err);
}
