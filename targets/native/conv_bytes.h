/* What kernels of convolutions of bytes read of a match: QLinearConv, or what exporters
 * write between quantisers. */
#ifndef TARGETS_NATIVE_CONV_BYTES_H
#define TARGETS_NATIVE_CONV_BYTES_H

#include "targets/integer.h"
#include "targets/native/integer_form.h"
#include "targets/window.h"

struct conv_bytes {
	const struct graph *graph; /* with constants that the node lacks */
	const struct node *node;
	const struct type *in, *out;
	const struct tensor *weights, *weights_zero; /* zero: or NULL */
	struct window window;
	struct requantising how;
	int32_t from_zero; /* of what comes in */
};

/* ERR_UNSUPPORTED where a window or a scale makes no sense. What need_integer() took. */
bool conv_bytes_read(struct conv_bytes *b, const struct graph *g,
    const struct candidate *c, struct arena *a, struct err *err);

/* Number i of a filter's weights, less its zero. */
int32_t conv_bytes_weight(const struct conv_bytes *b, size_t filter, size_t i);

/* A window, and the images' sizes: of tensors of rank 4. */
struct integer_window integer_window_of(
    const struct window *w, const struct type *in, const struct type *out);

#endif
