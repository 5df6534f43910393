/* The kernels: one prototype a HOST row of schema.def (a function that serves many
 * operators is declared as often, which C allows). */
#ifndef TARGETS_HOST_KERNELS_H
#define TARGETS_HOST_KERNELS_H

#include "targets/host/call.h"

#define HOST(op, function, takes) kernel_run function;
#include "ir/schema.def"

/* x within low..high; NaN stays what it is. */
static inline double
bounded(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

#endif
