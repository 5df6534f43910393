#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "targets/threads.h"

#include <dlfcn.h>
#include <string.h>

static uint32_t threads = 1;

void
target_threads_set(uint32_t n)
{
	threads = n ? n : 1;
	target_threads_apply();
}

uint32_t
target_threads(void)
{
	return threads;
}

void
target_threads_apply(void)
{
	void (*set)(int);
	void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads");

	if (symbol == NULL)
		return;
	memcpy(&set, &symbol, sizeof set);
	set((int)threads);
}
