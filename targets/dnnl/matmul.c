/* Gemm and MatMul with bias, residual and activation. */
#include "targets/dequantized.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/weights.h"

struct dnnl_matmul {
	const struct way *way;
	struct product p;
	uint32_t rank; /* of the operation */
	struct md src, weights, bias_desc, dst;
};

static const struct type *
type_of(const struct build *b, value_id v)
{
	return &graph_value(b->graph, v)->type;
}

/* Or integers that stand for floats, within the composite. */
static bool
is_constant(const struct build *b, value_id v)
{
	return is_packable(b->graph, v) && candidate_input(b->candidate, v) < 0;
}

static void
swap_last_two(struct md *md)
{
	int i = md->ndims - 2, j = md->ndims - 1;
	dnnl_dim_t dim = md->dims[i];
	dnnl_dim_t stride = md->strides[i];

	md->dims[i] = md->dims[j];
	md->dims[j] = dim;
	md->strides[i] = md->strides[j];
	md->strides[j] = stride;
}

/* Can v be read with all dimensions but the last taken as one? */
static bool
collapses(const struct build *b, value_id v, const struct type *out)
{
	const struct type *t = type_of(b, v);
	bool full = t->rank == out->rank, row = true;

	for (uint32_t i = 0; i < t->rank; i++) {
		full = full && t->dim[i] == out->dim[i];
		row = row && (i + 1 == t->rank || t->dim[i] == 1);
	}
	return full || row;
}

/* A matrix on the right of a batch of rows is one big product. */
static uint32_t
operation_rank(const struct build *b, const struct dnnl_matmul *m)
{
	const struct type *out = type_of(b, b->fused.end);

	if (type_of(b, m->p.right)->rank != 2 || m->p.transpose_left)
		return out->rank;
	for (uint32_t i = 0; i < b->fused.nsteps; i++)
		if (step_is_binary(b->fused.step[i].kind)
		    && !collapses(b, b->fused.step[i].other, out))
			return out->rank;
	return 2;
}

static void
read_node(struct build *b, struct dnnl_matmul *m)
{
	m->way = way_get(b->candidate->implementation);
	fused_product(&m->p, &b->fused, b->graph);
	m->rank = operation_rank(b, m);
}

static bool
describe(struct build *b, struct dnnl_matmul *m)
{
	if (!desc_operand(b, m->p.left, m->rank, &m->src)
	    || !desc_operand(b, m->p.right, m->rank, &m->weights)
	    || !desc_operand(b, b->fused.end, m->rank, &m->dst)
	    || (m->p.bias != VALUE_NONE
	        && !desc_operand(b, m->p.bias, m->rank, &m->bias_desc)))
		return false;
	if (m->p.transpose_left)
		swap_last_two(&m->src);
	if (m->p.transpose_right)
		swap_last_two(&m->weights);
	return true;
}

/* A model's own halves are packed as they are: as floats a vocabulary's would
 * take twice its memory. */
static bool
bind_weights(struct build *b, struct dnnl_matmul *m, dnnl_primitive_desc_t pd)
{
	const struct tensor *t = graph_value(b->graph, m->p.right)->constant;
	const struct md *want;

	if (!is_constant(b, m->p.right))
		return bind_value(b, DNNL_ARG_WEIGHTS, m->p.right, &m->weights);
	want = wanted(b, pd, dnnl_query_weights_md, 0);
	if (t && t->kind == TENSOR_VIEW && m->weights.type == dnnl_f16
	    && m->p.alpha == 1)
		return bind_packed(
		    b, DNNL_ARG_WEIGHTS, t->data, &m->weights, want);
	return bind_matrix(
	    b, DNNL_ARG_WEIGHTS, m->p.right, m->p.alpha, &m->weights, want);
}

static bool
bind(struct build *b, struct dnnl_matmul *m, dnnl_primitive_desc_t pd)
{
	bool ok = bind_value(b, DNNL_ARG_SRC, m->p.left, &m->src)
	    && bind_weights(b, m, pd);

	if (m->p.bias != VALUE_NONE)
		ok = ok
		    && bind_constant(b, DNNL_ARG_BIAS,
		        scaled_floats(
		            b->graph, m->p.bias, m->p.beta, b->scratch),
		        &m->bias_desc, &m->bias_desc);
	return ok && bind_value(b, DNNL_ARG_DST, b->fused.end, &m->dst)
	    && bind_post_operands(b, m->way->residual, m->rank);
}

bool
build_matmul(struct build *b)
{
	struct dnnl_matmul m = {0};
	struct operation op = {.kind = dnnl_matmul};
	dnnl_primitive_desc_t pd;
	bool ok;

	read_node(b, &m);
	if (!describe(b, &m))
		return false;
	op.md[ROLE_SRC] = m.src;
	op.md[ROLE_WEIGHTS] =
	    is_constant(b, m.p.right) ? md_any(&m.weights) : m.weights;
	op.md[ROLE_WEIGHTS].type = m.src.type;
	if (m.p.bias != VALUE_NONE)
		op.md[ROLE_BIAS] = m.bias_desc;
	op.md[ROLE_DST] = m.dst;
	if (!post_operations(b, m.way->residual, m.rank)
	    || !make_primitive(b, &op, way_nth(m.way), &pd))
		return false;
	ok = need_product(b, pd, &m.src, &m.dst) && bind(b, &m, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
