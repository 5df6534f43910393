/* A contender in a process of its own, timed by itself when it is told to. */
#ifndef BENCH_COMMON_PEER_H
#define BENCH_COMMON_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct peer {
	pid_t pid;
	FILE *to, *from;
	char name[128]; /* what it calls itself, or why there is none */
};

/* Start argv[0] with its arguments; it answers "ready NAME". false: `name` says
 * why there is none. */
bool peer_open(struct peer *p, char *const argv[]);

/* Let it run n times; took[n] is filled, negative for disturbed runs. */
bool peer_run(struct peer *p, uint32_t n, int64_t *took);
void peer_close(struct peer *p);

#endif
