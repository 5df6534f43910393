/* Taking memory out of all caches of the machine by its address, where the processor
 * lets any program do that. */
#ifndef COSTMODEL_LINE_FLUSH_H
#define COSTMODEL_LINE_FLUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_flush {
	LINE_FLUSH_NONE,
	LINE_FLUSH_CLFLUSH, /* x86: one after the other */
	LINE_FLUSH_CLFLUSHOPT, /* x86: side by side */
	LINE_FLUSH_CIVAC, /* aarch64: "dc civac" */
};

/* Asking for it takes long (a trap, in a virtual machine), so it is asked for once. */
struct line_flusher {
	enum line_flush how;
	size_t line; /* bytes of one, a power of two */
};

/* The best of an x86 processor, by what `cpuid` says: ebx and edx of leaf 1, ebx of
 * leaf 7. */
struct line_flusher line_flusher_of(
    uint32_t ebx1, uint32_t edx1, uint32_t ebx7);

/* That of the processor we run on. */
struct line_flusher line_flusher_new(void);

/* Write back and forget each line that has a byte of these. What the bytes say
 * stays. They must be mapped. With LINE_FLUSH_NONE nothing happens. */
void line_flush(const struct line_flusher *f, const void *at, size_t bytes);

/* All that was asked for is done when it returns: once for many pieces, for it takes
 * as long as dozens of lines. */
void line_flush_wait(const struct line_flusher *f);

#endif
