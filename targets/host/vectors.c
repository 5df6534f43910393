/* ai.onnx.ml: support vector classifiers, one against one. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/ml.h"

struct machine {
	uint32_t nclasses, nvectors, npairs;
	size_t width;
	const struct attr *coefficients, *vectors, *rho, *a, *b;
	uint32_t *first; /* [nclasses + 1] vectors of each class */
	double gamma, coef0, degree;
	enum { LINEAR, POLY, RBF, SIGMOID } kernel;
};

static bool
read_classes(struct machine *m, struct call *c, struct err *err)
{
	const struct attr *per = node_attr(c->node, "vectors_per_class");

	if (!ml_is_list(per, ATTR_INTS, m->nclasses) || m->nclasses < 2
	    || m->nclasses > 4096)
		return refuse(err, "a classifier without vectors of classes");
	m->first = arena_new(c->scratch, uint32_t, m->nclasses + 1);
	for (uint32_t i = 0; i < m->nclasses; i++) {
		if (per->ints[i] < 0 || per->ints[i] > 1 << 28
		    || m->first[i] > 1 << 28)
			return err_set(err, ERR_INPUT, "vectors_per_class");
		m->first[i + 1] = m->first[i] + (uint32_t)per->ints[i];
	}
	m->nvectors = m->first[m->nclasses];
	m->npairs = m->nclasses * (m->nclasses - 1) / 2;
	return true;
}

static void
read_kernel(struct machine *m, const struct node *n)
{
	const struct attr *p = node_attr(n, "kernel_params");

	if (ml_count(p) == 3) {
		m->gamma = ml_number(p, 0);
		m->coef0 = ml_number(p, 1);
		m->degree = ml_number(p, 2);
	}
	m->kernel = ml_text_is(n, "kernel_type", "POLY") ? POLY
	    : ml_text_is(n, "kernel_type", "RBF")        ? RBF
	    : ml_text_is(n, "kernel_type", "SIGMOID")    ? SIGMOID
	                                                 : LINEAR;
}

static bool
read_machine(struct machine *m, struct call *c, size_t width, struct err *err)
{
	const struct node *n = c->node;

	*m = (struct machine){.nclasses = ml_label_count(n), .width = width};
	if (!read_classes(m, c, err))
		return false;
	m->coefficients = ml_numbers(n, "coefficients");
	m->vectors = ml_numbers(n, "support_vectors");
	m->rho = ml_numbers(n, "rho");
	m->a = ml_numbers(n, "prob_a");
	m->b = ml_numbers(n, "prob_b");
	read_kernel(m, n);
	if ((uint64_t)ml_count(m->vectors) != (uint64_t)m->nvectors * width
	    || (uint64_t)ml_count(m->coefficients)
	        != (uint64_t)m->nvectors * (m->nclasses - 1)
	    || ml_count(m->rho) != m->npairs || ml_count(m->a) != ml_count(m->b)
	    || (ml_count(m->a) != 0 && ml_count(m->a) != m->npairs))
		return err_set(err, ERR_INPUT,
		    "lists of support vectors differ in length");
	return true;
}

static double
kernel(const struct machine *m, const double *x, uint32_t vector)
{
	double sum = 0;

	for (size_t i = 0; i < m->width; i++) {
		double v =
		    ml_number(m->vectors, (uint32_t)(vector * m->width + i));

		sum += m->kernel == RBF ? (x[i] - v) * (x[i] - v) : x[i] * v;
	}
	switch (m->kernel) {
	case POLY:
		return pow(m->gamma * sum + m->coef0, m->degree);
	case RBF:
		return exp(-m->gamma * sum);
	case SIGMOID:
		return tanh(m->gamma * sum + m->coef0);
	default:
		return sum;
	}
}

/* The decision of each pair of classes i < j; > 0 is for i. */
static void
decide(const struct machine *m, const double *k, double *pair, uint32_t *votes)
{
	uint32_t at = 0;

	memset(votes, 0, m->nclasses * sizeof *votes);
	for (uint32_t i = 0; i < m->nclasses; i++)
		for (uint32_t j = i + 1; j < m->nclasses; j++) {
			double sum = ml_number(m->rho, at);

			for (uint32_t v = m->first[i]; v < m->first[i + 1]; v++)
				sum += k[v]
				    * ml_number(m->coefficients,
				        (j - 1) * m->nvectors + v);
			for (uint32_t v = m->first[j]; v < m->first[j + 1]; v++)
				sum += k[v]
				    * ml_number(
				        m->coefficients, i * m->nvectors + v);
			pair[at++] = sum;
			votes[sum > 0 ? i : j]++;
		}
}

/* One step over all classes; q is [n, n]. */
static void
couple_step(double *p, double *qp, double pqp, const double *q, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++) {
		double d = (pqp - qp[t]) / q[t * n + t];

		p[t] += d;
		pqp = (pqp + d * (d * q[t * n + t] + 2 * qp[t])) / (1 + d)
		    / (1 + d);
		for (uint32_t j = 0; j < n; j++) {
			qp[j] = (qp[j] + d * q[t * n + j]) / (1 + d);
			p[j] /= 1 + d;
		}
	}
}

/* Probabilities of classes from those of pairs, r [n, n].
 * SOURCE: Wu, Lin and Weng, pairwise coupling, as libsvm does it. */
static void
couple(double *p, const double *r, uint32_t n, struct arena *a)
{
	double *q = arena_new(a, double, (size_t)n *n);
	double *qp = arena_new(a, double, n);

	for (uint32_t t = 0; t < n; t++) {
		p[t] = 1.0 / n;
		for (uint32_t j = 0; j < n; j++)
			if (j != t) {
				q[t * n + t] += r[j * n + t] * r[j * n + t];
				q[t * n + j] = -r[j * n + t] * r[t * n + j];
			}
	}
	for (uint32_t step = 0; step < (n > 100 ? n : 100); step++) {
		double pqp = 0, worst = 0;

		for (uint32_t t = 0; t < n; t++) {
			qp[t] = 0;
			for (uint32_t j = 0; j < n; j++)
				qp[t] += q[t * n + j] * p[j];
			pqp += p[t] * qp[t];
		}
		for (uint32_t t = 0; t < n; t++)
			worst = fmax(worst, fabs(qp[t] - pqp));
		if (worst < 0.005 / n)
			break;
		couple_step(p, qp, pqp, q, n);
	}
}

static void
probabilities(
    const struct machine *m, const double *pair, double *p, struct arena *a)
{
	double *r = arena_new(a, double, (size_t)m->nclasses * m->nclasses);
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nclasses; i++)
		for (uint32_t j = i + 1; j < m->nclasses; j++, at++) {
			double z = pair[at] * ml_number(m->a, at)
			    + ml_number(m->b, at);
			double x = 1 / (1 + exp(z));

			x = fmin(fmax(x, 1e-7), 1 - 1e-7);
			r[i * m->nclasses + j] = x;
			r[j * m->nclasses + i] = 1 - x;
		}
	couple(p, r, m->nclasses, a);
}

static uint32_t
most_votes(const uint32_t *votes, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (votes[i] > votes[best])
			best = i;
	return best;
}

/* Of two classes without probabilities: the decision for the first, turned
 * into scores of both. SOURCE: ONNX Runtime, which gives them in this order. */
static void
both_scores(enum ml_post post, double d, double *score)
{
	score[0] = -d;
	score[1] = d;
	if (post == ML_LOGISTIC)
		ml_transform(post, score, 2);
	else if (post != ML_NONE)
		score[0] = 1 - d;
}

/* What is said of one row: of each class, or of each pair. */
static void
score_vectors(const struct machine *m, const double *pair, enum ml_post post,
    double *score, struct arena *a)
{
	if (ml_count(m->a)) {
		probabilities(m, pair, score, a);
		ml_transform(post, score, m->nclasses);
	} else if (m->nclasses == 2) {
		both_scores(post, pair[0], score);
	} else {
		memcpy(score, pair, m->npairs * sizeof *score);
		ml_transform(post, score, m->npairs);
	}
}

/* Without vectors: a row of coefficients and one rho for each class. */
static bool
linear_run(
    struct call *c, struct ml_rows *x, enum ml_post post, struct err *err)
{
	const uint32_t n = ml_label_count(c->node);
	const struct attr *w = ml_numbers(c->node, "coefficients");
	const struct attr *rho = ml_numbers(c->node, "rho");
	struct ml_labels labels;
	struct sink to;
	double *score;

	if (n == 0 || (uint64_t)ml_count(w) != (uint64_t)n * x->width
	    || ml_count(rho) == 0)
		return err_set(
		    err, ERR_INPUT, "coefficients or rho do not fit");
	if (!ml_labels_out(&labels, c, x->n, err)
	    || !ml_scores_out(c, 1, x->n, n, &to, err))
		return false;
	score = arena_new(c->scratch, double, n);
	for (size_t i = 0; i < x->n; i++) {
		const double *row = ml_row(x, i);

		for (uint32_t k = 0; k < n; k++) {
			score[k] = ml_number(rho, 0);
			for (size_t j = 0; j < x->width; j++)
				score[k] += row[j]
				    * ml_number(
				        w, (uint32_t)(k * x->width + j));
		}
		ml_label(&labels, i, ml_best(score, n));
		ml_transform(post, score, n);
		store_real(&to, i * n, 1, n, score);
	}
	return true;
}

bool
svmclassifier_run(struct call *c, struct err *err)
{
	const struct attr *per = node_attr(c->node, "vectors_per_class");
	struct ml_labels labels;
	struct machine m;
	struct ml_rows x;
	struct sink to;
	enum ml_post post;
	uint32_t width, *votes;
	double *k, *pair, *score;

	if (!ml_rows_of(&x, c, err) || !ml_post_of(&post, c->node, err))
		return false;
	if (!per || per->n == 0)
		return linear_run(c, &x, post, err);
	if (!read_machine(&m, c, x.width, err))
		return false;
	if (m.nclasses == 2 && !ml_count(m.a) && post == ML_PROBIT)
		return refuse(err, "PROBIT of one score for two classes");
	width = ml_count(m.a) || m.nclasses == 2 ? m.nclasses : m.npairs;
	if (!ml_labels_out(&labels, c, x.n, err)
	    || !ml_scores_out(c, 1, x.n, width, &to, err))
		return false;
	k = arena_new(c->scratch, double, m.nvectors + 1);
	pair = arena_new(c->scratch, double, m.npairs);
	score = arena_new(c->scratch, double, m.nclasses + m.npairs);
	votes = arena_new(c->scratch, uint32_t, m.nclasses);
	for (size_t i = 0; i < x.n; i++) {
		const double *row = ml_row(&x, i);
		struct arena_mark mark = arena_mark(c->scratch);

		for (uint32_t v = 0; v < m.nvectors; v++)
			k[v] = kernel(&m, row, v);
		decide(&m, k, pair, votes);
		score_vectors(&m, pair, post, score, c->scratch);
		ml_label(&labels, i, most_votes(votes, m.nclasses));
		store_real(&to, i * width, 1, width, score);
		arena_back(c->scratch, mark);
	}
	return true;
}
