/* Running programs that are not ours: they may fail, hang or talk nonsense.
 * Each runs below a keeper (targets/keeper.h), which ends it with all that it
 * started, also when this process is gone. */
#ifndef TARGETS_PROCESS_H
#define TARGETS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/keeper.h"

enum ended { ENDED_WELL, ENDED_BADLY, ENDED_MISSING, ENDED_LATE };

struct process_end {
	enum ended how;
	int status; /* exit status, or 128 + signal */
};

/* Run it to its end, nothing on standard input; after `timeout_ms` it is
 * killed. ERR_IO when it cannot be started at all. */
bool process_run(struct process_end *out, const struct process_job *job,
    uint32_t timeout_ms, struct err *err);

/* One that is talked to in lines: its standard input and output. */
struct process {
	long keeper; /* 0: none */
	int socket;
	int leash; /* to the keeper: closed, it ends the program */
};

/* Start it; only its standard error goes into the log. */
bool process_start(
    struct process *p, const struct process_job *job, struct err *err);

/* End it and take its status. */
struct process_end process_stop(struct process *p);

/* The last line of a log that is not blank, or ""; text in `a`. */
const char *process_last_words(const struct process_job *job, struct arena *a);

#endif
