/* A small model with a plan over two made-up targets, for the tests of emit/
 * and of what reads its files. */
#ifndef TESTS_SUPPORT_PLANS_H
#define TESTS_SUPPORT_PLANS_H

#include "costmodel/price.h"
#include "ir/onnx_read.h"
#include "plan/plan.h"

/* x -> Conv -> Relu -> MaxPool -> Sigmoid -> Conv -> Relu -> GlobalAveragePool
 * -> Flatten -> Gemm -> y, and an ONNX node each that was folded and dropped.
 * "npu" takes convolutions with their Relu and pools, and launches; "host"
 * takes everything. */
struct small_plan {
	struct model model;
	struct mix mix;
	struct candidates candidates;
	struct prices prices;
	struct plan plan;
};

/* Names that break out of whatever does not escape. */
#define HOSTILE_NAME "</script><img src=x onerror=alert(1)>\"'\\|`\n\x01\xff"

/* Build it, with every name the author could choose replaced by hostile ones
 * if `hostile`; fails the process when it cannot. */
void small_plan_init(struct small_plan *s, bool hostile, struct arena *a);

#endif
