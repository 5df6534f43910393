/* Running a program that may fail or hang. */
#ifndef TARGETS_MRVL_PROCESS_H
#define TARGETS_MRVL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/err.h"

enum ended { ENDED_WELL, ENDED_BADLY, ENDED_MISSING, ENDED_LATE };

struct process_end {
	enum ended how;
	int status; /* exit status, or 128 + signal */
};

/* Run a shell command in a folder, standard output and error into the file
 * `log` there, nothing on standard input. After `timeout_ms` it and everything
 * it started are killed. ERR_IO when it cannot be started at all. */
bool process_run(struct process_end *out, const char *command,
    const char *folder, uint32_t timeout_ms, struct err *err);

#endif
