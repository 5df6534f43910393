/* A process and what it started, watched: a limit that a loaded machine does not
 * reach sooner than a quiet one. */
#ifndef TESTS_SUPPORT_FAMILY_H
#define TESTS_SUPPORT_FAMILY_H

#include <stdint.h>
#include <sys/types.h>

enum family_end {
	FAMILY_ENDED,
	FAMILY_BUSY, /* it had its processor time */
	FAMILY_STUCK, /* it computed nothing for too long */
};

struct family_limits {
	uint64_t cpu_ms, idle_ms; /* all that computing may take; between two
				     ticks of the processor */
};

/* Processor time of a process, of those it started that run, and of those that
 * it or they have waited for, in milliseconds. */
uint64_t family_cpu_ms(pid_t leader);

/* Wait for the leader of a process group, whose exit status becomes *status. When
 * it is late, or gone, the group is killed. */
enum family_end family_wait(
    pid_t leader, struct family_limits limits, int *status);

#endif
