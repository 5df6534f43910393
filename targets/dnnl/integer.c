/* QLinearConv, and products with constant weights as convolutions of 1x1: bytes
 * in, sums of 32 bits, requantised to bytes as they are written. */
#include "targets/dnnl/integer.h"

#include <string.h>

#include "targets/byte_product.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"
#include "targets/window.h"

#define NEED why_need

/* ---- what is taken ---- */

bool
need_wide_sums(struct why *why)
{
	return NEED(why, ways_sum_bytes(), "processor",
	    "sums products of bytes in 32 bits (VNNI)", "%s",
	    ways_sum_bytes() ? "it does" : "they saturate at 16");
}

static bool
need_exact_bytes(
    const struct match_in *m, struct why *why, const struct node *n)
{
	const bool ok = need_middle_zero(m, why, n);

	return need_wide_sums(why) && ok;
}

bool
accept_integer_conv(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	struct match_in in = *m;

	in.graph = match_graph(m->match, m->graph);
	return need_integer(&in, why, n) && need_exact_bytes(&in, why, n);
}

bool
accept_integer_product(const struct match_in *m, struct why *why)
{
	struct byte_product p;

	return accept_byte_product(m, why)
	    && byte_product_read(&p, m->match, m->graph)
	    && need_exact_bytes(m, why, &p.node);
}

/* ---- a primitive ---- */

struct dnnl_integer {
	const struct way *way;
	const struct graph *graph; /* with constants that the node lacks */
	const struct node *node;
	struct window window;
	int64_t group;
	const struct type *weight, *out;
	struct byte_product product;
	struct type image[3]; /* a product's left side, weights, result */
	bool by_depth; /* weights are [C, K] */
	struct requantising how;
	int32_t zero; /* of the input, where the library has to know it */
	int8_t *steps; /* [K, C / group, ...] */
	int32_t *bias; /* [K] */
	struct md src, weight_plain, bias_desc, dst;
};

static bool
is_padded(const struct window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->before[i] > 0 || w->after[i] > 0)
			return true;
	return false;
}

static int8_t *
turned(const int8_t *from, size_t rows, size_t columns, struct arena *a)
{
	int8_t *to = arena_new(a, int8_t, rows * columns);

	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			to[j * rows + i] = from[i * columns + j];
	return to;
}

/* Without padding, which is zero's code, that code adds the same to all sums of
 * a filter: into the bias. */
static void
read_constants(struct build *b, struct dnnl_integer *c)
{
	const struct integer_places *at = integer_places(c->node);
	const struct graph *g = c->graph;
	const struct tensor *w = integer_constant(g, c->node, at->w);
	const int32_t zero =
	    (int32_t)integer_entry(integer_constant(g, c->node, at->x_zero), 0);
	const size_t filters = (size_t)c->weight->dim[0];
	const size_t depth = w->count / filters;

	c->zero = is_padded(&c->window) ? zero : 0;
	c->steps = integer_steps(w, b->scratch);
	if (c->by_depth)
		c->steps = turned(c->steps, depth, filters, b->scratch);
	c->bias = arena_new(b->scratch, int32_t, filters);
	for (size_t k = 0; k < filters; k++)
		c->bias[k] = c->how.bias ? c->how.bias[k] : 0;
	for (size_t i = 0; i < w->count && c->zero == 0; i++)
		c->bias[i / depth] -= zero * c->steps[i];
}

static void
describe_weights(struct dnnl_integer *c)
{
	desc_filters(&c->weight_plain, c->weight, c->group);
	c->weight_plain.type = dnnl_s8;
	desc_plain(&c->bias_desc, 1, c->weight->dim);
	c->bias_desc.type = library_scales ? dnnl_f32 : dnnl_s32;
}

static bool
read_numbers(struct build *b, struct dnnl_integer *c)
{
	if (!requantising_of(&c->how, c->graph, c->node,
	        (size_t)c->weight->dim[0], b->scratch))
		return err_set(
		    b->err, ERR_UNSUPPORTED, "oneDNN: a scale is out of range");
	read_constants(b, c);
	describe_weights(c);
	return true;
}

static void
set_image(
    struct type *t, enum dtype dtype, const int64_t dim[4], struct arena *a)
{
	*t = (struct type){.kind = TYPE_TENSOR,
	    .dtype = dtype,
	    .rank = 4,
	    .dim = (const int64_t *)arena_copy(a, dim, 4 * sizeof *dim)};
}

static bool
describe(struct build *b, struct dnnl_integer *c)
{
	const struct node *n = match_as_node(b->candidate->match, b->graph);
	const char *fault;

	c->node = n;
	c->graph = match_graph(b->candidate->match, b->graph);
	c->way = way_get(b->candidate->implementation);
	if (!window_resolve(&c->window, c->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	c->group = attr_int_or(n, "group", 1);
	c->weight = &node_in(c->graph, n, 3)->type;
	c->out = &node_out(c->graph, n, 0)->type;
	return read_numbers(b, c) && desc_value(b, n->input[0], &c->src)
	    && desc_value(b, n->output[0], &c->dst);
}

/* Rows are positions of an image, channels last. */
static bool
describe_product(struct build *b, struct dnnl_integer *c)
{
	const struct tensor *w;
	const struct type *x;
	int64_t depth, columns, rows;

	if (!byte_product_read(&c->product, b->candidate->match, b->graph))
		return err_set(b->err, ERR_INTERNAL, "oneDNN: no product");
	c->node = &c->product.node;
	c->graph = b->graph;
	c->way = way_get(b->candidate->implementation);
	c->by_depth = !c->product.by_output;
	c->group = 1;
	c->window = (struct window){
	    .n = 2, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
	w = integer_constant(c->graph, c->node, 3);
	x = &node_in(c->graph, c->node, 0)->type;
	depth = w->dim[c->by_depth ? 0 : 1];
	columns = w->dim[c->by_depth ? 1 : 0];
	rows = (int64_t)type_elements(x, 0) / depth;
	set_image(
	    &c->image[0], x->dtype, (int64_t[]){1, depth, 1, rows}, b->scratch);
	set_image(&c->image[1], DT_INT8, (int64_t[]){columns, depth, 1, 1},
	    b->scratch);
	set_image(&c->image[2], node_out(c->graph, c->node, 0)->type.dtype,
	    (int64_t[]){1, columns, 1, rows}, b->scratch);
	c->weight = &c->image[1];
	c->out = &c->image[2];
	return read_numbers(b, c)
	    && desc_layout(&c->src, LAYOUT_NHWC, &c->image[0])
	    && desc_layout(&c->dst, LAYOUT_NHWC, &c->image[2]);
}

static bool
describe_zero(struct build *b, int arg, int32_t zero)
{
	return zero == 0
	    || check(b, attr_zero(b->attr, arg, zero), "zero point");
}

bool
codes_describe(struct build *b, const struct code_steps *c)
{
	return check(b, dnnl_primitive_attr_create(&b->attr), "attributes")
	    && check(b,
	        attr_scales(
	            b->attr, (int)c->filters, c->multiplier, c->of_groups),
	        "scales")
	    && describe_zero(b, DNNL_ARG_DST, c->to_zero)
	    && describe_zero(b, DNNL_ARG_SRC, c->from_zero);
}

static bool
bind_zero(struct build *b, int arg, int32_t zero)
{
	struct md code;

	if (zero == 0)
		return true;
	desc_plain(&code, 0, NULL);
	code.type = dnnl_s32;
	return bind_constant(
	    b, DNNL_ARG_ATTR_ZERO_POINTS | arg, &zero, &code, &code);
}

bool
codes_bind(struct build *b, const struct code_steps *c)
{
	struct md scales;

	if (library_scales == 0)
		return true;
	desc_plain(&scales, 1, &c->filters);
	return bind_constant(b, library_scales, c->multiplier, &scales, &scales)
	    && bind_zero(b, DNNL_ARG_SRC, c->from_zero)
	    && bind_zero(b, DNNL_ARG_DST, c->to_zero);
}

static struct code_steps
steps_of_codes(const struct dnnl_integer *c)
{
	return (struct code_steps){.multiplier = c->how.multiplier,
	    .filters = c->weight->dim[0],
	    .of_groups = c->group > 1,
	    .from_zero = c->zero,
	    .to_zero = (int32_t)c->how.zero};
}

static bool
bind_bias(struct build *b, const struct dnnl_integer *c)
{
	const size_t n = (size_t)c->weight->dim[0];
	float *real;

	if (library_scales == 0)
		return bind_constant(
		    b, DNNL_ARG_BIAS, c->bias, &c->bias_desc, &c->bias_desc);
	real = arena_new(b->scratch, float, n);
	for (size_t i = 0; i < n; i++)
		real[i] = (float)c->bias[i] * c->how.multiplier[i];
	return bind_constant(
	    b, DNNL_ARG_BIAS, real, &c->bias_desc, &c->bias_desc);
}

/* SOURCE: seen in 2.6.3 and 3.7.2: behind its first choice there may be one that
 * sums pairs of products in 16 bits, whatever the processor has. Of oneDNN's
 * instruction sets bf16, fp16 and AVX10 contain VNNI (3.7.2 names its products of
 * bytes brg_matmul:avx10_1_512). */
static bool
sums_are_exact(const_dnnl_primitive_desc_t pd)
{
	static const char *const exact[] = {
	    "vnni", "bf16", "fp16", "avx10", "amx", "ref"};
	const char *info = implementation_info(pd);

	for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
		if (strstr(info, exact[i]))
			return true;
	return false;
}

/* Of the library's implementations, the nth among these; else beyond them all. */
static uint32_t
exact_one(struct build *b, const struct operation *op, uint32_t nth)
{
	dnnl_primitive_desc_t pd;

	for (uint32_t i = 0;; i++) {
		bool is_exact;

		if (operation_describe(&pd, op, b->layer->engine, b->attr, i)
		    != dnnl_success)
			return i;
		is_exact = sums_are_exact(pd);
		dnnl_primitive_desc_destroy(pd);
		if (is_exact && nth-- == 0)
			return i;
	}
}

bool
make_exact(struct build *b, const struct operation *op, uint32_t nth,
    dnnl_primitive_desc_t *pd)
{
	return make_primitive(b, op, exact_one(b, op, nth), pd);
}

static bool
bind(struct build *b, const struct dnnl_integer *c, dnnl_primitive_desc_t pd)
{
	const struct code_steps codes = steps_of_codes(c);

	return need_kernel(b, pd, c->out, c->weight)
	    && bind_value(b, DNNL_ARG_SRC, c->node->input[0], &c->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS, c->steps, &c->weight_plain,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_bias(b, c) && codes_bind(b, &codes)
	    && bind_value(b, DNNL_ARG_DST, c->node->output[0], &c->dst);
}

static bool
build_integer(struct build *b, struct dnnl_integer *c)
{
	struct operation op = {
	    .kind = dnnl_convolution, .alg = dnnl_convolution_direct};
	const struct code_steps codes = steps_of_codes(c);
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!codes_describe(b, &codes))
		return false;
	op.md[ROLE_SRC] = c->src;
	op.md[ROLE_WEIGHTS] = md_any(&c->weight_plain);
	op.md[ROLE_BIAS] = c->bias_desc;
	op.md[ROLE_DST] = c->dst;
	layer_dims(&op.window, &c->window);
	if (!make_exact(b, &op, way_nth(c->way), &pd))
		return false;
	ok = bind(b, c, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}

bool
build_integer_conv(struct build *b)
{
	struct dnnl_integer c = {0};

	return describe(b, &c) && build_integer(b, &c);
}

bool
build_integer_product(struct build *b)
{
	struct dnnl_integer c = {0};

	return describe_product(b, &c) && build_integer(b, &c);
}
