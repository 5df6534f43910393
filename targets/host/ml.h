/* What operators of ai.onnx.ml share: rows of features, labels, scores. */
#ifndef TARGETS_HOST_ML_H
#define TARGETS_HOST_ML_H

#include "targets/host/call.h"

/* Input 0 as rows of reals. */
struct ml_rows {
	const struct tensor *t;
	size_t n, width;
	double *row; /* [width] */
};
bool ml_rows_of(struct ml_rows *x, struct call *c, struct err *err);
/* Row i; valid until the next. */
const double *ml_row(struct ml_rows *x, size_t i);

/* Attribute `name`, or name_as_tensor, or NULL; its numbers. */
const struct attr *ml_numbers(const struct node *n, const char *name);
uint32_t ml_count(const struct attr *a);
double ml_number(const struct attr *a, uint32_t i);
/* Is it a list of that kind and length? */
bool ml_is_list(const struct attr *a, enum attr_kind kind, uint32_t n);
bool ml_text_is(const struct node *n, const char *name, const char *text);

/* Class labels: integers or strings. */
struct ml_labels {
	const struct attr *list;
	bool places; /* integers are not those of the list but 0, 1, ... */
	struct sink to;
};
/* Their attribute, or NULL. */
const struct attr *ml_labels_of(const struct node *n);
uint32_t ml_label_count(const struct node *n);
/* Output 0, one label a row. */
bool ml_labels_out(
    struct ml_labels *l, struct call *c, size_t rows, struct err *err);
void ml_label(struct ml_labels *l, size_t row, uint32_t class);

/* Output i, float [rows, width]. */
bool ml_scores_out(struct call *c, uint32_t i, size_t rows, uint32_t width,
    struct sink *to, struct err *err);
/* The first of the largest. */
uint32_t ml_best(const double *score, uint32_t n);
/* What becomes of scores, numbered as TreeEnsemble numbers it. */
enum ml_post { ML_NONE, ML_SOFTMAX, ML_LOGISTIC, ML_SOFTMAX_ZERO, ML_PROBIT };
/* The node's post_transform; ERR_UNSUPPORTED for another word. */
bool ml_post_of(enum ml_post *post, const struct node *n, struct err *err);
/* In place. */
void ml_transform(enum ml_post post, double *score, uint32_t count);

#endif
