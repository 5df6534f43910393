#include "search/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct crew {
	void (*work)(void *context, uint32_t i, uint32_t worker);
	void *context;
	uint32_t n;
	_Atomic uint32_t next;
};

struct thread {
	struct crew *crew;
	pthread_t thread;
	uint32_t id;
	bool started;
};

static void *
run(void *argument)
{
	const struct thread *w = argument;
	struct crew *c = w->crew;

	for (;;) {
		uint32_t i = atomic_fetch_add(&c->next, 1);

		if (i >= c->n)
			return NULL;
		c->work(c->context, i, w->id);
	}
}

void
parallel_each(uint32_t n, uint32_t threads,
    void (*work)(void *context, uint32_t i, uint32_t worker), void *context)
{
	struct crew crew = {.work = work, .context = context, .n = n};
	struct thread worker[THREADS_MAX];

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	worker[0] = (struct thread){.crew = &crew};
	/* Where no thread can be had the others do its share. */
	for (uint32_t i = 1; i < threads && i < n; i++) {
		worker[i] = (struct thread){.crew = &crew, .id = i};
		worker[i].started =
		    pthread_create(&worker[i].thread, NULL, run, &worker[i])
		    == 0;
	}
	run(&worker[0]);
	for (uint32_t i = 1; i < threads && i < n; i++)
		if (worker[i].started)
			pthread_join(worker[i].thread, NULL);
}
