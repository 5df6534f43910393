/* The values attributes are tried with: values.def as data. */
#ifndef TESTS_FUZZ_CANDIDATES_VALUES_H
#define TESTS_FUZZ_CANDIDATES_VALUES_H

#include "ir/graph.h"

enum values_kind { VALUES_INT, VALUES_FLOAT, VALUES_STRING, VALUES_MADE };

struct attr_values {
	enum op op;
	const char *name;
	enum values_kind kind;
	uint32_t n; /* 0: MADE */
	const int64_t *ints;
	const float *floats;
	const char *const *strings;
};

extern const struct attr_values values[];
extern const uint32_t nvalues;

/* Has the attribute value k of the row? */
bool values_match(
    const struct attr_values *v, uint32_t k, const struct attr *attr);

#endif
