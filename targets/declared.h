/* Rules as data: a pattern in its text form and conditions on what its names
 * caught. targets/rules/README.md has the schema. */
#ifndef TARGETS_DECLARED_H
#define TARGETS_DECLARED_H

#include "targets/target.h"

struct cJSON;

/* The conditions of one rule. */
struct declared {
	uint32_t nwhere;
	const struct where *where; /* [nwhere] */
};

/* Read one rule, but for its cost, which is whose rules they are. */
bool declared_read(struct rule *r, struct declared *d, const struct cJSON *o,
    struct arena *a, struct err *err);

/* Name, pattern and taps alone. */
bool declared_rule(
    struct rule *r, const struct cJSON *o, struct arena *a, struct err *err);

/* Has rule[n] a name that none before it has? Plans, which are read again, name
 * rules. */
bool declared_is_new(const struct rule *rule, uint32_t n, struct err *err);

/* Do the conditions hold? */
bool declared_accepts(
    const struct declared *d, const struct match_in *m, struct why *why);

#endif
