/* Work on several threads, our own kernels' and that of libraries which let us share it
 * out: the team that an OpenMP runtime keeps for the others, so that no other threads
 * wait beside it. */
#ifndef TARGETS_TEAM_H
#define TARGETS_TEAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Call work(data, i) for each i < n, in target_threads() threads at once where
 * there is a team, else one after the other; all have ended when it returns. */
void team_run(uint32_t n, void (*work)(void *data, uint32_t i), void *data);

/* TUNING: with fewer multiplications a thread is as long in waking as in working. */
#define TEAM_MULTIPLICATIONS 200000.

/* How many threads so many multiplications are shared among: all, or the caller's. */
uint32_t team_for_products(double multiplications);

/* TUNING: fewer elements are one thread's: waking another takes as long. */
#define TEAM_ELEMENTS ((size_t)8192)

/* How many threads so many elements, or bytes, are shared among: all, or the caller's. */
uint32_t team_for(size_t n);

/* Call work(data, i) once in each of n threads, or of as many as there are of them: the
 * caller's at least. Behind it the others look for work for a little while, as behind
 * a kernel's. */
void team_each(uint32_t n, void (*work)(void *data, uint32_t i), void *data);

/* Call work(data, i, m) for each i < m, m at most n, in m threads that are all there at
 * once, so that they may wait for each other; the caller is one of them. */
void team_together(
    uint32_t n, void (*work)(void *data, uint32_t i, uint32_t m), void *data);

/* Where threads that are there at once wait for each other, again and again. Begins as
 * zeros. */
struct team_meeting {
	atomic_uint arrived, round;
};

/* Returns when n threads have come; each then sees what the others wrote before. Waits
 * without sleeping, and leaves the core to others when it takes long. */
void team_meet(struct team_meeting *m, uint32_t n);

/* Denormals are zeros from now on in the other threads of the team. They begin with the
 * mode of who first needed them, and keep it whatever becomes of their caller's. */
void team_denormals_off(void);

#endif
