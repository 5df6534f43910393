/* Memory of the heap for what needs no arena: running out ends the process. */
#ifndef IR_BASE_MEMORY_H
#define IR_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* One line on standard error and the status of ERR_INTERNAL. */
_Noreturn void memory_exhausted(size_t bytes);

/* As malloc() and realloc(), but never NULL; to be freed. */
void *memory_get(size_t bytes);
void *memory_resize(void *old, size_t bytes);

/* A stream into memory, *text with *n bytes when it is closed so; to be
 * freed. Never NULL, never cut short. */
FILE *memory_stream(char **text, size_t *n);
void memory_stream_close(FILE *f);

#endif
