/* Where something of a result comes from: a region, a function or a layer that a
 * backend is given, a constant, a conversion, back to the author's nodes, modules and
 * lines; and what an initialiser became. From its source map alone. */
#ifndef CLI_EXPLAIN_ORIGIN_H
#define CLI_EXPLAIN_ORIGIN_H

#include "cli/cli.h"

struct cJSON;

/* ERR_USAGE, with what is near, when nothing of the map (checked: page_check) is
 * called `what`. */
bool explain_origin(const struct cli *c, const struct cJSON *map,
    const char *what, struct err *err);

#endif
