/* What a plug-in says it is: the JSON text of its table. */
#ifndef TARGETS_PLUGIN_ABOUT_H
#define TARGETS_PLUGIN_ABOUT_H

#include "targets/declared.h"

/* Versions of a domain that it takes. */
struct about_opset {
	const char *domain;
	uint32_t first, last;
};

struct about {
	const char *name, *summary;
	struct target_option *option; /* ends with a NULL name */
	struct rule *rule; /* [nrules]; without a predicate */
	struct declared *declared; /* [nrules] their conditions */
	uint32_t nrules;
	struct about_opset *opset; /* [nopsets]; none: any */
	uint32_t nopsets;
	const char **unpriced; /* [nunpriced] options no price depends on */
	uint32_t nunpriced;
	uint64_t types; /* mask of dtypes at ports; 0: any */
	uint32_t
	    compile_ms; /* about what compiling takes; 0: it does not say */
	bool gaps; /* matches only where nothing but the host has a kernel */
	bool regions; /* larger parts are offered, too */
	bool authored; /* ... also with operators as their author has them */
	bool spins; /* its threads may run between calls */
};

/* The versions it takes of a domain; NULL: it does not say. */
const struct about_opset *about_opset(
    const struct about *about, const char *domain);

/* Can it be a plug-in's, or an option's? A word of plans and command lines. */
bool about_name_ok(const char *name);

/* ERR_INPUT naming what is wrong. */
bool about_read(struct about *out, const char *text, size_t n, struct arena *a,
    struct err *err);

#endif
