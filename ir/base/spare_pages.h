/* Memory that the process holds and can do without: what the heap keeps of memory that was
 * freed, and pages of files, programs and models, as long as nobody reads them. */
#ifndef IR_BASE_SPARE_PAGES_H
#define IR_BASE_SPARE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Give it back. Who reads of such a file afterwards has it from the system's cache, or from
 * the file; what was written to stays. */
void spare_pages_return(void);

/* The mapping of a line of /proc/self/maps that is of a file and not written to. */
bool file_mapping_read(const char *line, uintptr_t *from, uintptr_t *end);

#endif
