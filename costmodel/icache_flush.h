/* What other layers' code does to the instruction caches and the branch
 * predictors between two runs of one layer. */
#ifndef COSTMODEL_ICACHE_FLUSH_H
#define COSTMODEL_ICACHE_FLUSH_H

#include <stdint.h>

/* Run once over more code than the first-level caches hold. The result depends
 * on x, so that it is not left out; use it. */
uint64_t icache_flush(uint64_t x);

#endif
