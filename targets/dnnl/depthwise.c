/* A 1x1 convolution and the depthwise 3x3 convolution behind it as one
 * primitive: what lies between them never reaches memory as a whole. */
#include "targets/dnnl/depthwise.h"

#include "targets/dnnl/accept.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/nan.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"
#include "targets/weights.h"

#define NEED why_need

bool
depthwise_read(struct fused f[2], const struct graph *g, const struct match *m)
{
	const char *fault;

	return fused_read_two(f, g, m, OP_CONV, &fault);
}

static bool
need_functions(struct why *why, const struct fused *f)
{
	bool ok = true;

	for (uint32_t i = 0; i < f->nsteps; i++)
		ok = ok && !step_is_binary(f->step[i].kind);
	return NEED(why, ok, "one_tensor", "functions of one tensor", "%s",
	           ok ? "they are" : "another tensor is read")
	    && (!f->norm || need_inference(why, f->norm));
}

/* Both chains are post-operations of one primitive. */
static bool
need_distinct(struct why *why, const struct fused f[2])
{
	struct step all[2 * STEPS_MAX];
	uint32_t n = 0;

	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t i = 0; i < f[k].nsteps; i++)
			all[n++] = f[k].step[i];
	return need_distinct_algorithms(why, all, n);
}

static bool
is_one(const struct window *w, const int64_t *x, int64_t want)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (x[i] != want)
			return false;
	return true;
}

static bool
need_pointwise(const struct match_in *m, struct why *why, const struct fused *f)
{
	struct window w;
	const int64_t group = attr_int_or(f->anchor, "group", 1);
	bool ok = need_window(m, why, f->anchor, &w);

	ok = ok
	    && NEED(why,
	        is_one(&w, w.kernel, 1) && is_one(&w, w.stride, 1)
	            && is_one(&w, w.before, 0) && is_one(&w, w.after, 0),
	        "first", "1x1, stride 1, no padding", "another window");
	return NEED(why, group == 1, "first_group", "1", "%d", (int)group)
	    && need_constant(m, why, f->anchor, 2, "bias") && ok;
}

/* The library's output is as large as the input, or half, rounded up. */
static bool
need_depthwise(const struct match_in *m, struct why *why, const struct fused *f)
{
	const struct node *n = f->anchor;
	const struct type *in = matched_type(m, n->input[0]);
	const struct type *out = matched_type(m, n->output[0]);
	const int64_t group = attr_int_or(n, "group", 1);
	struct window w;
	bool ok = need_window(m, why, n, &w), fits = true;

	if (!ok)
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		fits = fits
		    && out->dim[2 + i]
		        == (in->dim[2 + i] + w.stride[0] - 1) / w.stride[0];
	ok = NEED(why,
	    is_one(&w, w.kernel, 3) && is_one(&w, w.dilation, 1)
	        && is_one(&w, w.before, 1) && is_one(&w, w.stride, w.stride[0])
	        && w.stride[0] <= 2 && fits,
	    "second", "3x3, stride 1 or 2, padding of 1", "another window");
	ok = NEED(why, group == in->dim[1] && out->dim[1] == group,
	         "second_group", "one channel each", "%d groups of %d channels",
	         (int)group, (int)in->dim[1])
	    && ok;
	return need_constant(m, why, n, 2, "bias") && ok;
}

bool
accept_depthwise(const struct match_in *m, struct why *why)
{
	struct fused f[2];
	const char *fault;
	bool ok = need_all_tensors(m, why), two;

	if (!ok || !need_rank_in(m, why, matched_root(m)->output[0], 4, 4))
		return false;
	two = fused_read_two(f, m->graph, m->match, OP_CONV, &fault);
	if (!NEED(why, two, "two_convolutions", "one behind the other", "%s",
	        two ? "they are" : fault))
		return false;
	ok = need_pointwise(m, why, &f[0]);
	ok = need_depthwise(m, why, &f[1]) && ok;
	ok = need_functions(why, &f[0]) && ok;
	ok = need_functions(why, &f[1]) && ok;
	return need_distinct(why, f) && ok;
}

/* ---- how it is made ---- */

struct depthwise {
	struct fused second;
	struct conv_weights one, two;
	int64_t stride;
	struct md src, between, dst;
	struct md one_plain, two_plain, bias;
};

static bool
describe(struct build *b, struct depthwise *d)
{
	const struct graph *g = b->graph;
	const struct candidate *c = b->candidate;
	const struct node *n = d->second.anchor;
	const struct type *between = &node_in(g, n, 0)->type;
	const struct type *w = &node_in(g, b->fused.anchor, 1)->type;
	const int64_t channels = between->dim[1];
	const float *none = arena_new(b->scratch, float, (size_t)channels);
	uint32_t count;
	const int64_t *stride = attr_ints(n, "strides", &count);

	d->stride = stride ? stride[0] : 1;
	fused_conv_weights(&d->one, &b->fused, g, b->scratch);
	fused_conv_weights(&d->two, &d->second, g, b->scratch);
	d->two.bias = d->two.bias ? d->two.bias : none;
	desc_plain(&d->one_plain, w->rank, w->dim);
	desc_plain(&d->two_plain, 5, (int64_t[]){channels, 1, 1, 3, 3});
	desc_plain(&d->bias, 1, &channels);
	return desc_value(b, b->fused.anchor->input[0], &d->src)
	    && desc_value(b, d->second.end, &d->dst)
	    && desc_layout(&d->between,
	        b->target->formats->format[c->output[0].format].layout,
	        between);
}

static struct operation
operation_of(const struct depthwise *d)
{
	struct operation op = {
	    .kind = dnnl_convolution,
	    .alg = dnnl_convolution_direct,
	    .md = {[ROLE_SRC] = d->src,
	        [ROLE_WEIGHTS] = md_any(&d->one_plain),
	        [ROLE_DST] = d->between},
	    .window = {.stride = {1, 1}},
	};

	if (d->one.bias)
		op.md[ROLE_BIAS] = d->bias;
	return op;
}

static bool
bind(struct build *b, const struct depthwise *d, dnnl_primitive_desc_t pd)
{
	const int behind = DNNL_ARG_ATTR_POST_OP_DW;

	return bind_value(b, DNNL_ARG_SRC, b->fused.anchor->input[0], &d->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS, d->one.weights, &d->one_plain,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && (!d->one.bias
	        || bind_constant(
	            b, DNNL_ARG_BIAS, d->one.bias, &d->bias, &d->bias))
	    && bind_constant(b, behind | DNNL_ARG_WEIGHTS, d->two.weights,
	        &d->two_plain,
	        wanted(
	            b, pd, dnnl_query_exec_arg_md, behind | DNNL_ARG_WEIGHTS))
	    && bind_constant(
	        b, behind | DNNL_ARG_BIAS, d->two.bias, &d->bias, &d->bias)
	    && bind_value(b, DNNL_ARG_DST, d->second.end, &d->dst);
}

bool
build_depthwise(struct build *b)
{
	struct depthwise d = {0};
	struct fused f[2];
	struct operation op;
	dnnl_primitive_desc_t pd;
	const char *fault;
	bool ok;

	if (!fused_read_two(f, b->graph, b->candidate->match, OP_CONV, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "oneDNN: %s", fault);
	b->end.needed = false;
	if (b->candidate->implementation & WAY_KEEPS_NAN
	    && (!nan_kept(&f[0], NULL) || !nan_kept(&f[1], &b->end)))
		return err_set(b->err, ERR_INTERNAL, "NaN cannot be kept");
	b->fused = f[0];
	d.second = f[1];
	if (!describe(b, &d)
	    || !post_operations_depthwise(b, &d.second, d.stride))
		return false;
	op = operation_of(&d);
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	ok = bind(b, &d, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
