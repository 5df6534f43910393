/* ai.onnx.ml: ensembles of decision trees. */
#include "targets/host/trees.h"

#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/ml.h"

static bool
is_member(const struct ensemble *e, const struct tree_node *t, double x)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (e->member[t->first + i] == x)
			return true;
	return false;
}

static bool
goes_true(const struct ensemble *e, const struct tree_node *t, double x)
{
	if (isnan(x) && t->missing_is_true)
		return true;
	switch (t->mode) {
	case LEQ:
		return x <= t->value;
	case LT:
		return x < t->value;
	case GTE:
		return x >= t->value;
	case GT:
		return x > t->value;
	case EQ:
		return x == t->value;
	case MEMBER:
		return is_member(e, t, x);
	default:
		return x != t->value;
	}
}

/* The leaf one row ends at; a circle of nodes ends somewhere too. */
static const struct tree_node *
leaf_of(const struct ensemble *e, uint32_t at, const double *row, size_t n)
{
	for (uint32_t step = 0; step < e->nnodes; step++) {
		const struct tree_node *t = &e->node[at];

		if (t->mode == LEAF)
			break;
		at = t->feature < n && goes_true(e, t, row[t->feature]) ? t->yes
		                                                        : t->no;
	}
	return &e->node[at];
}

enum aggregate { SUM, AVERAGE, MIN, MAX };

static void
take(double *score, bool *seen, double x, enum aggregate how)
{
	if (!*seen || how == SUM || how == AVERAGE)
		*score = *seen ? *score + x : x;
	else
		*score = how == MIN ? fmin(*score, x) : fmax(*score, x);
	*seen = true;
}

/* What the trees say of one row. */
static void
score_row(const struct ensemble *e, const double *row, size_t n,
    enum aggregate how, double *score, bool *seen)
{
	memset(score, 0, e->ntargets * sizeof *score);
	memset(seen, 0, e->ntargets * sizeof *seen);
	for (uint32_t r = 0; r < e->nroots; r++) {
		const struct tree_node *t = leaf_of(e, e->root[r], row, n);

		for (uint32_t i = 0; i < t->n; i++) {
			const struct tree_weight *w = &e->weight[t->first + i];

			take(
			    &score[w->target], &seen[w->target], w->value, how);
		}
	}
	for (uint32_t i = 0; i < e->ntargets && how == AVERAGE; i++)
		score[i] /= e->nroots ? e->nroots : 1;
}

static enum aggregate
aggregate_of(const struct node *n)
{
	return ml_text_is(n, "aggregate_function", "AVERAGE") ? AVERAGE
	    : ml_text_is(n, "aggregate_function", "MIN")      ? MIN
	    : ml_text_is(n, "aggregate_function", "MAX")      ? MAX
	                                                      : SUM;
}

/* SOURCE: ONNX Runtime. A score by itself always has its base, and PROBIT alone
 * changes it; of several, each has one that trees speak of. */
static void
finish_scores(const struct ensemble *e, const struct attr *base,
    enum ml_post post, double *score, const bool *seen)
{
	const bool alone = e->ntargets == 1;

	for (uint32_t k = 0; ml_count(base) == e->ntargets && k < e->ntargets;
	     k++)
		if (alone || seen[k])
			score[k] += ml_number(base, k);
	if (!alone || post == ML_PROBIT)
		ml_transform(post, score, e->ntargets);
}

/* Scores of all rows into output 0, of the dtype of the form. */
static bool
regress(struct call *c, const struct ensemble *e, struct ml_rows *x,
    enum aggregate how, enum dtype dtype, struct err *err)
{
	const struct attr *base = ml_numbers(c->node, "base_values");
	const struct shape s = {2, {(int64_t)x->n, e->ntargets}};
	double *score = arena_new(c->scratch, double, e->ntargets);
	bool *seen = arena_new(c->scratch, bool, e->ntargets);
	enum ml_post post;
	struct sink to;

	if (!ml_post_of(&post, c->node, err)
	    || !host_out(c, 0, dtype, &s, &to, err))
		return false;
	for (size_t i = 0; i < x->n; i++) {
		score_row(e, ml_row(x, i), x->width, how, score, seen);
		finish_scores(e, base, post, score, seen);
		store_real(&to, i * e->ntargets, 1, e->ntargets, score);
	}
	return true;
}

static bool
targets_of(uint32_t *n, const struct call *c, struct err *err)
{
	const int64_t targets = attr_int_or(c->node, "n_targets", 1);

	if (targets < 1 || targets > 1 << 20)
		return err_set(err, ERR_INPUT, "n_targets");
	*n = (uint32_t)targets;
	return true;
}

bool
treeregressor_run(struct call *c, struct err *err)
{
	struct ml_rows x;
	struct ensemble e;
	uint32_t targets;

	return targets_of(&targets, c, err) && ml_rows_of(&x, c, err)
	    && trees_read_lists(&e, c, "target", targets, err)
	    && regress(c, &e, &x, aggregate_of(c->node), DT_FLOAT, err);
}

bool
treeensemble_run(struct call *c, struct err *err)
{
	static const enum aggregate how[] = {AVERAGE, SUM, MIN, MAX};
	const int64_t at = attr_int_or(c->node, "aggregate_function", 1);
	struct ml_rows x;
	struct ensemble e;
	uint32_t targets;

	if (at < 0 || at > 3)
		return err_set(err, ERR_INPUT, "aggregate_function");
	return targets_of(&targets, c, err) && ml_rows_of(&x, c, err)
	    && trees_read_tensors(&e, c, targets, err)
	    && regress(c, &e, &x, how[at], c->in[0]->dtype, err);
}

/* Do the weights speak of one class only, all of them positive? */
static void
look_at_weights(const struct ensemble *e, bool *one_class, bool *positive)
{
	*one_class = *positive = true;
	for (uint32_t i = 0; i < e->nweights; i++) {
		*one_class =
		    *one_class && e->weight[i].target == e->weight[0].target;
		*positive = *positive && e->weight[i].value >= 0;
	}
}

/* Two classes of which the trees know one: its score makes both. SOURCE: ONNX
 * Runtime; where both have base values, the other scores nothing. */
static uint32_t
binary_scores(const struct attr *base, enum ml_post post, double *score,
    double s, bool positive)
{
	const uint32_t nbase = ml_count(base);

	if (nbase == 1 || nbase == 2)
		s += ml_number(base, 0);
	score[0] = nbase == 2 ? s : -s;
	score[1] = nbase == 2 ? 0 : s;
	if (nbase == 2 || post == ML_LOGISTIC)
		ml_transform(post, score, 2);
	else if (positive)
		score[0] = 1 - s;
	return s > (positive ? 0.5 : 0);
}

static uint32_t
class_scores(
    const struct attr *base, enum ml_post post, double *score, uint32_t n)
{
	uint32_t best;

	for (uint32_t k = 0; k < ml_count(base) && k < n; k++)
		score[k] += ml_number(base, k);
	best = ml_best(score, n);
	ml_transform(post, score, n);
	return best;
}

/* Two classes of which the trees know both. SOURCE: ONNX Runtime, where the sign
 * of the second's score decides, and two base values make the first's score the
 * second's less it. */
static uint32_t
pair_scores(const struct attr *base, enum ml_post post, double *score)
{
	const uint32_t nbase = ml_count(base);
	bool second;

	if (nbase == 2) {
		score[1] = ml_number(base, 1) + score[0];
		score[0] = -score[1];
	} else if (nbase == 1) {
		score[0] += ml_number(base, 0);
	}
	second = score[1] > 0;
	ml_transform(post, score, 2);
	return second;
}

bool
treeclassifier_run(struct call *c, struct err *err)
{
	const struct attr *base = ml_numbers(c->node, "base_values");
	const uint32_t nlabels = ml_label_count(c->node);
	struct ml_labels labels;
	struct ensemble e;
	struct ml_rows x;
	struct sink to;
	enum ml_post post;
	double *score;
	bool *seen, one_class, positive;

	if (nlabels == 0)
		return err_set(err, ERR_INPUT, "no class labels");
	if (!ml_rows_of(&x, c, err) || !ml_post_of(&post, c->node, err)
	    || !trees_read_lists(&e, c, "class", nlabels, err)
	    || !ml_labels_out(&labels, c, x.n, err)
	    || !ml_scores_out(c, 1, x.n, nlabels, &to, err))
		return false;
	look_at_weights(&e, &one_class, &positive);
	one_class = one_class && nlabels == 2 && e.nweights > 0;
	if (one_class && post == ML_PROBIT)
		return refuse(err, "PROBIT of one score for two classes");
	/* SOURCE: ONNX Runtime, for whatever the integers in the list are */
	labels.places = nlabels == 2 && !one_class;
	score = arena_new(c->scratch, double, nlabels);
	seen = arena_new(c->scratch, bool, nlabels);
	for (size_t i = 0; i < x.n; i++) {
		uint32_t best;

		score_row(&e, ml_row(&x, i), x.width, SUM, score, seen);
		best = one_class   ? binary_scores(base, post, score,
		             score[e.weight[0].target], positive)
		    : nlabels == 2 ? pair_scores(base, post, score)
		                   : class_scores(base, post, score, nlabels);
		ml_label(&labels, i, best);
		store_real(&to, i * nlabels, 1, nlabels, score);
	}
	return true;
}
