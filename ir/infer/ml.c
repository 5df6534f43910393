/* ai.onnx.ml: a label and scores a row. */
#include "ir/infer/rules.h"

static int64_t
rows_of(const struct site *s)
{
	const struct type *x = in_type(s, 0);

	if (!in_ranked(s, 0))
		return DIM_UNKNOWN;
	return x->rank == 1 ? 1 : x->dim[0];
}

static uint32_t
count_of(const struct site *s, const char *name)
{
	const struct attr *a = node_attr(s->n, name);

	return a ? a->n : 0;
}

static bool
rows_are_ranked(struct site *s)
{
	return need_min_rank(s, 0, 1, "features")
	    && (!in_ranked(s, 0) || in_type(s, 0)->rank <= 2
	        || fault(s, "features have rank %u", in_type(s, 0)->rank));
}

/* Scores: one a class, or one a pair of classes. */
bool
rule_ml_classifier(struct site *s)
{
	const uint32_t strings = count_of(s, "classlabels_strings");
	uint32_t classes = strings + count_of(s, "classlabels_int64s")
	    + count_of(s, "classlabels_ints");
	int64_t label[1], scores[2];

	if (!rows_are_ranked(s))
		return false;
	if (classes == 0)
		return fault(s, "no class labels");
	label[0] = scores[0] = rows_of(s);
	scores[1] = classes;
	if (s->n->op == OP_SVMCLASSIFIER && !count_of(s, "prob_a")
	    && count_of(s, "vectors_per_class") && classes > 2)
		scores[1] = (int64_t)classes * (classes - 1) / 2;
	out_tensor(
	    s, 0, strings ? DT_STRING : DT_INT64, 1, dims_copy(s, label, 1));
	out_tensor(s, 1, DT_FLOAT, 2, dims_copy(s, scores, 2));
	return true;
}

/* A sequence of maps: no shape to say anything of. */
bool
rule_ml_zipmap(struct site *s)
{
	return rows_are_ranked(s);
}

bool
rule_ml_regressor(struct site *s)
{
	int64_t scores[2] = {rows_of(s), attr_int_or(s->n, "n_targets", 1)};

	if (!rows_are_ranked(s))
		return false;
	if (scores[1] < 1)
		return fault(s, "n_targets is not positive");
	out_tensor(s, 0,
	    s->n->op == OP_TREEENSEMBLE ? in_type(s, 0)->dtype : DT_FLOAT, 2,
	    dims_copy(s, scores, 2));
	return true;
}
