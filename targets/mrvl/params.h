/* The cost simulator's parameters: values, ranges, and where they are from. */
#ifndef TARGETS_MRVL_PARAMS_H
#define TARGETS_MRVL_PARAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

enum param {
#define PARAM(name, value, low, high, provenance, favourable, unit, source) \
	PARAM_##name,
#include "targets/mrvl/params.def"
#undef PARAM
	NPARAM
};

enum provenance {
	PROVENANCE_PUBLISHED,
	PROVENANCE_INFERRED,
	PROVENANCE_ASSUMED,
	PROVENANCE_CALIBRATED,
};

struct param_value {
	double value, low, high; /* low <= value <= high */
	enum provenance provenance;
	const char *source;
};

struct params {
	struct param_value param[NPARAM];
};

struct param_info {
	const char *name, *unit;
	bool high_is_fast; /* larger values make everything faster */
};

const struct param_info *param_info(enum param p);
/* The parameter of that name, or NPARAM. */
enum param param_find(const char *name);
const char *provenance_name(enum provenance p);

void params_default(struct params *p);

/* Read a JSON file over the defaults: {"format": "marquetry-mrvl-params",
 * "version": 1, "params": {name: {value, low, high, provenance, source}}};
 * ERR_INPUT naming the parameter that is unknown or out of order. */
bool params_load(
    struct params *p, const char *path, struct arena *a, struct err *err);

/* Write all of them in the form params_load() takes. */
void params_write(FILE *f, const struct params *p);

#endif
