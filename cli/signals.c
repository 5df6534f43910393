#define _GNU_SOURCE
#include "cli/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool stop;
static volatile sig_atomic_t which;

/* SA_RESETHAND has restored the default: the next one kills. */
static void
on_stop(int signal)
{
	which = signal;
	atomic_store(&stop, true);
}

const atomic_bool *
signals_watch(void)
{
	struct sigaction act = {.sa_handler = on_stop};

	sigemptyset(&act.sa_mask);
	act.sa_flags = SA_RESTART | (int)SA_RESETHAND;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* who started us may ignore it, and no end of a child would be told */
	signal(SIGCHLD, SIG_DFL);
	/* a limit on file sizes is an error of write(), which has words */
	signal(SIGXFSZ, SIG_IGN);
	return &stop;
}

int
signals_which(void)
{
	return which;
}
