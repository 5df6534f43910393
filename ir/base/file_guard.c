#define _GNU_SOURCE
#include "ir/base/file_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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
	for (size_t i = 0; i < GUARDS; i++) {
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
		break;
	}
	pthread_mutex_unlock(&lock);
}

void
file_guard_remove(const void *data)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; data && i < GUARDS; i++)
		if (guards[i].data == data)
			guards[i].data = NULL;
	pthread_mutex_unlock(&lock);
}
