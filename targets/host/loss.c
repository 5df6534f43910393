/* The losses: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"

struct host_loss {
	const struct tensor *label, *weight;
	struct lines l; /* classes along axis 1 */
	bool ignores;
	int64_t ignored;
	double sum, weights; /* of all positions, for the mean */
};

static bool
loss_read(struct host_loss *v, const struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];

	v->label = c->in[1];
	v->weight = call_in(c, 2);
	v->ignores = node_attr(c->node, "ignore_index") != NULL;
	v->ignored = attr_int_or(c->node, "ignore_index", 0);
	if (x->rank < 2 || v->label->rank + 1 != x->rank)
		return err_set(err, ERR_INPUT,
		    "scores of rank %u, labels of "
		    "rank %u",
		    x->rank, v->label->rank);
	v->l = lines_along(x, 1);
	if (v->label->count != v->l.outer * v->l.inner
	    || (v->weight && v->weight->count != v->l.n))
		return err_set(err, ERR_INPUT, "%zu labels for %zu positions",
		    v->label->count, v->l.outer * v->l.inner);
	return true;
}

/* The loss at position i whose log probabilities are p[classes]. */
static bool
position_loss(struct host_loss *v, size_t i, const double *p, double *out,
    struct err *err)
{
	int64_t label = load_one_int(v->label, i);
	double w;

	*out = 0;
	if (v->ignores && label == v->ignored)
		return true;
	if (label < 0 || (size_t)label >= v->l.n)
		return err_set(err, ERR_INPUT, "label %lld of %zu classes",
		    (long long)label, v->l.n);
	w = v->weight ? load_one(v->weight, (size_t)label) : 1;
	*out = -w * p[label];
	v->sum += *out;
	v->weights += w;
	return true;
}

static void
log_softmax(double *x, size_t n)
{
	double top = -(double)INFINITY, sum = 0;

	for (size_t i = 0; i < n; i++)
		top = fmax(top, x[i]);
	for (size_t i = 0; i < n; i++)
		sum += exp(x[i] - top);
	for (size_t i = 0; i < n; i++)
		x[i] -= top + log(sum);
}

static bool
run(struct call *c, bool softmax, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool none = attr_is(c->node, "reduction", "mean", "none");
	bool mean = attr_is(c->node, "reduction", "mean", "mean");
	struct host_loss v = {.sum = 0};
	struct shape s = {.rank = 0}, whole = shape_of(x);
	struct sink to, logs;
	double *p, one;

	if (!loss_read(&v, c, err))
		return false;
	if (none)
		s = shape_of(v.label);
	if (!host_out(c, 0, x->dtype, &s, &to, err)
	    || (call_wants(c, 1)
	        && !host_out(c, 1, x->dtype, &whole, &logs, err)))
		return false;
	p = arena_new(c->scratch, double, v.l.n);
	for (size_t i = 0; i < v.label->count; i++) {
		size_t at = i / v.l.inner * v.l.n * v.l.inner + i % v.l.inner;
		ptrdiff_t step = (ptrdiff_t)v.l.inner;

		load_real(p, x, at, step, v.l.n);
		if (softmax)
			log_softmax(p, v.l.n);
		if (call_wants(c, 1))
			store_real(&logs, at, step, v.l.n, p);
		if (!position_loss(&v, i, p, &one, err))
			return false;
		if (none)
			store_real(&to, i, 1, 1, &one);
	}
	one = mean ? v.sum / v.weights : v.sum;
	if (!none)
		store_real(&to, 0, 1, 1, &one);
	return true;
}

bool
negativeloglikelihoodloss_run(struct call *c, struct err *err)
{
	return run(c, false, err);
}

bool
softmaxcrossentropyloss_run(struct call *c, struct err *err)
{
	return run(c, true, err);
}
