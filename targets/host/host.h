/* The host backend's numeric core, usable on its own: evaluates one node, or a
 * whole graph, on tensors of any static or dynamic shape. The reference that
 * everything else is compared with. */
#ifndef TARGETS_HOST_HOST_H
#define TARGETS_HOST_HOST_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/infer.h"

/* node_eval over every operator the host knows (control flow included).
 * ERR_UNSUPPORTED naming operator, version and dtype for what it does not. */
bool host_eval(const struct graph *g, const struct node *n,
    const struct tensor *const *in, struct tensor *out, struct arena *a,
    struct err *err);

/* Does host_eval() take this node (operator, version, dtypes)? The reason it
 * does not goes into err. */
bool host_takes(const struct graph *g, const struct node *n, struct err *err);

/* Run a whole graph: in[ninputs] -> out[noutputs], content in `a`. */
bool host_run(const struct graph *g, const struct tensor *in,
    struct tensor *out, struct arena *a, struct err *err);

#endif
