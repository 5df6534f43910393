/* The machine under a measurement: its cores, and one's own place on them. */
#ifndef COSTMODEL_MACHINE_H
#define COSTMODEL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define CORES_MAX 256

/* Cores this process may run on, ascending; the number (at least 1). */
uint32_t machine_cores(uint32_t core[CORES_MAX]);

/* Pin the calling process to n cores; failure is ignored (timings are then
 * noisier, not wrong). */
void machine_pin(const uint32_t *core, uint32_t n);

/* A session of one's own with the highest priority of its kind, where that is
 * permitted: `nice` means nothing across sessions. */
void machine_own_session(void);

/* Let this process, with all its threads, run before everybody else, or as everybody again; where that is
 * not permitted, nothing changes. For a second or so: it starves the others. */
void machine_urgent(bool on);

/* Between runs of an urgent process: the scheduler stops one that runs on and on for 50 ms
 * of each second, in the middle of a run. Sleeps a tenth of what was run since the
 * last time, once that was 0.1 s; machine_urgent() does so, too. */
void machine_rest(void);

/* Times the scheduler took the calling thread off its core against its will. */
long machine_preemptions(void);

/* Start the program again without the variables that steer kernel libraries
 * (OPENBLAS_*, OMP_*, DNNL_*, ...) and with threads that do not spin while
 * they wait: both are read when the libraries are loaded, and prices must not depend on
 * them. Returns when all is so already, when starting fails, and where libraries are to
 * have one thread (`alone`), so that nobody waits. */
void machine_clean_environment(char **argv, bool alone);

#endif
