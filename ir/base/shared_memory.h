/* Memory that a process and those it forks from then on have in common. */
#ifndef IR_BASE_SHARED_MEMORY_H
#define IR_BASE_SHARED_MEMORY_H

#include <stddef.h>

/* So many bytes of zeros; NULL: there are none, errno says why. */
void *shared_memory_new(size_t bytes);
void shared_memory_end(void *at, size_t bytes);

#endif
