/* Links: boards that measure for a search, each behind a command that gives a
 * pipe to `marq-measure --serve` there (wire.h). */
#ifndef COSTMODEL_LINKS_H
#define COSTMODEL_LINKS_H

#include "costmodel/board.h"
#include "costmodel/job.h"
#include "costmodel/want.h"

struct links;

/* Is it a worker ("cmd:COMMAND", "ssh:USER@HOST[:PROGRAM]")? ERR_USAGE saying
 * what one looks like. */
bool link_check(const char *spec, struct err *err);

/* Start them all and open the wanted model on each; *board is what they are,
 * all alike. One that cannot be reached is left out with a note; ERR_TARGET
 * when none is left, or when they differ. */
struct links_options {
	const char *const *spec; /* [n] workers */
	uint32_t n;
	const struct want *want;
	struct notes *notes;
	/* Whoever has not answered then, or when `stop` is set, is lost; 0 and
	 * NULL: nobody is. */
	uint64_t deadline_ns;
	const atomic_bool *stop;
};
bool links_open(struct links **out, const struct links_options *o,
    struct board *board, struct arena *a, struct err *err);

/* How many processes measure on all of them together. */
uint32_t links_workers(const struct links *l);

/* measurer_run() on the boards. `wire` are the jobs as the boards know them. A
 * connection that is lost is made again and goes on where it was; a board that
 * is lost for good leaves its jobs to the others. ERR_MEASURE when none is
 * left. Returns early, with true, on stop and at the deadline (0: none). */
struct links_run {
	uint64_t deadline_ns, timeout_ns;
	const atomic_bool *stop;
	measure_done done;
	void *context;
};
struct wire_job;
bool links_run(struct links *l, struct wire_job *wire, uint32_t n,
    const struct links_run *run, struct err *err);

/* While done() is told of a sample: the soft facts of the board that measured it;
 * NULL: none did. */
const char *links_soft(const struct links *l);

void links_close(struct links *l);

#endif
