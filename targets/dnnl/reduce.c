/* Reductions along any set of dimensions. */
#include "targets/axes.h"
#include "targets/dnnl/layer.h"

/* p: of the norms. */
static const struct {
	enum op op;
	dnnl_alg_kind_t algorithm;
	float p;
} kind[] = {
    {OP_REDUCEMEAN, dnnl_reduction_mean, 0},
    {OP_REDUCESUM, dnnl_reduction_sum, 0},
    {OP_REDUCEMAX, dnnl_reduction_max, 0},
    {OP_REDUCEMIN, dnnl_reduction_min, 0},
    {OP_REDUCEPROD, dnnl_reduction_mul, 0},
    {OP_REDUCEL1, dnnl_reduction_norm_lp_power_p_sum, 1},
    {OP_REDUCEL2, dnnl_reduction_norm_lp_sum, 2},
    {OP_REDUCESUMSQUARE, dnnl_reduction_norm_lp_power_p_sum, 2},
};

/* The result with its reduced dimensions kept as ones, in its port's layout. */
static bool
describe(struct build *b, const struct node *n, struct md *src, struct md *dst)
{
	const struct type *in = &node_in(b->graph, n, 0)->type;
	const struct type *out = &node_out(b->graph, n, 0)->type;
	bool reduced[AXES_MAX];
	int64_t dim[AXES_MAX];

	if (!axes_read(reduced, b->graph, n))
		return err_set(b->err, ERR_UNSUPPORTED,
		    "oneDNN: reduction: unknown dimensions");
	if (!desc_value(b, n->input[0], src))
		return false;
	if (out->rank == in->rank)
		return desc_value(b, n->output[0], dst);
	for (uint32_t i = 0; i < in->rank; i++)
		dim[i] = reduced[i] ? 1 : in->dim[i];
	desc_plain(dst, in->rank, dim);
	return true;
}

bool
build_reduction(struct build *b)
{
	const struct node *n = graph_node(b->graph, b->candidate->node[0]);
	struct md src, dst;
	struct operation op = {.kind = dnnl_reduction};
	dnnl_primitive_desc_t pd;
	size_t k = 0;

	while (kind[k].op != n->op)
		k++;
	if (!describe(b, n, &src, &dst))
		return false;
	op.alg = kind[k].algorithm;
	op.a = kind[k].p;
	op.md[ROLE_SRC] = src;
	op.md[ROLE_DST] = dst;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &src)
	    && bind_value(b, DNNL_ARG_DST, n->output[0], &dst);
}
