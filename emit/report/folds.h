/* The boxes of the graph: regions and their composites in execution order, with
 * stretches that repeat folded into one box. A contiguous stretch of an execution
 * order never makes a circle when it is one box. */
#ifndef EMIT_REPORT_FOLDS_H
#define EMIT_REPORT_FOLDS_H

#include "emit/report/view.h"

struct page_box {
	uint32_t first, last; /* composites it holds */
	uint32_t region; /* that it is, or PAGE_NONE */
	uint32_t copies; /* of a repeat: how often; else 0 */
	uint32_t length; /* of a repeat: boxes of one copy */
	uint32_t from, to; /* numbered modules of a repeat, or 0: scopes */
	uint32_t nboxes; /* 0: one composite */
	struct page_box *box; /* of a repeat: copies * length */
};

/* All of the plan. */
void page_boxes(struct page_box **box, uint32_t *n, const struct page_view *v);

/* A box's module: where the first composite's name is first numbered
 * ("encoder.layer.3"), or 0. */
uint32_t numbered_scope(const struct page_view *v, uint32_t composite);

#endif
