/* The sliding window of a convolution or pooling node, all defaults resolved
 * against the inferred shapes. */
#ifndef TARGETS_WINDOW_H
#define TARGETS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

#define WINDOW_DIMS 3

struct window {
	uint32_t n; /* spatial dimensions: 1..3 */
	int64_t kernel[WINDOW_DIMS], stride[WINDOW_DIMS];
	int64_t dilation[WINDOW_DIMS]; /* 1 = dense */
	int64_t before[WINDOW_DIMS]; /* padding as the node states it */
	int64_t after[WINDOW_DIMS]; /* as far as the output reaches */
	int64_t more[WINDOW_DIMS]; /* output_padding of a transposed one */
	bool beyond; /* ceil_mode: the last window passes the stated padding */
};

/* Read node n with input 0 and output 0 of static shape, rank 3..5; false with
 * a few words in *fault when attributes and shapes make no sense. */
bool window_resolve(struct window *w, const struct graph *g,
    const struct node *n, const char **fault);
/* Does every position of the window have an element of the input under it? A
 * dilated one may lie on padding alone. */
bool window_meets_input(
    const struct window *w, const struct graph *g, const struct node *n);
/* window_resolve() of a ConvTranspose whose padding is stated. */
bool window_transposed(struct window *w, const struct graph *g,
    const struct node *n, const char **fault);

#endif
