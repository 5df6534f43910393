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
	struct sink to;
	struct string_view *string; /* of output 0, or NULL */
};
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
/* post_transform in place. */
bool ml_transform(
    const struct node *n, double *score, uint32_t count, struct err *err);

#endif
