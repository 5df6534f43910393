/* Geometry of convolutions, pools and pads as ONNX writes it. */
#ifndef TARGETS_MRVL_WINDOW_H
#define TARGETS_MRVL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

struct mrvl_window {
	int64_t kernel[2], stride[2], dilation[2];
	int64_t pad[4]; /* top, left, bottom, right */
	bool same; /* auto_pad says SAME_*: pads were worked out */
};

/* Of a 2-D Conv or pool over `in` [N,C,H,W]; false when an attribute does not
 * have two (pads: four) entries. Kernel of Conv: from its weight's dims. */
bool window_of(struct mrvl_window *w, const struct graph *g,
    const struct node *n, const int64_t *in);

struct padding {
	const char *mode; /* "constant", "edge", "reflect" or "another" */
	uint32_t rank;
	int64_t before[8], after[8];
	double value;
};

/* Of a Pad node, whatever its opset; false when not constant or not static. */
bool padding_of(struct padding *p, const struct graph *g, const struct node *n);

#endif
