/* Reads mod.json and mod.params as TVM's graph executor and the device's driver
 * do, and says which of their rules is broken. */
#ifndef TARGETS_MRVL_DEVICE_READ_H
#define TARGETS_MRVL_DEVICE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/err.h"

struct device_facts {
	uint32_t ninputs, noutputs, nparams, nfunctions, nregions, nstorage;
	uint64_t param_bytes;
	uint64_t pool_bytes; /* of all storages */
};

/* n bytes of mod.json and m of mod.params. ERR_INPUT naming the node, the rule
 * and the value. */
bool device_check(struct device_facts *out, const char *json, size_t n,
    const void *params, size_t m, struct err *err);

/* The same of two files. */
bool device_read(struct device_facts *out, const char *json_path,
    const char *params_path, struct err *err);

#endif
