/* Measuring in worker processes. The orchestrator never runs a kernel: workers
 * are forked from it (graph and candidates come along copy-on-write), take
 * candidate numbers from a pipe and answer with samples. A crash, hang, memory
 * blow-up or wrong result is an outcome of one candidate. */
#ifndef COSTMODEL_MEASURE_H
#define COSTMODEL_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/job.h"
#include "ir/base/arena.h"
#include "ir/base/err.h"

struct measurer;

bool measurer_open(struct measurer **m, const struct measure_options *o,
    struct arena *a, struct err *err);

/* Measure jobs[0..n), any order, all workers; `done` is called for each as it
 * is finished, in the orchestrator. Returns early (true) on stop and at the deadline. */
bool measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    measure_done done, void *context, struct err *err);

/* From now on another deadline holds. */
void measurer_set_deadline(struct measurer *m, uint64_t deadline_ns);

void measurer_close(struct measurer *m);

/* Processes a measurer of these options has (0: the defaults). */
uint32_t measurer_workers(uint32_t workers, uint32_t threads);

#endif
