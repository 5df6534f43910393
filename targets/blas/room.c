#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "targets/blas/room.h"

#include <sys/mman.h>

/* SOURCE: measured, OpenBLAS 0.3.29 with one thread takes 168 MiB. */
#define LOADING ((size_t)192 << 20)

bool
room_for(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && munmap(p, bytes) == 0;
}

bool
room_for_loading(struct err *err)
{
	return room_for(LOADING)
	    || err_set(err, ERR_TARGET,
	        "OpenBLAS takes up to %zu MiB of address space when it is "
	        "loaded, and there is less",
	        LOADING >> 20);
}
