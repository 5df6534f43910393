#include "targets/native/conv_bytes.h"

bool
conv_bytes_read(struct conv_bytes *b, const struct graph *g,
    const struct candidate *c, struct arena *a, struct err *err)
{
	const struct node *n = match_as_node(c->match, g);
	const struct graph *in = match_graph(c->match, g);
	const struct integer_places *at = integer_places(n);
	const char *fault;

	*b = (struct conv_bytes){.graph = in,
	    .node = n,
	    .in = &node_in(in, n, 0)->type,
	    .out = &node_out(in, n, 0)->type,
	    .weights = integer_constant(in, n, at->w),
	    .weights_zero = integer_constant(in, n, at->w_zero),
	    .from_zero =
	        (int32_t)integer_entry(integer_constant(in, n, at->x_zero), 0)};
	if (!window_resolve(&b->window, in, n, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	return requantising_of(&b->how, in, n, (size_t)b->out->dim[1], a)
	    || err_set(err, ERR_UNSUPPORTED, "native: a scale is out of range");
}

int32_t
conv_bytes_weight(const struct conv_bytes *b, size_t filter, size_t i)
{
	const size_t each = b->weights->count / (size_t)b->weights->dim[0];

	return (int32_t)tensor_real(b->weights, filter * each + i)
	    - (int32_t)integer_entry(b->weights_zero, filter);
}

static bool
is_in_place(const struct window *w)
{
	bool one = true;

	for (uint32_t i = 0; i < 2; i++)
		one = one && w->kernel[i] == 1 && w->stride[i] == 1
		    && w->before[i] == 0 && w->after[i] == 0;
	return one;
}

struct integer_window
integer_window_of(
    const struct window *w, const struct type *in, const struct type *out)
{
	struct integer_window to = {.height = (size_t)in->dim[2],
	    .width = (size_t)in->dim[3],
	    .channels = (size_t)in->dim[1],
	    .rows = (size_t)out->dim[2],
	    .columns = (size_t)out->dim[3],
	    .in_place = is_in_place(w)};

	for (uint32_t i = 0; i < 2; i++) {
		to.kernel[i] = (size_t)w->kernel[i];
		to.stride[i] = w->stride[i];
		to.dilation[i] = w->dilation[i];
		to.before[i] = w->before[i];
	}
	return to;
}
