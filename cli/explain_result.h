/* `marq explain RESULT`: what the documents of a result say of its nodes. No
 * model, target or database is opened, and nothing is searched or measured. */
#ifndef CLI_EXPLAIN_RESULT_H
#define CLI_EXPLAIN_RESULT_H

#include "cli/cli.h"
#include "cli/node_filter.h"

/* With `by`: costs (explain_cost.h) instead of nodes; with `origin`: where that comes
 * from (explain_origin.h). ERR_IO or ERR_INPUT when `folder` holds no whole result, ERR_USAGE when it has
 * no such node. */
bool explain_result(const struct cli *c, const char *folder,
    const struct node_filter *filter, const char *by, const char *origin,
    struct err *err);

#endif
