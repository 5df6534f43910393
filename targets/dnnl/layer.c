#include "targets/dnnl/layer.h"

#include <string.h>

#include "ir/base/huge_blocks.h"
#include "targets/dequantized.h"
#include "targets/window.h"

bool
check(struct build *b, dnnl_status_t s, const char *what)
{
	const char *words = "failed";

	switch (s) {
	case dnnl_success:
		return true;
	case dnnl_unimplemented:
		words = "not implemented by the library";
		break;
	case dnnl_invalid_arguments:
		words = "refused by the library (invalid arguments)";
		break;
	case dnnl_out_of_memory:
		words = "out of memory";
		break;
	default:
		break;
	}
	return err_set(b->err, ERR_UNSUPPORTED, "oneDNN: %s: %s", what, words);
}

void
desc_plain(struct md *md, uint32_t rank, const int64_t *dim)
{
	dnnl_dims_t dims, strides;
	int64_t stride = 1;

	for (uint32_t i = rank; i-- > 0;) {
		dims[i] = dim[i];
		strides[i] = stride;
		stride *= dim[i];
	}
	if (rank == 0)
		dims[rank++] = strides[0] = 1;
	*md = md_by_strides((int)rank, dims, strides);
}

void
desc_filters(struct md *md, const struct type *weight, int64_t group)
{
	int64_t dim[DNNL_MAX_NDIMS] = {group, weight->dim[0] / group};

	if (group == 1) {
		desc_plain(md, weight->rank, weight->dim);
		return;
	}
	for (uint32_t i = 1; i < weight->rank; i++)
		dim[i + 1] = weight->dim[i];
	desc_plain(md, weight->rank + 1, dim);
}

static const struct port *
find_port(
    const struct candidate *c, value_id v, bool *is_output, int32_t *index)
{
	*index = candidate_output(c, v);
	*is_output = *index >= 0;
	if (*is_output)
		return &c->output[*index];
	*index = candidate_input(c, v);
	return *index < 0 ? NULL : &c->input[*index];
}

static dnnl_format_tag_t
layout_tag(enum layout layout)
{
	switch (layout) {
	case LAYOUT_NHWC:
		return dnnl_nhwc;
	case LAYOUT_BLK8:
		return dnnl_nChw8c;
	case LAYOUT_BLK16:
		return dnnl_nChw16c;
	default:
		return dnnl_nchw;
	}
}

static dnnl_data_type_t
type_of(enum dtype t)
{
	return t == DT_UINT8  ? dnnl_u8
	    : t == DT_INT8    ? dnnl_s8
	    : t == DT_INT32   ? dnnl_s32
	    : t == DT_FLOAT16 ? dnnl_f16
	                      : dnnl_f32;
}

bool
desc_layout(struct md *md, enum layout layout, const struct type *t)
{
	if (layout == LAYOUT_PLAIN)
		desc_plain(md, t->rank, t->dim);
	else if (t->rank == 4)
		*md = md_by_tag(4, t->dim, layout_tag(layout));
	else
		return false;
	md->type = type_of(t->dtype);
	return true;
}

bool
desc_value(struct build *b, value_id v, struct md *md)
{
	const struct type *t = &graph_value(b->graph, v)->type;
	enum layout layout = LAYOUT_PLAIN;
	const struct port *p;
	bool is_output;
	int32_t index;

	p = find_port(b->candidate, v, &is_output, &index);
	if (p != NULL)
		layout = b->target->formats->format[p->format].layout;
	if (!desc_layout(md, layout, t))
		return err_set(
		    b->err, ERR_UNSUPPORTED, "oneDNN: layout refused");
	return true;
}

/* A constant as large as the result is laid out as that is: SOURCE: kernels of
 * 2.6.3 read it so whatever its descriptor says. */
static bool
desc_like_result(struct build *b, const struct type *t, struct md *md)
{
	const struct port *p = &b->candidate->output[0];
	const struct type *out = &graph_value(b->graph, p->value)->type;

	if (t->rank != 4 || out->rank != 4
	    || memcmp(t->dim, out->dim, 4 * sizeof *t->dim) != 0)
		return false;
	return desc_layout(md, b->target->formats->format[p->format].layout, t);
}

static bool
desc_broadcast(struct build *b, value_id v, uint32_t rank, struct md *md)
{
	const struct type *t = &graph_value(b->graph, v)->type;
	int64_t dim[DNNL_MAX_NDIMS];

	if (t->rank == rank && graph_value(b->graph, v)->constant
	    && desc_like_result(b, t, md))
		return true;
	if (t->rank == rank)
		return desc_value(b, v, md);
	if (t->rank > rank) { /* leading dimensions taken as one */
		dim[0] = 1;
		for (uint32_t i = 0; i < t->rank; i++)
			if (i <= t->rank - rank)
				dim[0] *= t->dim[i];
			else
				dim[i - (t->rank - rank)] = t->dim[i];
		desc_plain(md, rank, dim);
		return true;
	}
	for (uint32_t i = 0; i < rank; i++)
		dim[i] = i < rank - t->rank ? 1 : t->dim[i - (rank - t->rank)];
	desc_plain(md, rank, dim);
	return true;
}

bool
desc_operand(struct build *b, value_id v, uint32_t rank, struct md *md)
{
	if (!desc_broadcast(b, v, rank, md))
		return false;
	md->type = type_of(graph_value(b->graph, v)->type.dtype);
	return true;
}

static bool
add_argument(
    struct build *b, int arg, dnnl_memory_t memory, struct argument how)
{
	struct dnnl_layer *l = b->layer;

	if (l->nargs == l->cap) {
		uint32_t cap = l->cap;

		l->arg = arena_grow(
		    b->arena, l->arg, &cap, l->nargs + 1, sizeof *l->arg);
		cap = l->cap;
		l->how = arena_grow(
		    b->arena, l->how, &cap, l->nargs + 1, sizeof *l->how);
		l->cap = cap;
	}
	l->arg[l->nargs] = (dnnl_exec_arg_t){arg, memory};
	l->how[l->nargs++] = how;
	return true;
}

bool
bind_value(struct build *b, int arg, value_id v, const struct md *md)
{
	struct argument how = {0};
	dnnl_memory_t memory;

	if (graph_value(b->graph, v)->constant) /* described as in C order */
		return bind_constant(b, arg, constant_floats(b, v), md, md);
	if (find_port(b->candidate, v, &how.is_output, &how.port) == NULL)
		return err_set(b->err, ERR_INTERNAL,
		    "value #%u is no port of its candidate", v);
	return check(b,
	           md_memory(&memory, md, b->layer->engine, DNNL_MEMORY_NONE),
	           "memory")
	    && add_argument(b, arg, memory, how);
}

bool
memory_new(struct build *b, dnnl_memory_t *m, const struct md *md)
{
	void *block = huge_block_new(md_size(md));

	if (!block)
		return check(b,
		    md_memory(m, md, b->layer->engine, DNNL_MEMORY_ALLOCATE),
		    "memory");
	if (check(b, md_memory(m, md, b->layer->engine, block), "memory"))
		return true;
	huge_block_free(block);
	return false;
}

void
memory_release(dnnl_memory_t m)
{
	void *at = NULL;

	if (dnnl_memory_get_data_handle(m, &at) != dnnl_success)
		at = NULL;
	dnnl_memory_destroy(m);
	huge_block_free(at);
}

bool
bind_wanted(struct build *b, int arg, value_id v, const struct md *md)
{
	struct argument how = {.port = -1};
	dnnl_memory_t memory;

	if (v != VALUE_NONE
	    && find_port(b->candidate, v, &how.is_output, &how.port) != NULL)
		return bind_value(b, arg, v, md);
	return check(b,
	           md_memory(
	               &memory, md, b->layer->engine, DNNL_MEMORY_ALLOCATE),
	           "memory")
	    && add_argument(b, arg, memory, how);
}

bool
reorder_memory(struct build *b, dnnl_memory_t from, dnnl_memory_t to,
    const struct md *is, const struct md *want)
{
	dnnl_engine_t e = b->layer->engine;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;
	const dnnl_exec_arg_t arg[] = {
	    {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
	bool ok = check(b, md_reorder(&pd, is, want, e), "packing")
	    && check(b, dnnl_primitive_create(&p, pd), "packing")
	    && check(b, dnnl_primitive_execute(p, b->layer->stream, 2, arg),
	        "packing")
	    && check(b, dnnl_stream_wait(b->layer->stream), "packing");

	if (p)
		dnnl_primitive_destroy(p);
	if (pd)
		dnnl_primitive_desc_destroy(pd);
	return ok;
}

bool
bind_memory(struct build *b, int arg, dnnl_memory_t memory)
{
	return add_argument(b, arg, memory, (struct argument){.port = -1});
}

bool
bind_packed(struct build *b, int arg, const void *data, const struct md *is,
    const struct md *want)
{
	dnnl_engine_t e = b->layer->engine;
	dnnl_memory_t from = NULL, to = NULL;
	bool ok;
	/* The library's type for a buffer is not const; it only reads it. */
	union {
		const void *in;
		void *out;
	} bytes = {.in = data};

	ok = check(b, md_memory(&from, is, e, bytes.out), "constant")
	    && memory_new(b, &to, want)
	    && reorder_memory(b, from, to, is, want);
	if (from)
		dnnl_memory_destroy(from);
	if (!ok) {
		if (to)
			memory_release(to);
		return false;
	}
	return bind_memory(b, arg, to);
}

bool
bind_constant(struct build *b, int arg, const void *data, const struct md *as,
    const struct md *want)
{
	struct md is = *as;

	is.type = is.type == dnnl_f16 ? dnnl_f32 : is.type;
	return bind_packed(b, arg, data, &is, want);
}

bool
bind_operand(struct build *b, int arg, value_id v, const struct md *md)
{
	struct md plain;

	if (graph_value(b->graph, v)->constant == NULL)
		return bind_value(b, arg, v, md);
	desc_plain(&plain, (uint32_t)md->ndims, md->dims);
	return bind_constant(b, arg, constant_floats(b, v), &plain, md);
}

const float *
constant_floats(struct build *b, value_id v)
{
	return constant_as_floats(
	    graph_value(b->graph, v)->constant, b->scratch);
}

const char *
implementation_info(const_dnnl_primitive_desc_t pd)
{
	const char *info = "";

	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &info);
	return info;
}

static bool
is_reference(const char *info)
{
	return strncmp(info, "ref", 3) == 0;
}

/* TUNING: a reference loop is 100 times slower than anything else here; with so
 * few products (milliseconds') it may be timed like the rest. */
#define REFERENCE_PRODUCTS (1u << 20)

static bool
need_fast(struct build *b, const_dnnl_primitive_desc_t pd, double products,
    const char *what)
{
	const char *info = implementation_info(pd);

	return products <= REFERENCE_PRODUCTS || !is_reference(info)
	    || err_set(b->err, ERR_UNSUPPORTED,
	        "oneDNN: %s: only a reference loop (%s)", what, info);
}

bool
need_kernel(struct build *b, const_dnnl_primitive_desc_t pd,
    const struct type *out, const struct type *weight)
{
	double products = 1;

	for (uint32_t i = 0; i < out->rank; i++)
		products *= (double)out->dim[i];
	for (uint32_t i = 1; i < weight->rank; i++)
		products *= (double)weight->dim[i];
	return need_fast(b, pd, products, "convolution");
}

bool
need_product(struct build *b, const_dnnl_primitive_desc_t pd,
    const struct md *src, const struct md *dst)
{
	double products = (double)src->dims[src->ndims - 1];

	for (int i = 0; i < dst->ndims; i++)
		products *= (double)dst->dims[i];
	return need_fast(b, pd, products, "product");
}

const struct md *
wanted(struct build *b, const_dnnl_primitive_desc_t pd, dnnl_query_t what,
    int index)
{
	struct md *md = arena_new(b->arena, struct md, 1);

	*md = md_wanted(pd, what, index);
	return md;
}

bool
make_from(struct build *b, dnnl_primitive_desc_t pd)
{
	return check(
	    b, dnnl_primitive_create(&b->layer->primitive, pd), "primitive");
}

bool
make_primitive(struct build *b, const struct operation *op, uint32_t nth,
    dnnl_primitive_desc_t *pd)
{
	if (!check(b,
	        operation_describe(pd, op, b->layer->engine, b->attr, nth),
	        nth ? "further implementation" : "operation"))
		return false;
	if (make_from(b, *pd))
		return true;
	dnnl_primitive_desc_destroy(*pd);
	*pd = NULL;
	return false;
}

void
layer_dims(struct dnnl_window *d, const struct window *w)
{
	memset(d, 0, sizeof *d);
	for (uint32_t i = 0; i < w->n; i++) {
		d->kernel[i] = w->kernel[i];
		d->stride[i] = w->stride[i];
		d->holes[i] = w->dilation[i] - 1;
		d->before[i] = w->before[i];
		d->after[i] = w->after[i];
	}
}
