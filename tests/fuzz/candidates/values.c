#include "tests/fuzz/candidates/values.h"

#include <string.h>

const struct attr_values values[] = {
#define LIST(type, ...) \
	(uint32_t)(sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define INT(o, text, ...) \
	{OP_##o, text, VALUES_INT, LIST(int64_t, __VA_ARGS__), \
	    .ints = (const int64_t[]){__VA_ARGS__}},
#define FLOAT(o, text, ...) \
	{OP_##o, text, VALUES_FLOAT, LIST(float, __VA_ARGS__), \
	    .floats = (const float[]){__VA_ARGS__}},
#define STRING(o, text, ...) \
	{OP_##o, text, VALUES_STRING, LIST(char *, __VA_ARGS__), \
	    .strings = (const char *const[]){__VA_ARGS__}},
#define MADE(o, text) {.op = OP_##o, .name = text, .kind = VALUES_MADE},
#include "tests/fuzz/candidates/values.def"
#undef INT
#undef FLOAT
#undef STRING
#undef MADE
};

const uint32_t nvalues = sizeof values / sizeof *values;

bool
values_match(const struct attr_values *v, uint32_t k, const struct attr *attr)
{
	switch (v->kind) {
	case VALUES_INT:
		return attr->kind == ATTR_INT && attr->ints[0] == v->ints[k];
	case VALUES_FLOAT:
		return attr->kind == ATTR_FLOAT
		    && attr->floats[0] == v->floats[k];
	case VALUES_STRING:
		return attr->kind == ATTR_STRING
		    && attr->strings[0].n == strlen(v->strings[k])
		    && memcmp(attr->strings[0].s, v->strings[k],
		           attr->strings[0].n)
		    == 0;
	default:
		return true;
	}
}
