#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "ir/base/shared_memory.h"

#include <sys/mman.h>

void *
shared_memory_new(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void
shared_memory_end(void *at, size_t bytes)
{
	munmap(at, bytes);
}
