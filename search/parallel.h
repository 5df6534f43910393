/* Work that comes in independent pieces, on several threads. */
#ifndef SEARCH_PARALLEL_H
#define SEARCH_PARALLEL_H

#include <stdint.h>

#define THREADS_MAX 8u

/* Call work(context, i, worker) for every i below n, each once, in any order;
 * worker is below `threads` (at most THREADS_MAX; 0 or 1: in this thread) and
 * tells apart what runs at the same time. Returns when all is done. */
void parallel_each(uint32_t n, uint32_t threads,
    void (*work)(void *context, uint32_t i, uint32_t worker), void *context);

#endif
