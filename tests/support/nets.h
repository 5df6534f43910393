/* Problems with the shapes of real networks, at any size, with made-up but
 * reproducible costs: four targets (one of which launches), fused candidates,
 * four formats. For benchmarks and tests of search/. */
#ifndef TESTS_SUPPORT_NETS_H
#define TESTS_SUPPORT_NETS_H

#include "ir/base/arena.h"
#include "search/problem.h"

/* kind: "resnet" (size: blocks per stage), "inception" (blocks), "nasnet"
 * (cells), "randwire" (nodes per stage, 3 stages), "llm" (layers), "bert"
 * (layers), "heads" (heads of 2 layers, unrolled). NULL: no such kind. */
struct problem *net_make(const char *kind, uint32_t size, struct arena *a);

#endif
