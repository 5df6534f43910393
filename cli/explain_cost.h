/* What modules, lines of Python, operators and targets of a result cost: from its
 * own documents, nothing is measured. */
#ifndef CLI_EXPLAIN_COST_H
#define CLI_EXPLAIN_COST_H

#include <stdbool.h>

#include "cli/cli.h"

struct cJSON;

/* The documents of a result, checked (page_check). */
struct cost_docs {
	const struct cJSON *result, *map;
	const char *run; /* a file: what `marq run --format=json` printed of it;
	                  * times are its, or NULL: as predicted */
};

/* module, line, op, target, folded or speedscope. */
bool explain_cost_check(const char *by, struct err *err);
bool explain_cost(const struct cli *c, const struct cost_docs *d,
    const char *by, struct err *err);

/* What a name of a module means: the module of that path, or all whose paths end
 * so ("layers.0.attn"). */
struct modules {
	uint32_t n;
	bool is_whole; /* it is a path */
	const struct cJSON *first; /* of the map's scopes */
};

/* Is an ONNX node of the map in a module of that name, or called by the line
 * ("modeling_bert.py:212")? `whole`: the name is a path. */
bool cost_is_in_module(const struct cJSON *map, const struct cJSON *onnx,
    const char *name, bool whole);
bool cost_is_of_line(
    const struct cJSON *map, const struct cJSON *onnx, const char *line);

/* Does the map have that module or line? ERR_USAGE with what is near, or what is
 * missing where the exporter wrote nothing. */
bool cost_has_module(const struct cJSON *map, const char *name,
    struct modules *out, struct arena *a, struct err *err);
bool cost_has_line(const struct cJSON *map, const char *line,
    const struct cJSON **first, struct err *err);

#endif
