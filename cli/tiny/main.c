/* marq-measure: `marq measure` and `marq env` alone, for boards. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costmodel/board.h"
#include "costmodel/machine.h"
#include "costmodel/serve.h"
#include "costmodel/station.h"
#include "ir/base/plain.h"

static atomic_bool stop;

static void
on_stop(int signal_number)
{
	signal(signal_number, SIG_DFL);
	atomic_store(&stop, true);
}

static const char usage[] =
    "Usage: marq-measure LIST DATABASE [TARGET...]\n"
    "       marq-measure --serve\n"
    "       marq-measure --env\n"
    "Measure what a search wants (`marq search --want LIST`) into a database "
    "that\n`marq db merge` takes home (a TARGET of the list that is a plug-in or "
    "a\nprogram is opened only when it is named); or what it asks for on standard input\n"
    "(`marq search --worker ssh:USER@HOST`); or print what this machine is\n"
    "(`marq search --price-for FILE`).\n";

static bool
measure(char *const *arg, int narg, struct arena *a, struct err *err)
{
	const char *const *named = (const char *const *)&arg[2];
	struct pricer_options o = {.db = arg[1],
	    .measure = true,
	    .command = "marq-measure",
	    .stop = &stop};
	struct station_counts n;
	struct notes notes;
	struct station s;
	struct want w;
	bool ok;

	notes_init(&notes, a);
	o.notes = &notes;
	if (!want_open(&w, arg[0], a, err)
	    || !want_allowed(&w, named, (uint32_t)narg - 2, a, err)
	    || !station_open(&s, &w, &o, a, err))
		return false;
	ok = station_measure(&s, &w, &n, err);
	ok = station_close(&s, ok ? err : &(struct err){0}) && ok;
	for (uint32_t i = 0; i < notes.n; i++)
		fprintf(stderr, "marq-measure: warning: %s\n", notes.text[i]);
	if (ok)
		printf("%s: %u measured, %u probed, %u failed, %u known "
		       "before, %u not offered by this build\n",
		    w.model, n.measured, n.probed, n.failed, n.known, n.absent);
	return ok;
}

static bool
print_env(struct arena *a, struct err *err)
{
	struct board here;

	if (!board_of_here(&here, 1, a, err))
		return false;
	board_write(&here, stdout);
	return true;
}

static bool
run(int argc, char **argv, struct arena *a, struct err *err)
{
	const struct pricer_options o = {.measure = true, .stop = &stop};

	if (argc == 2 && strcmp(argv[1], "--serve") == 0)
		return serve(STDIN_FILENO, STDOUT_FILENO, &o, a, err);
	if (argc == 2 && strcmp(argv[1], "--env") == 0)
		return print_env(a, err);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return true;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("marq-measure " MARQ_VERSION);
		return true;
	}
	if (argc >= 3 && argv[1][0] != '-')
		return measure(&argv[1], argc - 1, a, err);
	return err_set(err, ERR_USAGE,
	    "want LIST and DATABASE, --serve or --env (--help says more)");
}

int
main(int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	int status = 0;

	machine_clean_environment(argv, false);
	plain_stdout();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* (cli/signals.c) */
	signal(SIGINT, on_stop);
	signal(SIGTERM, on_stop);
	arena_init(&a);
	if (!run(argc, argv, &a, &err)) {
		fprintf(stderr, "marq-measure: error: %s\n", err.text);
		status = err_exit(err.kind);
	}
	if (fflush(stdout) != 0 && status == 0)
		status = err_exit(ERR_IO);
	arena_release(&a);
	return status;
}
