/* pthreadpool's loops on the team: XNNPACK calls them by their names, and those of the
 * program come before a library's. So it has no threads of its own. */
#ifndef TARGETS_XNNPACK_LOOPS_H
#define TARGETS_XNNPACK_LOOPS_H

#include <pthreadpool.h>
#include <stddef.h>
#include <stdint.h>

/* What a task is told, as types. */
#define TOLD_PLAIN
#define TOLD_THREAD , size_t
#define TOLD_UARCH , uint32_t
#define TOLD_UARCH_THREAD , uint32_t, size_t
#define TOLD_0
#define TOLD_1 , size_t
#define TOLD_2 , size_t, size_t
#define TOLD_3 TOLD_2, size_t
#define TOLD_4 TOLD_3, size_t
#define TOLD_5 TOLD_4, size_t
#define TOLD_6 TOLD_5, size_t
/* And what a loop is given. */
#define GIVEN_PLAIN
#define GIVEN_THREAD
#define GIVEN_UARCH , uint32_t uarch, uint32_t last_uarch
#define GIVEN_UARCH_THREAD GIVEN_UARCH
#define RANGES_1 , size_t i
#define RANGES_2 RANGES_1, size_t j
#define RANGES_3 RANGES_2, size_t k
#define RANGES_4 RANGES_3, size_t l
#define RANGES_5 RANGES_4, size_t m
#define RANGES_6 RANGES_5, size_t n
#define TILES_0
#define TILES_1 , size_t tile_a
#define TILES_2 , size_t tile_a, size_t tile_b

#define LOOP_TASK(lead, dims, tiles) \
	(void *TOLD_##lead TOLD_##dims TOLD_##tiles)
#define LOOP_DECLARED(form, lead, dims, tiles) \
	void pthreadpool_parallelize_##form(pthreadpool_t pool, \
	    void(*task) LOOP_TASK(lead, dims, tiles), \
	    void *context GIVEN_##lead RANGES_##dims TILES_##tiles, \
	    uint32_t flags)

/* SOURCE: pthreadpool.h of 2024-06; the compiler compares with the header that is
 * there, which may have fewer. */
#define LOOP(form, lead, dims, tiles) LOOP_DECLARED(form, lead, dims, tiles);
#include "targets/xnnpack/loops.def"
#undef LOOP

/* The pool to hand in: NULL, which stands for the team here, and in a loop that
 * pthreadpool has and we have not for the caller's thread. */
pthreadpool_t loops_pool(void);

#endif
