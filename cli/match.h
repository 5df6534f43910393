/* Which node of one model version is which of the other. */
#ifndef CLI_MATCH_H
#define CLI_MATCH_H

#include "cli/result_view.h"

#define NO_MATCH UINT32_MAX

struct nodes_match {
	const uint32_t *of_a; /* [a->nnodes] node of b, or NO_MATCH */
	const uint32_t *of_b; /* [b->nnodes] node of a, or NO_MATCH */
	uint32_t renamed; /* matched by where they lie, not by name */
	uint32_t nadded, nremoved; /* nodes of b, of a without a match */
};

/* By the name of what they make, else by their own, else by order: between two
 * nodes that are matched, operators of one type pair up as they come. */
void nodes_match(struct nodes_match *m, const struct result_view *a,
    const struct result_view *b, struct arena *arena);

#endif
