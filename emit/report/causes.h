/* Why nodes do not run on a target, each node once: under the rule that came
 * nearest to taking it. */
#ifndef EMIT_REPORT_CAUSES_H
#define EMIT_REPORT_CAUSES_H

#include <stdio.h>

#include "emit/report/view.h"

enum cause_kind {
	CAUSE_REFUSED, /* a rule matched, and a condition failed */
	CAUSE_NO_RULE, /* none begins with this operator */
	CAUSE_DEARER, /* it may, and the plan would cost more */
};

struct cause_op {
	const char *op;
	uint32_t n;
};

struct cause {
	enum cause_kind kind;
	const char *condition, *required; /* of a refusal */
	const char *actual; /* the first node's */
	bool varies; /* another node has another one */
	uint32_t nnodes, first; /* the first node */
	uint32_t nops;
	struct cause_op *op; /* most nodes first */
	uint64_t work; /* of composites with such nodes, today */
	uint64_t moves; /* of the conversions around them */
};

struct causes {
	uint32_t target, n;
	struct cause *item; /* what costs most today first */
	uint32_t *of; /* [nnodes] into item, or PAGE_NONE */
	struct page_index nodes; /* cause -> nodes */
};

/* None where alternatives.json is missing. */
void causes_init(struct causes *c, const struct page_view *v, uint32_t target);

/* All causes of a kind as one. */
struct cause causes_joined(
    const struct causes *c, const struct page_view *v, enum cause_kind kind);

/* "rank = 3, must be 2", "no rule for Gelu", "legal, costlier". */
void put_cause(FILE *f, const struct cause *c);

/* Those of most nodes first. */
void ops_sort(struct cause_op *op, uint32_t n);

/* "24 MatMul, 3 Add and 5 more". */
void put_ops(FILE *f, const struct cause_op *op, uint32_t n, uint32_t shown);

/* Count operators: a sorted list. */
struct cause_op *count_ops(const struct page_view *v, const uint32_t *node,
    uint32_t n, uint32_t *nops);

/* The target whose choice the page explains first: one that is launched or
 * whose prices are not measured, else the first that is not the host;
 * PAGE_NONE: there is only the host. */
uint32_t accelerator_of(const struct page_view *v);

#endif
