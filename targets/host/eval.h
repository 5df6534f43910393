/* Evaluating a prepared call; between host.c, graphs and the target kind. */
#ifndef TARGETS_HOST_EVAL_H
#define TARGETS_HOST_EVAL_H

#include "targets/host/call.h"

/* Check what the node needs and run its kernel. */
bool host_call(struct call *c, struct err *err);

#endif
