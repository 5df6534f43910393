/* Which nodes a question is about: those of the plan, and ONNX nodes that run
 * nowhere because they were folded or dropped. */
#ifndef CLI_PICK_H
#define CLI_PICK_H

#include "cli/job.h"

/* As the user wrote them; NULL: not asked. All of them must fit. */
struct pick_args {
	const char *node, *index, *op, *not_on;
	bool all;
};

struct pick {
	bool *node; /* [nnodes] of the plan's graph */
	uint32_t n; /* how many of them */
	const struct onnx_node **gone; /* [ngone] folded or dropped */
	uint32_t ngone;
};

/* After job_search(). ERR_USAGE when a name means nothing. */
bool pick_nodes(struct pick *p, const struct pick_args *args, struct job *j,
    struct err *err);

/* The number that --index gives; 0 when it is not asked for. */
bool pick_index(const struct pick_args *args, uint32_t *out, struct err *err);

void pick_print_fates(const struct pick *p);
struct json;
/* One member, "nowhere". */
void pick_write_fates(const struct pick *p, struct json *w);

#endif
