#define _GNU_SOURCE
#include "ir/base/file_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/err.h"

enum { NAME_MAX_SHOWN = 256, GUARDS = 4096 };

/* What the handler reads must stay valid: a slot is filled before `data` is
 * set and empty once `data` is NULL. Names are copied; arenas go earlier. */
static struct guard {
	const char *volatile data;
	size_t bytes;
	char name[NAME_MAX_SHOWN];
} guards[GUARDS];
static volatile size_t nguards; /* slots from here on were never used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
say(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;

	(void)context;
	for (size_t i = 0; i < nguards; i++) {
		const struct guard *g = &guards[i];

		if (!g->data || at < g->data || at >= g->data + g->bytes)
			continue;
		say("marq: error: ");
		say(g->name);
		say(": the file shrank while it was read\n");
		_exit(err_exit(ERR_IO));
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void
watch(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error};

	action.sa_flags = SA_SIGINFO;
	sigaction(SIGBUS, &action, NULL);
}

void
file_guard_add(const void *data, size_t bytes, const char *name)
{
	static bool watches;

	pthread_mutex_lock(&lock);
	if (!watches)
		watch();
	watches = true;
	for (size_t i = 0; i < GUARDS; i++) {
		if (guards[i].data)
			continue;
		guards[i].bytes = bytes;
		snprintf(guards[i].name, NAME_MAX_SHOWN, "%s", name);
		guards[i].data = data;
		if (i >= nguards)
			nguards = i + 1;
		break;
	}
	pthread_mutex_unlock(&lock);
}

/* Whole pages within the bytes, which others may still read. */
static void
let_go(const char *from, const char *to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t into = (uintptr_t)from % page;
	const size_t skip = into ? page - into : 0;
	size_t bytes = (size_t)(to - from);
	union {
		const char *in;
		void *out;
	} at;

	if (bytes <= skip)
		return;
	bytes = (bytes - skip) / page * page;
	at.in = from + skip;
	if (bytes > 0)
		madvise(at.out, bytes, MADV_DONTNEED);
}

void
file_guard_let_go(const void *data, size_t bytes)
{
	const char *from = data;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nguards; i++) {
		const struct guard *g = &guards[i];

		if (g->data && from >= g->data && from < g->data + g->bytes
		    && bytes <= g->bytes - (size_t)(from - g->data))
			let_go(from, from + bytes);
	}
	pthread_mutex_unlock(&lock);
}

void
file_guard_remove(const void *data)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; data && i < nguards; i++)
		if (guards[i].data == data)
			guards[i].data = NULL;
	pthread_mutex_unlock(&lock);
}
