#include "targets/mrvl/window.h"

#include <string.h>

static bool
read_pair(
    const struct node *n, const char *name, int64_t otherwise, int64_t out[2])
{
	uint32_t count;
	const int64_t *x = attr_ints(n, name, &count);

	out[0] = out[1] = otherwise;
	if (!x)
		return true;
	if (count != 2)
		return false;
	out[0] = x[0];
	out[1] = x[1];
	return true;
}

static bool
read_kernel(struct mrvl_window *w, const struct graph *g, const struct node *n)
{
	const struct value *weight;

	if (n->op != OP_CONV && n->op != OP_QLINEARCONV)
		return attr_ints(n, "kernel_shape", &(uint32_t){0})
		    && read_pair(n, "kernel_shape", 1, w->kernel);
	weight = node_in(g, n, n->op == OP_QLINEARCONV ? 3 : 1);
	if (!weight || weight->type.rank != 4)
		return false;
	w->kernel[0] = weight->type.dim[2];
	w->kernel[1] = weight->type.dim[3];
	return true;
}

/* ONNX: SAME_UPPER puts the odd one behind, SAME_LOWER before. */
static void
same_pads(struct mrvl_window *w, const int64_t *in, bool upper)
{
	for (int i = 0; i < 2; i++) {
		int64_t out = (in[2 + i] + w->stride[i] - 1) / w->stride[i];
		int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
		int64_t total = (out - 1) * w->stride[i] + reach - in[2 + i];

		if (total < 0)
			total = 0;
		w->pad[i] = upper ? total / 2 : total - total / 2;
		w->pad[2 + i] = total - w->pad[i];
	}
	w->same = true;
}

bool
window_of(struct mrvl_window *w, const struct graph *g, const struct node *n,
    const int64_t *in)
{
	struct string_view mode = attr_str_or(n, "auto_pad", "NOTSET");
	uint32_t count;
	const int64_t *pads = attr_ints(n, "pads", &count);

	memset(w, 0, sizeof *w);
	if (!read_kernel(w, g, n) || !read_pair(n, "strides", 1, w->stride)
	    || !read_pair(n, "dilations", 1, w->dilation))
		return false;
	for (int i = 0; i < 2; i++)
		if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
			return false;
	if (view_is(mode, "SAME_UPPER") || view_is(mode, "SAME_LOWER")) {
		same_pads(w, in, view_is(mode, "SAME_UPPER"));
		return true;
	}
	if (!pads || view_is(mode, "VALID"))
		return true;
	if (count != 4)
		return false;
	memcpy(w->pad, pads, sizeof w->pad);
	return true;
}

static const struct tensor *
constant_in(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct value *v = node_in(g, n, i);

	return v ? v->constant : NULL;
}

static bool
set_pads(struct padding *p, const int64_t *pads, size_t n)
{
	if (n != 2 * (size_t)p->rank)
		return false;
	for (uint32_t i = 0; i < p->rank; i++) {
		p->before[i] = pads[i];
		p->after[i] = pads[p->rank + i];
	}
	return true;
}

/* Pad-18's axes: pads are given for those dimensions only. */
static bool
set_axes(
    struct padding *p, const struct tensor *pads, const struct tensor *axes)
{
	size_t n = axes ? axes->count : p->rank;

	if (pads->count != 2 * n || n > p->rank)
		return false;
	for (size_t i = 0; i < n; i++) {
		int64_t axis = axes ? tensor_int(axes, i) : (int64_t)i;

		if (axis < 0)
			axis += p->rank;
		if (axis < 0 || axis >= p->rank)
			return false;
		p->before[axis] = tensor_int(pads, i);
		p->after[axis] = tensor_int(pads, n + i);
	}
	return true;
}

static const char *
pad_mode(struct string_view mode)
{
	static const char *const known[] = {"constant", "edge", "reflect"};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (view_is(mode, known[i]))
			return known[i];
	return "another";
}

bool
padding_of(struct padding *p, const struct graph *g, const struct node *n)
{
	const struct value *x = node_in(g, n, 0);
	struct string_view mode = attr_str_or(n, "mode", "constant");
	const struct tensor *pads, *value, *axes;
	uint32_t count;

	memset(p, 0, sizeof *p);
	if (!x || x->type.kind != TYPE_TENSOR || x->type.rank > 8)
		return false;
	p->rank = x->type.rank;
	p->mode = pad_mode(mode);
	if (n->opset < 11) {
		const int64_t *list = attr_ints(n, "pads", &count);

		if (!list)
			list = attr_ints(n, "paddings", &count);
		p->value = (double)attr_float_or(n, "value", 0);
		return list && set_pads(p, list, count);
	}
	pads = constant_in(g, n, 1);
	value = constant_in(g, n, 2);
	axes = constant_in(g, n, 3);
	if (!pads || (n->ninputs > 2 && node_in(g, n, 2) && !value)
	    || (n->ninputs > 3 && node_in(g, n, 3) && !axes))
		return false;
	if (value && value->count == 1)
		p->value = tensor_real(value, 0);
	return set_axes(p, pads, axes);
}
