#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "targets/team.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "ir/base/float_mode.h"
#include "targets/threads.h"

/* SOURCE: libgomp's libgomp_g.h, what compilers call for `omp parallel`; other
 * runtimes have it for programs that gcc made. */
typedef void parallel_call(
    void (*fn)(void *), void *data, unsigned threads, unsigned flags);
/* Threads of the parallel region that the caller is in. */
typedef int count_call(void);

struct team_work {
	void (*work)(void *data, uint32_t i);
	void *data;
	uint32_t n;
	atomic_uint next, done;
};

/* What the caller wrote before is seen by the others, which look here first: the
 * runtime sees to that, but where a race detector cannot see it. */
static atomic_uint handed;

static void
find(void *function, size_t size, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &symbol, size);
}

/* The runtime's, once it was asked for; NULL: it has none. */
static _Atomic(count_call *) count_threads;

/* The runtime that a library brought, or the compiler's own; NULL: there is none. */
static parallel_call *
runtime(void)
{
	static _Atomic(parallel_call *) known;
	static atomic_bool asked;
	parallel_call *parallel;
	count_call *count;

	if (!atomic_load(&asked)) {
		find(&parallel, sizeof parallel, "GOMP_parallel");
		if (!parallel && dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
			find(&parallel, sizeof parallel, "GOMP_parallel");
		find(&count, sizeof count, "omp_get_num_threads");
		atomic_store(&count_threads, count);
		atomic_store(&known, parallel);
		atomic_store(&asked, true);
	}
	return atomic_load(&known);
}

/* Each has a piece of its own. */
static void
take_one(void *of)
{
	struct team_work *w = of;
	uint32_t i;

	(void)atomic_load(&handed);
	i = atomic_fetch_add(&w->next, 1);
	if (i < w->n)
		w->work(w->data, i);
	atomic_fetch_add(&w->done, 1);
}

/* Who is there takes what is left. */
static void
take(void *of)
{
	struct team_work *w = of;
	uint32_t i;

	(void)atomic_load(&handed);
	while ((i = atomic_fetch_add(&w->next, 1)) < w->n)
		w->work(w->data, i);
	atomic_fetch_add(&w->done, 1);
}

static void
share(struct team_work *w, void (*turn)(void *of), uint32_t threads)
{
	parallel_call *parallel = threads > 1 ? runtime() : NULL;

	atomic_fetch_add(&handed, 1);
	if (parallel)
		parallel(turn, w, threads, 0);
	else
		turn(w);
	/* what the others wrote is seen; the runtime has waited for them */
	(void)atomic_load(&w->done);
}

void
team_run(uint32_t n, void (*work)(void *data, uint32_t i), void *data)
{
	struct team_work w = {.work = work, .data = data, .n = n};

	share(&w, take, target_threads() < n ? target_threads() : n);
}

uint32_t
team_for(size_t n)
{
	return n < 2 * TEAM_ELEMENTS ? 1 : target_threads();
}

uint32_t
team_for_products(double multiplications)
{
	return multiplications < 2 * TEAM_MULTIPLICATIONS ? 1
	                                                  : target_threads();
}

void
team_each(uint32_t n, void (*work)(void *data, uint32_t i), void *data)
{
	struct team_work w = {.work = work, .data = data, .n = n};

	share(&w, take_one, n);
}

/* ---- threads that wait for each other ---- */

/* TUNING: looks before the core is left to others: some 20 us. */
#define LOOKS_AWAKE 1000u

static uint32_t
threads_here(void)
{
	count_call *count = atomic_load(&count_threads);

	return count ? (uint32_t)count() : 1;
}

struct together {
	void (*work)(void *data, uint32_t i, uint32_t m);
	void *data;
};

static void
one_of_all(void *of, uint32_t i)
{
	const struct together *t = of;
	const uint32_t here = threads_here();

	if (i < here)
		t->work(t->data, i, here);
}

void
team_together(
    uint32_t n, void (*work)(void *data, uint32_t i, uint32_t m), void *data)
{
	struct together t = {work, data};

	team_each(n, one_of_all, &t);
}

static inline void
look_again(uint32_t looks)
{
	if (looks > LOOKS_AWAKE)
		(void)sched_yield();
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void
team_meet(struct team_meeting *m, uint32_t n)
{
	const uint32_t round =
	    atomic_load_explicit(&m->round, memory_order_relaxed);

	if (n < 2)
		return;
	if (atomic_fetch_add(&m->arrived, 1) + 1 == n) {
		atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
		atomic_store(&m->round, round + 1);
		return;
	}
	for (uint32_t looks = 0; atomic_load(&m->round) == round; looks++)
		look_again(looks);
}

/* ---- what threads begin with ---- */

static void
denormals_off(void *data, uint32_t i)
{
	(void)data;
	(void)i;
	float_denormals_off();
}

void
team_denormals_off(void)
{
	const uint32_t mode = float_mode();

	team_each(target_threads(), denormals_off, NULL);
	float_mode_set(mode);
}
