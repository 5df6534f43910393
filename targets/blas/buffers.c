#include "targets/blas/buffers.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>

#include "targets/blas/library.h"
#include "targets/blas/room.h"
#include "targets/team.h"

/* SOURCE: seen with strace, OpenBLAS 0.3.21 for x86-64 that chooses its kernels when
 * it runs. */
#define BUFFER ((size_t)128 << 20)

/* TUNING: products until another thread has begun, too, which takes some 50 us each. */
#define TRIES 100

struct takers {
	uint32_t wanted;
	atomic_uint begun;
};

/* A thread takes a buffer for each product and gives it back, so each has one when all
 * multiply at once. */
static void
multiply_beside_others(void *of, uint32_t i)
{
	enum { N = 128 };
	static const float a[N * N];
	float c[N * N];
	struct takers *t = of;
	uint32_t tries = 0;

	(void)i;
	atomic_fetch_add(&t->begun, 1);
	do
		openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N,
		    N, 1, a, N, a, N, 0, c, N);
	while (atomic_load(&t->begun) < t->wanted && ++tries < TRIES);
}

bool
buffers_take(uint32_t threads, struct err *err)
{
	static uint32_t taken;

	if (threads > taken && !room_for((threads - taken) * BUFFER))
		return err_set(err, ERR_UNSUPPORTED,
		    "OpenBLAS takes %zu MiB of address space for each of "
		    "%" PRIu32 " threads, and there is less",
		    BUFFER >> 20, threads);
	if (!blas_ready(err))
		return false;
	library_single();
	if (threads > taken) {
		struct takers t = {.wanted = threads};

		team_each(threads, multiply_beside_others, &t);
		taken = threads;
	}
	return true;
}
