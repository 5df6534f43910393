/* The graph as a model of QuantizeLinear and DequantizeLinear: regions that
 * compute in 8 bits round what they read and make, and their weights are
 * integers, so that any runtime loses what the plan loses. */
#ifndef EMIT_QDQ_H
#define EMIT_QDQ_H

#include "emit/work.h"

/* A quantiser that was put in. */
struct qdq_node {
	const char *name, *op_type;
	uint32_t region;
	value_id value; /* of the plan's graph, that it rounds */
};

struct qdq {
	const struct graph *graph; /* the plan's, with nodes and values behind
				    * its own */
	const node_id *const *node; /* [nregions] in an order that can be run;
				     * NULL: the region is as it was */
	const uint32_t *nnodes; /* [nregions] */
	uint32_t ninserted;
	const struct qdq_node *inserted;
	/* The domain of what was put in: before opset 13 the default domain's
	 * have no scale a channel, so it is ONNX Runtime's. */
	const char *domain;
	uint32_t
	    opset; /* of the default domain: raised where ONNX Runtime, which
			 * makes QLinearConv of what was put in, would fail */
};

#define QDQ_DOMAIN "com.microsoft"

/* NULL: no region computes in 8 bits. */
const struct qdq *qdq_of(const struct emit_work *w);

#endif
