#include "targets/host/ml.h"

#include <math.h>
#include <string.h>

bool
ml_rows_of(struct ml_rows *x, struct call *c, struct err *err)
{
	const struct tensor *t = c->in[0];

	if (t->rank < 1 || t->rank > 2)
		return err_set(err, ERR_INPUT, "features of rank %u", t->rank);
	x->t = t;
	x->width = (size_t)t->dim[t->rank - 1];
	x->n = t->rank == 1 ? 1 : (size_t)t->dim[0];
	x->row = arena_new(c->scratch, double, x->width + 1);
	return true;
}

const double *
ml_row(struct ml_rows *x, size_t i)
{
	load_real(x->row, x->t, i * x->width, 1, x->width);
	return x->row;
}

const struct attr *
ml_numbers(const struct node *n, const char *name)
{
	const struct attr *a = node_attr(n, name);
	char other[80];
	size_t length = strlen(name);

	if (a || length > 60)
		return a;
	memcpy(other, name, length);
	memcpy(other + length, "_as_tensor", sizeof "_as_tensor");
	return node_attr(n, other);
}

uint32_t
ml_count(const struct attr *a)
{
	if (!a)
		return 0;
	if (a->kind == ATTR_TENSOR)
		return a->tensors[0].count > UINT32_MAX
		        || a->tensors[0].kind > TENSOR_FILL
		    ? 0
		    : (uint32_t)a->tensors[0].count;
	return a->kind == ATTR_FLOATS ? a->n : 0;
}

double
ml_number(const struct attr *a, uint32_t i)
{
	return a->kind == ATTR_TENSOR ? tensor_real(&a->tensors[0], i)
	                              : (double)a->floats[i];
}

bool
ml_is_list(const struct attr *a, enum attr_kind kind, uint32_t n)
{
	return a && a->kind == kind && a->n == n;
}

bool
ml_text_is(const struct node *n, const char *name, const char *text)
{
	const struct attr *a = node_attr(n, name);

	return a && a->kind == ATTR_STRING && view_is(a->strings[0], text);
}

const struct attr *
ml_labels_of(const struct node *n)
{
	static const char *const name[] = {
	    "classlabels_int64s", "classlabels_ints", "classlabels_strings"};

	for (size_t i = 0; i < 3; i++) {
		const struct attr *a = node_attr(n, name[i]);

		if (a && a->n > 0
		    && a->kind == (i < 2 ? ATTR_INTS : ATTR_STRINGS))
			return a;
	}
	return NULL;
}

uint32_t
ml_label_count(const struct node *n)
{
	const struct attr *a = ml_labels_of(n);

	return a ? a->n : 0;
}

bool
ml_labels_out(struct ml_labels *l, struct call *c, size_t rows, struct err *err)
{
	const struct shape s = {1, {(int64_t)rows}};

	*l = (struct ml_labels){.list = ml_labels_of(c->node)};
	if (!call_wants(c, 0))
		return true;
	return host_out(c, 0,
	    l->list->kind == ATTR_STRINGS ? DT_STRING : DT_INT64, &s, &l->to,
	    err);
}

void
ml_label(struct ml_labels *l, size_t row, uint32_t class)
{
	if (!l->to.data)
		return;
	if (l->list->kind == ATTR_STRINGS)
		((struct string_view *)l->to.data)[row] =
		    l->list->strings[class];
	else
		store_int(&l->to, row, 1, 1,
		    l->places ? &(int64_t){class} : &l->list->ints[class]);
}

bool
ml_scores_out(struct call *c, uint32_t i, size_t rows, uint32_t width,
    struct sink *to, struct err *err)
{
	const struct shape s = {2, {(int64_t)rows, width}};
	struct tensor unwanted;

	if (call_wants(c, i))
		return host_out(c, i, DT_FLOAT, &s, to, err);
	return host_temp(c, &unwanted, DT_FLOAT, &s, to, err);
}

uint32_t
ml_best(const double *score, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (score[i] > score[best])
			best = i;
	return best;
}

/* SOFTMAX_ZERO leaves scores of 0 alone. */
static void
softmax(double *score, uint32_t n, bool zero_stays)
{
	double most = score[ml_best(score, n)], sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (zero_stays && fabs(score[i]) < 1e-7)
			continue;
		score[i] = exp(score[i] - most);
		sum += score[i];
	}
	for (uint32_t i = 0; i < n && sum > 0; i++)
		score[i] /= sum;
}

/* SOURCE: ONNX Runtime's approximation of the inverse error function, for
 * which there is no other name in ai.onnx.ml. */
static double
probit(double score)
{
	const double x = 2 * score - 1, l = log((1 - x) * (1 + x));
	const double v = 2 / (3.14159 * 0.147) + 0.5 * l;

	return 1.41421356 * (x < 0 ? -1 : 1)
	    * sqrt(sqrt(v * v - l / 0.147) - v);
}

bool
ml_post_of(enum ml_post *post, const struct node *n, struct err *err)
{
	static const char *const word[] = {
	    "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
	const struct attr *a = node_attr(n, "post_transform");

	*post = ML_NONE;
	if (!a)
		return true;
	if (a->kind == ATTR_INT && a->ints[0] >= 0 && a->ints[0] <= ML_PROBIT) {
		*post = (enum ml_post)a->ints[0];
		return true;
	}
	for (int i = 0; i <= ML_PROBIT && a->kind == ATTR_STRING; i++)
		if (view_is(a->strings[0], word[i])) {
			*post = (enum ml_post)i;
			return true;
		}
	return refuse(err, "this post_transform");
}

void
ml_transform(enum ml_post post, double *score, uint32_t count)
{
	switch (post) {
	case ML_NONE:
		return;
	case ML_SOFTMAX:
	case ML_SOFTMAX_ZERO:
		softmax(score, count, post == ML_SOFTMAX_ZERO);
		return;
	case ML_LOGISTIC:
		for (uint32_t i = 0; i < count; i++)
			score[i] = 1 / (1 + exp(-score[i]));
		return;
	case ML_PROBIT:
		for (uint32_t i = 0; i < count; i++)
			score[i] = probit(score[i]);
		return;
	}
}
