/* mod.params, array after array. */
#ifndef TARGETS_MRVL_DEVICE_PARAMS_READ_H
#define TARGETS_MRVL_DEVICE_PARAMS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/err.h"

#define PARAM_RANK 8u

struct param_array {
	const char *name; /* not ended */
	size_t nname;
	const char *dtype; /* "float32" */
	uint32_t rank;
	int64_t dim[PARAM_RANK];
	uint64_t bytes;
	const unsigned char *data;
};

/* Hand over each array of n bytes. ERR_INPUT with the place of what is no list of
 * arrays; what `take` says. */
bool params_read(const void *bytes, size_t n,
    bool (*take)(const struct param_array *p, void *context, struct err *err),
    void *context, struct err *err);

#endif
