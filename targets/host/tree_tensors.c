/* Trees in the form of ai.onnx.ml 5: inner nodes in lists, leaves in others. */
#include <math.h>

#include "targets/host/ml.h"
#include "targets/host/trees.h"

/* SOURCE: the schema of TreeEnsemble; a set is a run of membership_values that
 * ends with NaN, in the order of the nodes that ask for one. */
struct tensor_columns {
	const struct attr *split, *feature, *mode, *yes, *no, *yes_leaf;
	const struct attr *no_leaf, *missing, *target, *weight, *member, *root;
	uint32_t n, nleaves;
};

static bool
read_columns(struct tensor_columns *k, const struct node *n, struct err *err)
{
	k->split = node_attr(n, "nodes_splits");
	k->feature = node_attr(n, "nodes_featureids");
	k->mode = node_attr(n, "nodes_modes");
	k->yes = node_attr(n, "nodes_truenodeids");
	k->no = node_attr(n, "nodes_falsenodeids");
	k->yes_leaf = node_attr(n, "nodes_trueleafs");
	k->no_leaf = node_attr(n, "nodes_falseleafs");
	k->missing = node_attr(n, "nodes_missing_value_tracks_true");
	k->target = node_attr(n, "leaf_targetids");
	k->weight = node_attr(n, "leaf_weights");
	k->member = node_attr(n, "membership_values");
	k->root = node_attr(n, "tree_roots");
	k->n = k->feature ? k->feature->n : 0;
	k->nleaves = k->target ? k->target->n : 0;
	if (k->n > 0 && k->nleaves > 0 && k->n < UINT32_MAX - k->nleaves
	    && ml_count(k->split) == k->n && ml_count(k->mode) == k->n
	    && ml_count(k->weight) == k->nleaves
	    && ml_is_list(k->feature, ATTR_INTS, k->n)
	    && ml_is_list(k->yes, ATTR_INTS, k->n)
	    && ml_is_list(k->no, ATTR_INTS, k->n)
	    && ml_is_list(k->yes_leaf, ATTR_INTS, k->n)
	    && ml_is_list(k->no_leaf, ATTR_INTS, k->n)
	    && ml_is_list(k->target, ATTR_INTS, k->nleaves)
	    && (!k->missing || k->missing->n == 0
	        || ml_is_list(k->missing, ATTR_INTS, k->n))
	    && k->root && k->root->kind == ATTR_INTS)
		return true;
	return err_set(
	    err, ERR_INPUT, "lists of nodes or leaves differ in length");
}

/* Leaves lie behind the inner nodes. */
static bool
child_of(const struct tensor_columns *k, int64_t id, bool is_leaf,
    uint32_t *out, struct err *err)
{
	if (id < 0 || id >= (is_leaf ? k->nleaves : k->n))
		return err_set(
		    err, ERR_INPUT, "child %lld does not exist", (long long)id);
	*out = (uint32_t)id + (is_leaf ? k->n : 0);
	return true;
}

/* The next set becomes the node's; *at is where it begins. */
static bool
take_members(struct tree_node *t, const struct ensemble *e, uint32_t *at,
    uint32_t count, struct err *err)
{
	t->first = *at;
	while (*at < count && !isnan(e->member[*at]))
		++*at;
	t->n = *at - t->first;
	if (*at == count)
		return err_set(err, ERR_INPUT, "membership_values end early");
	++*at;
	return true;
}

static bool
read_node(struct ensemble *e, const struct tensor_columns *k, uint32_t i,
    uint32_t *member, struct err *err)
{
	struct tree_node *t = &e->node[i];
	const int64_t feature = k->feature->ints[i];
	const double mode = ml_number(k->mode, i);

	if (feature < 0 || feature > UINT32_MAX)
		return err_set(
		    err, ERR_INPUT, "feature %lld", (long long)feature);
	if (!(mode >= 0 && mode <= (double)MEMBER))
		return refuse(err, "a mode of nodes");
	t->feature = (uint32_t)feature;
	t->mode = (enum mode)mode;
	t->value = ml_number(k->split, i);
	t->missing_is_true =
	    k->missing && k->missing->n && k->missing->ints[i] != 0;
	if (!child_of(k, k->yes->ints[i], k->yes_leaf->ints[i], &t->yes, err)
	    || !child_of(k, k->no->ints[i], k->no_leaf->ints[i], &t->no, err))
		return false;
	return t->mode != MEMBER
	    || take_members(t, e, member, ml_count(k->member), err);
}

static bool
read_leaves(struct ensemble *e, const struct tensor_columns *k, struct err *err)
{
	for (uint32_t i = 0; i < k->nleaves; i++) {
		const int64_t target = k->target->ints[i];

		if (target < 0 || target >= e->ntargets)
			return err_set(err, ERR_INPUT,
			    "a weight of target %lld", (long long)target);
		e->weight[i] = (struct tree_weight){
		    0, i, (uint32_t)target, ml_number(k->weight, i)};
		e->node[k->n + i] =
		    (struct tree_node){.mode = LEAF, .first = i, .n = 1};
	}
	return true;
}

static bool
read_roots(struct ensemble *e, const struct tensor_columns *k, struct err *err)
{
	for (uint32_t i = 0; i < k->root->n; i++)
		if (!child_of(k, k->root->ints[i], false, &e->root[i], err))
			return false;
	e->nroots = k->root->n;
	return true;
}

bool
trees_read_tensors(
    struct ensemble *e, struct call *c, uint32_t ntargets, struct err *err)
{
	struct tensor_columns k;
	uint32_t member = 0;

	*e = (struct ensemble){.ntargets = ntargets};
	if (!read_columns(&k, c->node, err))
		return false;
	e->nnodes = k.n + k.nleaves;
	e->nweights = k.nleaves;
	e->node = arena_new(c->scratch, struct tree_node, e->nnodes);
	e->weight = arena_new(c->scratch, struct tree_weight, k.nleaves);
	e->root = arena_new(c->scratch, uint32_t, k.root->n);
	e->member = arena_new(c->scratch, double, ml_count(k.member));
	for (uint32_t i = 0; i < ml_count(k.member); i++)
		e->member[i] = ml_number(k.member, i);
	for (uint32_t i = 0; i < k.n; i++)
		if (!read_node(e, &k, i, &member, err))
			return false;
	return read_leaves(e, &k, err) && read_roots(e, &k, err);
}
