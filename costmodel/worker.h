/* A measuring process: takes jobs from a socket, answers with one block each.
 * Whatever a kernel does to it stays in it. */
#ifndef COSTMODEL_WORKER_H
#define COSTMODEL_WORKER_H

#include "costmodel/job.h"

struct worker_request {
	uint32_t number; /* handed back */
	uint32_t check; /* compare with the reference first */
	uint32_t swapped; /* of two in turn the other one is set up first */
	struct measure_job job;
};

struct worker_reply {
	uint32_t number;
	uint32_t kept, dropped, slow;
	uint64_t median_ns, min_ns, cpu_ns; /* of the runs kept */
	bool answered; /* by a tool: the sample is all there is */
	struct sample sample; /* of a block outcome, detail, error and span */
};

/* Exit statuses of a worker, beside signals. */
enum { WORKER_DONE = 0, WORKER_OOM = 8 };

struct worker_place {
	const uint32_t *core; /* [ncores] to be pinned to */
	uint32_t ncores;
	atomic_uint *waits; /* shared with the orchestrator (core_lock.h) */
	int socket; /* SOCK_SEQPACKET */
	int words; /* stderr goes here */
	long parent; /* process that ends us by ending */
	const char *folder; /* for temporary files; NULL: the usual one */
};

/* Never returns. Called in the child right after fork(). */
_Noreturn void worker_main(
    const struct measure_options *o, const struct worker_place *place);

#endif
