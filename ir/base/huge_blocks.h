/* Large blocks that are in huge pages from the beginning. Memory that came in small pages
 * is copied once where it is to be in huge ones (huge_pages.h); half a gigabyte of packed
 * weights took longer to copy than to pack. */
#ifndef IR_BASE_HUGE_BLOCKS_H
#define IR_BASE_HUGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* From here on there are such, or no more; those there are stay. One thread makes and
 * frees them at a time. */
void huge_blocks_give(bool give);

/* On a cache line, of zeros. NULL: none are given, it would be too small for one, or there is
 * no memory of the kind; the caller has others. */
void *huge_block_new(size_t bytes);

/* Memory of zeros that begins at a huge page and is in such as far as they are whole, for
 * munmap(); `bytes` are whole pages of the system. NULL: there is none. */
void *huge_pages_new(size_t bytes);

/* The stretch with index i of those that blocks lie in: its pages [from, end) that no block
 * has been cut from yet. false: there is none, or no more. */
bool huge_blocks_uncut(uint32_t i, uintptr_t *from, uintptr_t *end);

/* false: it is none of these. */
bool huge_block_free(void *block);

#endif
