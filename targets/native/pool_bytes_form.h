/* The largest bytes under windows: what their kernels, compiled once for each instruction
 * set, and the code around them share. */
#ifndef TARGETS_NATIVE_POOL_BYTES_FORM_H
#define TARGETS_NATIVE_POOL_BYTES_FORM_H

#include "targets/native/integer_form.h"

#define POOL_TAPS 49 /* of the largest window */

/* Channels lie last. What lies around an image is less than anything. */
struct pool_bytes {
	struct integer_window window;
	size_t images;
	bool is_unsigned;
};

/* One row of an image's output. */
typedef void pool_bytes_run(
    const struct pool_bytes *p, size_t row, const uint8_t *in, uint8_t *out);

#endif
