/* How many threads the libraries may use in this process. Set before the first
 * composite is compiled: by a measuring worker behind its fork, by the
 * executor. */
#ifndef TARGETS_THREADS_H
#define TARGETS_THREADS_H

#include <stdint.h>

void target_threads_set(uint32_t n);
uint32_t target_threads(void); /* 1 unless set */

/* Tell the OpenMP runtime, where one is loaded, for the calling thread. */
void target_threads_apply(void);

#endif
