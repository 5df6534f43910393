/* A batch manifest: models x mixes x shapes, in YAML, checked against a schema
 * (libcyaml): unknown keys, wrong types, aliases are refused with line and
 * column. Paths are relative to the manifest's folder. */
#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

/* One search: a model under one mix and one binding of shapes. */
struct unit {
	const char *name; /* "<model>@<mix>[@<shape>]": also its folder */
	const char *model_name, *mix_name;
	const char *model; /* path */
	uint32_t nargs;
	const char *const *arg; /* of `marq search`, without model and -o */
};

struct manifest {
	const char *out; /* folder of the results */
	uint32_t retries; /* further attempts of a failed unit, in one run */
	uint64_t unit_timeout_ns; /* 0: none */
	uint32_t nunits;
	const struct unit *unit; /* in manifest order */
};

/* ERR_USAGE naming the place for anything wrong with it. */
bool manifest_read(
    struct manifest *m, const char *path, struct arena *a, struct err *err);

#endif
