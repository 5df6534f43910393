/* This program run again, as a process of its own. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ir/base/err.h"

/* Start it with these arguments (argv[0] first, NULL last); `out` and `log` are
 * files for its stdout and stderr, NULL: ours. */
bool child_start(pid_t *pid, char *const *argv, const char *out,
    const char *log, struct err *err);

/* To be called first of all: a process that child_start() made dies with the
 * one that started it. */
void child_die_with_parent(void);

/* Its exit status, or 128 + the signal that killed it. When *stop is set, or
 * after limit_ns (0: none), it gets SIGTERM, and five seconds later SIGKILL.
 * Meanwhile tick(context) is called, often; NULL: nothing is. */
int child_await(pid_t pid, uint64_t limit_ns, const atomic_bool *stop,
    void (*tick)(void *context), void *context);

/* A command of the shell with a file as its standard input; its exit status, as
 * above. */
int child_shell(const char *command, const char *in, const atomic_bool *stop);

#endif
