/* What becomes of denormals in the threads of the team. */
#ifndef TESTS_SUPPORT_DENORMALS_H
#define TESTS_SUPPORT_DENORMALS_H

#include <stdatomic.h>

#include "ir/base/float_mode.h"
#include "targets/team.h"

static void
count_zeros(void *count, uint32_t i)
{
	(void)i;
	if (FLOAT_ZEROS != 0 && (float_mode() & FLOAT_ZEROS) == FLOAT_ZEROS)
		atomic_fetch_add((atomic_uint *)count, 1);
}

/* In how many of n threads, the caller's among them, they are zeros. */
static unsigned
threads_of_zeros(uint32_t n)
{
	atomic_uint count = 0;

	team_each(n, count_zeros, &count);
	return atomic_load(&count);
}

#endif
