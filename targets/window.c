#include "targets/window.h"

#include <string.h>

static void
take_list(const struct node *n, const char *name, uint32_t count,
    int64_t otherwise, int64_t *out)
{
	uint32_t have = 0;
	const int64_t *list = attr_ints(n, name, &have);

	for (uint32_t i = 0; i < count; i++)
		out[i] = list != NULL && i < have ? list[i] : otherwise;
}

/* kernel_shape may be left out of a convolution: the weights say it. */
static bool
read_kernel(struct window *w, const struct graph *g, const struct node *n)
{
	const struct value *weight =
	    node_in(g, n, n->op == OP_QLINEARCONV ? 3 : 1);
	uint32_t have = 0;

	take_list(n, "kernel_shape", w->n, 1, w->kernel);
	if (attr_ints(n, "kernel_shape", &have) != NULL)
		return have == w->n;
	if (weight == NULL || weight->type.rank != w->n + 2)
		return false;
	memcpy(w->kernel, weight->type.dim + 2, w->n * sizeof *w->kernel);
	return true;
}

/* Padding in total that makes `in` give `out` exactly. */
static int64_t
needed(const struct window *w, uint32_t i, int64_t in, int64_t out)
{
	return (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i]
	    + 1 - in;
}

static void
read_padding(struct window *w, const struct node *n, const int64_t *in,
    const int64_t *out)
{
	struct string_view mode = attr_str_or(n, "auto_pad", "NOTSET");
	uint32_t have = 0;
	const int64_t *pads = attr_ints(n, "pads", &have);
	bool same = view_is(mode, "SAME_UPPER") || view_is(mode, "SAME_LOWER");
	bool stated =
	    view_is(mode, "NOTSET") && pads != NULL && have == 2 * w->n;

	for (uint32_t i = 0; i < w->n; i++) {
		int64_t need = needed(w, i, in[i], out[i]);
		int64_t total = need > 0 ? need : 0;

		w->before[i] = stated ? pads[i] : 0;
		w->after[i] = stated ? pads[w->n + i] : 0;
		if (same) {
			w->before[i] = view_is(mode, "SAME_UPPER")
			    ? total / 2
			    : total - total / 2;
			w->after[i] = total - w->before[i];
		}
		if (need - w->before[i] > w->after[i]) {
			w->after[i] = need - w->before[i];
			w->beyond = true;
		}
	}
}

/* Everything but the padding. */
static bool
read_window(struct window *w, const struct graph *g, const struct node *n,
    const char **fault)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);

	*w = (struct window){0};
	*fault = "not a window over 1 to 3 dimensions";
	if (in == NULL || out == NULL || !type_is_static(&in->type)
	    || !type_is_static(&out->type) || in->type.rank < 3
	    || in->type.rank > 5 || out->type.rank != in->type.rank)
		return false;
	w->n = in->type.rank - 2;
	take_list(n, "strides", w->n, 1, w->stride);
	take_list(n, "dilations", w->n, 1, w->dilation);
	*fault = "kernel_shape does not fit the input";
	if (!read_kernel(w, g, n))
		return false;
	*fault = "a kernel, stride or dilation is not positive";
	for (uint32_t i = 0; i < w->n; i++)
		if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
			return false;
	/* A window of one has nothing to spread; libraries refuse to. */
	for (uint32_t i = 0; i < w->n; i++)
		w->dilation[i] = w->kernel[i] == 1 ? 1 : w->dilation[i];
	*fault = NULL;
	return true;
}

bool
window_resolve(struct window *w, const struct graph *g, const struct node *n,
    const char **fault)
{
	if (!read_window(w, g, n, fault))
		return false;
	read_padding(w, n, node_in(g, n, 0)->type.dim + 2,
	    node_out(g, n, 0)->type.dim + 2);
	return true;
}

/* Each input is spread over a kernel's extent; padding is cut off. */
bool
window_transposed(struct window *w, const struct graph *g, const struct node *n,
    const char **fault)
{
	struct string_view mode = attr_str_or(n, "auto_pad", "NOTSET");
	const int64_t *in, *out;
	int64_t pads[2 * WINDOW_DIMS];

	if (!read_window(w, g, n, fault))
		return false;
	*fault = "its padding is not stated (auto_pad or output_shape)";
	if (!view_is(mode, "NOTSET") || node_attr(n, "output_shape") != NULL)
		return false;
	in = node_in(g, n, 0)->type.dim + 2;
	out = node_out(g, n, 0)->type.dim + 2;
	take_list(n, "pads", 2 * w->n, 0, pads);
	take_list(n, "output_padding", w->n, 0, w->more);
	*fault = "its padding is negative or does not fit the output";
	for (uint32_t i = 0; i < w->n; i++) {
		w->before[i] = pads[i];
		w->after[i] = pads[w->n + i];
		if (w->before[i] < 0 || w->after[i] < 0 || w->more[i] < 0
		    || out[i]
		        != (in[i] - 1) * w->stride[i]
		            + (w->kernel[i] - 1) * w->dilation[i] + 1
		            + w->more[i] - w->before[i] - w->after[i])
			return false;
	}
	*fault = NULL;
	return true;
}

static bool
meets(int64_t start, int64_t kernel, int64_t dilation, int64_t size)
{
	for (int64_t k = 0; k < kernel; k++)
		if (start + k * dilation >= 0 && start + k * dilation < size)
			return true;
	return false;
}

bool
window_meets_input(
    const struct window *w, const struct graph *g, const struct node *n)
{
	const struct type *in = &node_in(g, n, 0)->type;
	const struct type *out = &node_out(g, n, 0)->type;

	for (uint32_t i = 0; i < w->n; i++)
		for (int64_t o = 0; o < out->dim[2 + i]; o++)
			if (!meets(o * w->stride[i] - w->before[i],
			        w->kernel[i], w->dilation[i], in->dim[2 + i]))
				return false;
	return true;
}
