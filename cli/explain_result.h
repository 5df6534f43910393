/* `marq explain RESULT`: what the documents of a result say of its nodes. No
 * model, target or database is opened, and nothing is searched or measured. */
#ifndef CLI_EXPLAIN_RESULT_H
#define CLI_EXPLAIN_RESULT_H

#include "cli/cli.h"
#include "cli/node_filter.h"

/* What is asked of a result; the first that is there is answered. */
struct result_question {
	const char *origin; /* where that comes from (explain_origin.h) */
	const char *by, *run; /* costs (explain_cost.h), and a run's file */
	const struct node_filter *filter; /* nodes */
};

/* ERR_IO or ERR_INPUT when `folder` holds no whole result, ERR_USAGE when it has
 * no such node. */
bool explain_result(const struct cli *c, const char *folder,
    const struct result_question *q, struct err *err);

#endif
