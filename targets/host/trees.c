/* ai.onnx.ml: ensembles of decision trees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/ml.h"

enum mode { LEQ, LT, GTE, GT, EQ, NEQ, LEAF };

/* A node of a tree; children are indices into the ensemble's nodes. */
struct tree_node {
	enum mode mode;
	bool missing_is_true;
	uint32_t feature, yes, no;
	double value;
	uint32_t weight, nweights; /* of a leaf: entries of weight[] */
};

struct tree_weight {
	int64_t tree, node;
	uint32_t target;
	double value;
};

struct ensemble {
	uint32_t nnodes, nroots, nweights, ntargets;
	struct tree_node *node;
	uint32_t *root;
	struct tree_weight *weight; /* by tree, node */
};

/* Node ids of a file and their place in it, to find children by. */
struct tree_node_ref {
	int64_t tree, node;
	uint32_t at;
};

static int
by_place(const void *a, const void *b)
{
	const struct tree_node_ref *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int
by_leaf(const void *a, const void *b)
{
	const struct tree_weight *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static bool
mode_of(struct string_view s, enum mode *out)
{
	static const char *const word[] = {"BRANCH_LEQ", "BRANCH_LT",
	    "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"};

	for (int i = 0; i <= LEAF; i++)
		if (view_is(s, word[i])) {
			*out = (enum mode)i;
			return true;
		}
	return false;
}

/* The lists a file describes its nodes with, all of one length. */
struct tree_columns {
	const struct attr *tree, *id, *feature, *mode, *yes, *no, *missing;
	const struct attr *value;
	uint32_t n;
};

static bool
read_columns(struct tree_columns *k, const struct call *c, struct err *err)
{
	const struct node *n = c->node;

	k->tree = node_attr(n, "nodes_treeids");
	k->id = node_attr(n, "nodes_nodeids");
	k->feature = node_attr(n, "nodes_featureids");
	k->mode = node_attr(n, "nodes_modes");
	k->yes = node_attr(n, "nodes_truenodeids");
	k->no = node_attr(n, "nodes_falsenodeids");
	k->missing = node_attr(n, "nodes_missing_value_tracks_true");
	k->value = ml_numbers(n, "nodes_values");
	k->n = k->tree ? k->tree->n : 0;
	if (ml_is_list(k->tree, ATTR_INTS, k->n)
	    && ml_is_list(k->id, ATTR_INTS, k->n)
	    && ml_is_list(k->feature, ATTR_INTS, k->n)
	    && ml_is_list(k->mode, ATTR_STRINGS, k->n)
	    && ml_is_list(k->yes, ATTR_INTS, k->n)
	    && ml_is_list(k->no, ATTR_INTS, k->n)
	    && (!k->missing || k->missing->n == 0
	        || ml_is_list(k->missing, ATTR_INTS, k->n))
	    && ml_count(k->value) == k->n && k->n > 0)
		return true;
	return err_set(err, ERR_INPUT, "lists of nodes differ in length");
}

static uint32_t
find(const struct tree_node_ref *p, uint32_t n, int64_t tree, int64_t node)
{
	const struct tree_node_ref key = {tree, node, 0};
	const struct tree_node_ref *at =
	    bsearch(&key, p, n, sizeof *p, by_place);

	return at ? at->at : UINT32_MAX;
}

/* Children found by id; a root is nobody's child. */
static bool
link_nodes(struct ensemble *e, const struct tree_columns *k,
    const struct tree_node_ref *place, struct arena *a, struct err *err)
{
	bool *child = arena_new(a, bool, k->n);

	for (uint32_t i = 0; i < k->n; i++) {
		struct tree_node *t = &e->node[i];

		if (t->mode == LEAF)
			continue;
		t->yes = find(place, k->n, k->tree->ints[i], k->yes->ints[i]);
		t->no = find(place, k->n, k->tree->ints[i], k->no->ints[i]);
		if (t->yes == UINT32_MAX || t->no == UINT32_MAX)
			return err_set(err, ERR_INPUT,
			    "a child of node %u does not exist", i);
		child[t->yes] = child[t->no] = true;
	}
	e->root = arena_new(a, uint32_t, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		if (!child[i])
			e->root[e->nroots++] = i;
	return true;
}

static bool
read_nodes(struct ensemble *e, const struct call *c,
    struct tree_node_ref *place, const struct tree_columns *k, struct err *err)
{
	e->nnodes = k->n;
	e->node = arena_new(c->scratch, struct tree_node, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		struct tree_node *t = &e->node[i];
		int64_t feature = k->feature->ints[i];

		place[i] =
		    (struct tree_node_ref){k->tree->ints[i], k->id->ints[i], i};
		if (!mode_of(k->mode->strings[i], &t->mode))
			return refuse(err, "a mode of nodes");
		t->missing_is_true =
		    k->missing && k->missing->n && k->missing->ints[i] != 0;
		t->value = ml_number(k->value, i);
		if (feature < 0 || feature > UINT32_MAX)
			return err_set(
			    err, ERR_INPUT, "feature %lld", (long long)feature);
		t->feature = (uint32_t)feature;
	}
	qsort(place, k->n, sizeof *place, by_place);
	return link_nodes(e, k, place, c->scratch, err);
}

/* "class" or "target": which lists hold the leaves' weights. */
static bool
read_weights(struct ensemble *e, const struct call *c, const char *what,
    const struct tree_node_ref *place, struct err *err)
{
	const struct node *n = c->node;
	const struct attr *tree =
	    node_attr(n, arena_printf(c->scratch, "%s_treeids", what));
	const struct attr *node =
	    node_attr(n, arena_printf(c->scratch, "%s_nodeids", what));
	const struct attr *id =
	    node_attr(n, arena_printf(c->scratch, "%s_ids", what));
	const struct attr *value =
	    ml_numbers(n, arena_printf(c->scratch, "%s_weights", what));
	uint32_t count = tree ? tree->n : 0;

	if (!ml_is_list(tree, ATTR_INTS, count)
	    || !ml_is_list(node, ATTR_INTS, count)
	    || !ml_is_list(id, ATTR_INTS, count) || ml_count(value) != count)
		return err_set(
		    err, ERR_INPUT, "lists of weights differ in length");
	e->nweights = count;
	e->weight = arena_new(c->scratch, struct tree_weight, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		if (id->ints[i] < 0 || id->ints[i] >= e->ntargets)
			return err_set(err, ERR_INPUT,
			    "a weight of target %lld", (long long)id->ints[i]);
		e->weight[i] = (struct tree_weight){tree->ints[i],
		    node->ints[i], (uint32_t)id->ints[i], ml_number(value, i)};
	}
	qsort(e->weight, count, sizeof *e->weight, by_leaf);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = find(
		    place, e->nnodes, e->weight[i].tree, e->weight[i].node);

		if (at == UINT32_MAX)
			return err_set(err, ERR_INPUT, "a weight of no node");
		if (e->node[at].nweights++ == 0)
			e->node[at].weight = i;
	}
	return true;
}

static bool
read_ensemble(struct ensemble *e, struct call *c, const char *what,
    uint32_t ntargets, struct err *err)
{
	struct tree_columns k;
	struct tree_node_ref *place;

	*e = (struct ensemble){.ntargets = ntargets};
	if (!read_columns(&k, c, err))
		return false;
	place = arena_new(c->scratch, struct tree_node_ref, k.n);
	return read_nodes(e, c, place, &k, err)
	    && read_weights(e, c, what, place, err);
}

static bool
goes_true(const struct tree_node *t, double x)
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
		at = t->feature < n && goes_true(t, row[t->feature]) ? t->yes
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

		for (uint32_t i = 0; i < t->nweights; i++) {
			const struct tree_weight *w = &e->weight[t->weight + i];

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

bool
treeregressor_run(struct call *c, struct err *err)
{
	const int64_t targets = attr_int_or(c->node, "n_targets", 1);
	const struct attr *base = ml_numbers(c->node, "base_values");
	const enum aggregate how = aggregate_of(c->node);
	struct ml_rows x;
	struct ensemble e;
	struct sink to;
	double *score;
	bool *seen;

	if (targets < 1 || targets > 1 << 20)
		return err_set(err, ERR_INPUT, "n_targets");
	if (!ml_rows_of(&x, c, err)
	    || !read_ensemble(&e, c, "target", (uint32_t)targets, err)
	    || !ml_scores_out(c, 0, x.n, (uint32_t)targets, &to, err))
		return false;
	score = arena_new(c->scratch, double, e.ntargets);
	seen = arena_new(c->scratch, bool, e.ntargets);
	for (size_t i = 0; i < x.n; i++) {
		score_row(&e, ml_row(&x, i), x.width, how, score, seen);
		for (uint32_t k = 0; k < ml_count(base) && k < e.ntargets; k++)
			score[k] += ml_number(base, k);
		if (!ml_transform(c->node, score, e.ntargets, err))
			return false;
		store_real(&to, i * e.ntargets, 1, e.ntargets, score);
	}
	return true;
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

/* Two classes of which the trees know one: its score makes both. */
static void
binary_scores(const struct node *n, double *score, double s, bool positive,
    uint32_t *best)
{
	*best = s > (positive ? 0.5 : 0);
	if (ml_text_is(n, "post_transform", "LOGISTIC")) {
		score[0] = 1 / (1 + exp(s));
		score[1] = 1 / (1 + exp(-s));
	} else {
		score[0] = positive ? 1 - s : -s;
		score[1] = s;
	}
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
	double *score;
	bool *seen, one_class, positive;

	if (nlabels == 0)
		return err_set(err, ERR_INPUT, "no class labels");
	if (!ml_rows_of(&x, c, err)
	    || !read_ensemble(&e, c, "class", nlabels, err)
	    || !ml_labels_out(&labels, c, x.n, err)
	    || !ml_scores_out(c, 1, x.n, nlabels, &to, err))
		return false;
	look_at_weights(&e, &one_class, &positive);
	one_class = one_class && nlabels == 2 && e.nweights > 0;
	score = arena_new(c->scratch, double, nlabels);
	seen = arena_new(c->scratch, bool, nlabels);
	for (size_t i = 0; i < x.n; i++) {
		uint32_t best = 0;

		score_row(&e, ml_row(&x, i), x.width, SUM, score, seen);
		for (uint32_t k = 0; k < ml_count(base) && k < nlabels; k++)
			score[one_class ? e.weight[0].target : k] +=
			    ml_number(base, k);
		if (one_class) {
			binary_scores(c->node, score, score[e.weight[0].target],
			    positive, &best);
		} else {
			best = ml_best(score, nlabels);
			if (!ml_transform(c->node, score, nlabels, err))
				return false;
		}
		ml_label(&labels, i, best);
		store_real(&to, i * nlabels, 1, nlabels, score);
	}
	return true;
}
