/* Memory of the process's own in huge pages: what a model reads once a run, weights and
 * tables, is found through a fraction of the translations then. */
#ifndef IR_BASE_HUGE_PAGES_H
#define IR_BASE_HUGE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* All that the process has written so far, whoever keeps it, as far as the system has
 * such pages and allows it (Linux 6.1 and newer); else nothing happens. What lies where
 * stays so. */
void huge_pages_take(void);

/* The mapping of a line of /proc/self/maps that is memory of the process's own: written
 * to, private, of no file, and not a stack that the kernel grows. */
bool own_mapping_read(const char *line, uintptr_t *from, uintptr_t *end);

#endif
