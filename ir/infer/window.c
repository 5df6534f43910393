/* Sliding windows: what convolutions and pools share. */
#include "ir/infer/window.h"

#include <inttypes.h>

static bool
read_auto_pad(struct site *s, struct infer_window *w)
{
	struct string_view v = attr_str_or(s->n, "auto_pad", "NOTSET");

	if (view_is(v, "NOTSET") || view_is(v, ""))
		w->mode = PAD_EXPLICIT;
	else if (view_is(v, "VALID"))
		w->mode = PAD_VALID;
	else if (view_is(v, "SAME_UPPER"))
		w->mode = PAD_SAME_UPPER;
	else if (view_is(v, "SAME_LOWER"))
		w->mode = PAD_SAME_LOWER;
	else
		return fault(s, "auto_pad '%.*s' is not known", (int)v.n, v.s);
	return true;
}

/* A list attribute of exactly `want` entries, each >= least; absent: NULL. */
bool
window_list(struct site *s, const char *name, uint32_t want, int64_t least,
    const int64_t **out)
{
	uint32_t n;

	*out = attr_ints(s->n, name, &n);
	if (!*out)
		return true;
	if (n != want)
		return fault(s,
		    "%s has %" PRIu32 " entries, %" PRIu32 " are needed", name,
		    n, want);
	for (uint32_t i = 0; i < n; i++)
		if ((*out)[i] < least)
			return fault(s,
			    "%s[%" PRIu32 "] is %" PRId64 ", at least %" PRId64
			    " is needed",
			    name, i, (*out)[i], least);
	return true;
}

bool
window_read(
    struct site *s, uint32_t n, const int64_t *kernel, struct infer_window *w)
{
	*w = (struct infer_window){.n = n, .kernel = kernel};
	w->ceil = attr_int_or(s->n, "ceil_mode", 0) != 0;
	if (!read_auto_pad(s, w) || !window_list(s, "strides", n, 1, &w->stride)
	    || !window_list(s, "dilations", n, 1, &w->dilation))
		return false;
	if (w->mode != PAD_EXPLICIT)
		return true;
	return window_list(s, "pads", 2 * n, 0, &w->pad);
}

/* Rows one window covers: dilation * (kernel - 1) + 1. */
bool
window_extent(
    struct site *s, const struct infer_window *w, uint32_t i, struct num *out)
{
	int64_t dilation = w->dilation ? w->dilation[i] : 1;
	struct num kernel = num_dim(w->kernel[i]);

	if (kernel.known && kernel.v < 1)
		return fault(s, "kernel[%" PRIu32 "] is %" PRId64, i, kernel.v);
	return site_add(s, kernel, num_int(-1), out)
	    && site_mul(s, *out, num_int(dilation), out)
	    && site_add(s, *out, num_int(1), out);
}

static bool
ceil_div(struct site *s, struct num a, int64_t b, struct num *out)
{
	return site_add(s, a, num_int(b - 1), out)
	    && num_div_floor(&s->pass->symbols, *out, num_int(b), out);
}

/* Windows that would start in the padding behind the input do not count. */
static void
drop_last_outside(
    const struct infer_window *w, uint32_t i, int64_t in, struct num *out)
{
	int64_t stride = w->stride ? w->stride[i] : 1;
	int64_t before = w->pad ? w->pad[i] : 0;

	if (out->known && out->v > 0 && (out->v - 1) * stride >= in + before)
		out->v--;
}

static bool
explicit_dim(struct site *s, const struct infer_window *w, uint32_t i,
    int64_t in, struct num *out)
{
	int64_t stride = w->stride ? w->stride[i] : 1;
	struct num room = num_dim(in), extent, spare;

	if (!window_extent(s, w, i, &extent))
		return false;
	if (w->pad
	    && (!site_add(s, room, num_int(w->pad[i]), &room)
	        || !site_add(s, room, num_int(w->pad[i + w->n]), &room)))
		return false;
	if (!num_sub(&s->pass->symbols, room, extent, &spare))
		return fault(s, "padded input overflows");
	if (spare.known && spare.v < 0)
		return fault(s,
		    "kernel covers %" PRId64 " but dimension %" PRIu32
		    " with its padding is only %" PRId64,
		    extent.v, i + 2, room.v);
	if (w->ceil) {
		if (!ceil_div(s, spare, stride, out))
			return false;
	} else {
		num_div_floor(&s->pass->symbols, spare, num_int(stride), out);
	}
	if (!site_add(s, *out, num_int(1), out))
		return false;
	if (w->ceil && in >= 0)
		drop_last_outside(w, i, in, out);
	return true;
}

bool
window_out(struct site *s, const struct infer_window *w, uint32_t i, int64_t in,
    int64_t *out)
{
	int64_t stride = w->stride ? w->stride[i] : 1;
	struct num n, extent;

	if (w->mode == PAD_SAME_UPPER || w->mode == PAD_SAME_LOWER) {
		if (!window_extent(s, w, i, &extent)
		    || !ceil_div(s, num_dim(in), stride, &n))
			return false;
	} else if (!explicit_dim(s, w, i, in, &n)) {
		return false;
	}
	*out = num_as_dim(n);
	return true;
}

bool
window_in(struct site *s, const struct infer_window *w, uint32_t i, int64_t out,
    int64_t extra, int64_t *in)
{
	int64_t stride = w->stride ? w->stride[i] : 1;
	struct num n = num_dim(out), extent;

	if (!window_extent(s, w, i, &extent) || !site_add(s, n, num_int(-1), &n)
	    || !site_mul(s, n, num_int(stride), &n)
	    || !site_add(s, n, extent, &n)
	    || !site_add(s, n, num_int(extra), &n))
		return false;
	if (w->pad
	    && (!site_add(s, n, num_int(-w->pad[i]), &n)
	        || !site_add(s, n, num_int(-w->pad[i + w->n]), &n)))
		return false;
	if (n.known && n.v < 0)
		return fault(s,
		    "output dimension %" PRIu32 " would be %" PRId64, i + 2,
		    n.v);
	*in = num_as_dim(n);
	return true;
}
