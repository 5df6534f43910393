#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "targets/blas/buffers.h"

#include <inttypes.h>
#include <stddef.h>
#include <sys/mman.h>

#include "targets/blas/library.h"

/* SOURCE: seen with strace, OpenBLAS 0.3.21 for x86-64 that chooses its kernels when
 * it runs. */
#define BUFFER ((size_t)128 << 20)

static bool
there_is_room(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && munmap(p, bytes) == 0;
}

/* A product that is large enough for all threads. */
static void
multiply(void)
{
	enum { N = 128 };
	static float a[N * N], c[N * N];

	openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a,
	    N, a, N, 0, c, N);
}

/* SOURCE: measured, OpenBLAS 0.3.29 with one thread takes 168 MiB. */
#define LOADING ((size_t)192 << 20)

bool
buffers_fit_loading(struct err *err)
{
	return there_is_room(LOADING)
	    || err_set(err, ERR_TARGET,
	        "OpenBLAS takes up to %zu MiB of address space when it is "
	        "loaded, and there is less",
	        LOADING >> 20);
}

bool
buffers_take(uint32_t threads, struct err *err)
{
	static uint32_t taken;

	if (threads > taken && !there_is_room((threads - taken) * BUFFER))
		return err_set(err, ERR_UNSUPPORTED,
		    "OpenBLAS takes %zu MiB of address space for each of "
		    "%" PRIu32 " threads, and there is less",
		    BUFFER >> 20, threads);
	if (!blas_ready(err))
		return false;
	library_threads(threads);
	if (threads > taken) {
		multiply();
		taken = threads;
	}
	return true;
}
