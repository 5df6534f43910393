/* Sliding windows: what convolutions and pools share. Internal to ir/infer. */
#ifndef IR_INFER_WINDOW_H
#define IR_INFER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/infer/rule.h"

enum pad_mode { PAD_EXPLICIT, PAD_VALID, PAD_SAME_UPPER, PAD_SAME_LOWER };

/* Lists are NULL where absent: stride and dilation 1, pad 0. */
struct infer_window {
	uint32_t n; /* spatial dimensions */
	const int64_t *kernel; /* [n]; dimension codes where not known */
	const int64_t *stride, *dilation; /* [n] */
	const int64_t *pad; /* [2n]: begins, then ends */
	enum pad_mode mode;
	bool ceil;
};

/* Read strides, dilations, pads and auto_pad, checking lengths and ranges. */
bool window_read(
    struct site *s, uint32_t n, const int64_t *kernel, struct infer_window *w);

/* A list attribute of exactly `want` entries, each >= least; absent: NULL. */
bool window_list(struct site *s, const char *name, uint32_t want, int64_t least,
    const int64_t **out);

/* Rows one window covers: dilation * (kernel - 1) + 1. */
bool window_extent(
    struct site *s, const struct infer_window *w, uint32_t i, struct num *out);

/* Size of spatial dimension i after sliding over `in` rows. */
bool window_out(struct site *s, const struct infer_window *w, uint32_t i,
    int64_t in, int64_t *out);

/* The other way round, for operators that undo such a slide: stride * (out - 1)
 * + extent + extra - pads. */
bool window_in(struct site *s, const struct infer_window *w, uint32_t i,
    int64_t out, int64_t extra, int64_t *in);

#endif
