/* Transposed convolution between quantisers: bytes in, sums of 32 bits, requantised as
 * they are written. */
#include <math.h>

#include "targets/dequantized.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/integer.h"
#include "targets/need.h"
#include "targets/quantiser.h"
#include "targets/window.h"

#define NEED why_need

/* Codes go in and come out, by the root. */
struct byte_deconv {
	const struct node *node; /* between floats, as the model has it */
	value_id x, y, bias; /* codes, codes, floats or VALUE_NONE */
	struct quantiser from, weights, to;
	const struct tensor *codes; /* [C, K, ...] */
	bool rectified;
};

/* false: scales are no constants. */
static bool
read_deconv(struct byte_deconv *d, const struct match *m, const struct graph *g)
{
	const struct node *root = graph_node(g, m->root), *x, *w;

	d->node = graph_producer(g, root->input[0]);
	d->rectified = d->node->op == OP_RELU;
	if (d->rectified)
		d->node = graph_producer(g, d->node->input[0]);
	x = graph_producer(g, d->node->input[0]);
	w = graph_producer(g, d->node->input[1]);
	d->x = x->input[0];
	d->y = root->output[0];
	d->bias = node_input(d->node, 2);
	d->codes = graph_value(g, w->input[0])->constant;
	return quantiser_read(&d->from, g, x) && quantiser_is_plain(&d->from)
	    && quantiser_read(&d->to, g, root) && quantiser_is_plain(&d->to)
	    && quantiser_read(&d->weights, g, w)
	    && quantiser_is_of_axis(
	        &d->weights, w, &graph_value(g, w->input[0])->type, 1)
	    && (!d->rectified || quantiser_bounds_below(&d->to));
}

/* Around the middle of their type, as the library has them. */
static bool
is_middle(const struct byte_deconv *d)
{
	const double middle = d->weights.dtype == DT_UINT8 ? 128 : 0;

	return d->weights.zeros ? integers_are(d->weights.zeros, middle)
	                        : middle == 0;
}

/* One step of a filter's sums, in numbers and in steps of the result. */
static float
step_of(const struct byte_deconv *d, size_t k)
{
	return integer_entry(d->from.scales, 0)
	    * integer_entry(d->weights.scales, k);
}

static float
multiplier_of(const struct byte_deconv *d, size_t k)
{
	return step_of(d, k) / integer_entry(d->to.scales, 0);
}

static bool
are_normal(const struct byte_deconv *d, size_t filters)
{
	for (size_t k = 0; k < filters; k++)
		if (!isnormal(step_of(d, k)) || !isnormal(multiplier_of(d, k)))
			return false;
	return true;
}

/* TUNING: sums of so many products fit into 32 bits whatever the bytes are. */
#define SUM_DEPTH 16384

static bool
need_filters(const struct match_in *m, struct why *why,
    const struct byte_deconv *d, const struct window *w)
{
	bool fits = true, ok;

	for (uint32_t i = 0; i < w->n; i++)
		fits &= w->more[i] <= w->after[i];
	ok = NEED(why, fits, "output_padding", "within the padding",
	    "it reaches beyond");
	ok = NEED(why, attr_int_or(d->node, "group", 1) == 1, "group", "1",
	         "more")
	    && ok;
	ok = NEED(why, is_middle(d), "weights",
	         "int8 around 0 or uint8 around 128", "another zero point")
	    && ok;
	ok = NEED(why,
	         d->codes->count / (size_t)d->codes->dim[1] <= SUM_DEPTH
	             && are_normal(d, (size_t)d->codes->dim[1]),
	         "scales", "of at most 16384 products, in range", "others")
	    && ok;
	return NEED(why,
	           d->bias == VALUE_NONE || is_packable(m->graph, d->bias),
	           "bias", "constant", "another")
	    && ok;
}

bool
accept_byte_deconv(const struct match_in *m, struct why *why)
{
	struct byte_deconv d;
	struct window w;
	bool ok = read_deconv(&d, m->match, m->graph);

	ok = NEED(why, ok, "codes",
	    "8 bits, constant scales, one or (weights) one a filter; a Relu bounds at the least "
	    "code",
	    "others");
	ok = need_wide_sums(why) && ok;
	return ok && need_size(m, why, d.x) && need_size(m, why, d.y)
	    && need_rank_in(m, why, d.x, 4, 4)
	    && need_transposed(m, why, d.node, &w)
	    && need_filters(m, why, &d, &w);
}

/* ---- a primitive ---- */

struct built {
	struct byte_deconv is;
	size_t filters;
	struct code_steps codes;
	float *bias; /* [filters] */
	struct md src, weights, list, dst;
};

/* Floats beside sums, or (`library_scales`) beside what is scaled. */
static void
read_numbers(struct build *b, struct built *k)
{
	const struct byte_deconv *d = &k->is;
	const float *bias = d->bias == VALUE_NONE
	    ? NULL
	    : packable_floats(b->graph, d->bias, b->scratch);
	float *multiplier = arena_new(b->scratch, float, k->filters);

	k->bias = arena_new(b->scratch, float, k->filters);
	for (size_t i = 0; i < k->filters; i++) {
		const float unit = library_scales
		    ? integer_entry(d->to.scales, 0)
		    : step_of(d, i);

		multiplier[i] = multiplier_of(d, i);
		k->bias[i] = bias ? bias[i] / unit : 0;
	}
	k->codes = (struct code_steps){.multiplier = multiplier,
	    .filters = (int64_t)k->filters,
	    .from_zero = (int32_t)integer_entry(d->from.zeros, 0),
	    .to_zero = (int32_t)integer_entry(d->to.zeros, 0)};
}

static bool
describe(struct build *b, struct built *k, struct operation *op)
{
	const struct node *n = k->is.node;

	k->weights = deconv_weights(b->graph, n);
	k->weights.type = dnnl_s8;
	desc_plain(&k->list, 1, &k->is.codes->dim[1]);
	if (!desc_value(b, k->is.x, &k->src)
	    || !desc_value(b, k->is.y, &k->dst))
		return false;
	*op = (struct operation){
	    .kind = dnnl_deconvolution,
	    .alg = dnnl_deconvolution_direct,
	    .md = {[ROLE_SRC] = k->src,
	        [ROLE_WEIGHTS] = md_any(&k->weights),
	        [ROLE_BIAS] = k->list,
	        [ROLE_DST] = k->dst},
	};
	return deconv_window(b, &op->window, n);
}

static bool
bind(struct build *b, const struct built *k, dnnl_primitive_desc_t pd)
{
	return need_kernel(b, pd, &graph_value(b->graph, k->is.y)->type,
	           &node_in(b->graph, k->is.node, 1)->type)
	    && bind_value(b, DNNL_ARG_SRC, k->is.x, &k->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS,
	        integer_steps(k->is.codes, b->scratch), &k->weights,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_constant(b, DNNL_ARG_BIAS, k->bias, &k->list, &k->list)
	    && codes_bind(b, &k->codes)
	    && bind_value(b, DNNL_ARG_DST, k->is.y, &k->dst);
}

bool
build_byte_deconv(struct build *b)
{
	struct built k = {.filters = 0};
	struct operation op;
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!read_deconv(&k.is, b->candidate->match, b->graph))
		return err_set(b->err, ERR_INTERNAL, "oneDNN: codes are lost");
	k.filters = (size_t)k.is.codes->dim[1];
	read_numbers(b, &k);
	if (!describe(b, &k, &op) || !codes_describe(b, &k.codes)
	    || !make_exact(b, &op, 0, &pd))
		return false;
	ok = bind(b, &k, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
