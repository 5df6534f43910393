/* The rules that enumerate candidates: seeds, and how sets combine. */
#ifndef TESTS_CONFORMANCE_COLLAGE_RULES_H
#define TESTS_CONFORMANCE_COLLAGE_RULES_H

#include "tests/conformance/collage/sets.h"

struct rules {
	struct {
		enum kind up, down;
	} pair[4];
	uint32_t npairs, max_depth;
	bool tuple_arg, tuple_proj, constant;
};

extern const struct rules rules_native_like;

/* The combiners and the depth limit of a rule of the file. */
void rules_read(const cJSON *rule, struct rules *r);

/* Single operators that can be fused; what a pattern matches. */
void seed_by_kind(const struct dag *d, struct sets *s);
void seed_by_pattern(const struct dag *d, const cJSON *pattern, struct sets *s);

/* All unions the rules reach: to a fixed point, every pair tried. `upstream`:
 * as Collage does it, which after the first round tries only what was new in
 * the round before as the upper half. */
void rules_combine(
    const struct dag *d, struct sets *s, const struct rules *r, bool upstream);

#endif
