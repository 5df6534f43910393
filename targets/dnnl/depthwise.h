/* A 1x1 convolution and the depthwise one behind it, as one match. */
#ifndef TARGETS_DNNL_DEPTHWISE_H
#define TARGETS_DNNL_DEPTHWISE_H

#include "targets/fused.h"

/* Both convolutions with what follows each; false when the match is not two. */
bool depthwise_read(
    struct fused f[2], const struct graph *g, const struct match *m);

#endif
