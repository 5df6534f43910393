/* Trees in the form of ai.onnx.ml 1 to 3. */
#include <stdlib.h>

#include "targets/host/ml.h"
#include "targets/host/trees.h"

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
	    "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "", "LEAF"};

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
		if (e->node[at].n++ == 0)
			e->node[at].first = i;
	}
	return true;
}

bool
trees_read_lists(struct ensemble *e, struct call *c, const char *what,
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
