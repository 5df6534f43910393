/* The process between us and a program that is not ours. It is the parent of
 * the program and of whatever that leaves behind (setsid and double fork
 * included), takes what it says on standard error, and ends all of it when it
 * is told to, or when we are gone. */
#ifndef TARGETS_KEEPER_H
#define TARGETS_KEEPER_H

/* A shell command to be run in a folder; what it prints goes into the file
 * `log` there, the middle of much left out. */
struct process_job {
	const char *command, *folder, *log;
};

/* Never returns. Called in the child right after fork(). `socket` becomes the
 * program's standard input and output; -1: nothing, and the log. On `leash` the
 * wait status goes out once, as an int, when all have ended; end of file there
 * means: end them now. */
_Noreturn void keeper_main(
    const struct process_job *job, int socket, int leash);

#endif
