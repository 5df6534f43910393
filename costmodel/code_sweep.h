/* What other layers' code does to the instruction caches and the branch
 * predictors between two runs of one layer. */
#ifndef COSTMODEL_CODE_SWEEP_H
#define COSTMODEL_CODE_SWEEP_H

#include <stdint.h>

/* Run once over more code than the first-level caches hold. The result depends
 * on x, so that it is not left out; use it. */
uint64_t code_sweep(uint64_t x);

#endif
