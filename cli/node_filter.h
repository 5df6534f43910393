/* Which nodes a question is about: those of the plan, and ONNX nodes that run
 * nowhere because they were folded or dropped. */
#ifndef CLI_NODE_FILTER_H
#define CLI_NODE_FILTER_H

#include "cli/answer.h"
#include "cli/job.h"

/* As the user wrote them; NULL: not asked. All of them must fit. */
struct node_filter {
	const char *node, *index, *op, *not_on;
	const char *at, *line; /* a module, a line of Python: of a result */
	bool all;
};

struct filtered {
	bool *node; /* [nnodes] of the plan's graph */
	uint32_t n; /* how many of them */
	const struct onnx_node **gone; /* [ngone] folded or dropped */
	uint32_t ngone;
};

/* After job_search(). ERR_USAGE when a name means nothing. */
bool node_filter_apply(struct filtered *p, const struct node_filter *args,
    struct job *j, struct err *err);

/* The number that --index gives; 0 when it is not asked for. */
bool node_filter_index(
    const struct node_filter *args, uint32_t *out, struct err *err);

/* One member, "nowhere". */
void filtered_tell_fates(const struct filtered *p, struct answer *a);

#endif
