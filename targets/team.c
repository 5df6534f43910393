#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "targets/team.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "targets/threads.h"

/* SOURCE: libgomp's libgomp_g.h, what compilers call for `omp parallel`; other
 * runtimes have it for programs that gcc made. */
typedef void parallel_call(
    void (*fn)(void *), void *data, unsigned threads, unsigned flags);

struct team_work {
	void (*work)(void *data, uint32_t i);
	void *data;
	uint32_t n;
	atomic_uint next, done;
};

static void
find(void *function, size_t size, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &symbol, size);
}

/* Who is there takes what is left. */
static void
take(void *of)
{
	struct team_work *w = of;
	uint32_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < w->n)
		w->work(w->data, i);
	atomic_fetch_add(&w->done, 1);
}

void
team_run(uint32_t n, void (*work)(void *data, uint32_t i), void *data)
{
	static _Atomic(parallel_call *) known;
	static atomic_bool asked;
	struct team_work w = {.work = work, .data = data, .n = n};
	const uint32_t threads = target_threads() < n ? target_threads() : n;
	parallel_call *parallel;

	if (threads > 1 && !atomic_load(&asked)) {
		find(&parallel, sizeof parallel, "GOMP_parallel");
		atomic_store(&known, parallel);
		atomic_store(&asked, true);
	}
	parallel = threads > 1 ? atomic_load(&known) : NULL;
	if (parallel)
		parallel(take, &w, threads, 0);
	else
		take(&w);
	/* what the others wrote is seen; the runtime has waited for them */
	(void)atomic_load(&w.done);
}
