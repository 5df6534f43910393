/* One run of something, and what is known of the memory it uses. */
#ifndef COSTMODEL_SHOT_H
#define COSTMODEL_SHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/own_pages.h"

/* A stretch of memory that something is put into. */
struct rewritten {
	void *at;
	size_t bytes;
};

struct shot {
	void (*run)(void *context);
	void *context;
	/* What has just been written: the operands. Memory must take what of it
	 * has no place in the caches beside the results. */
	const struct rewritten *fresh;
	uint32_t nfresh;
	/* Where the results go. A plan reuses its memory: something else was
	 * written there a little before, and has left the inner caches. */
	const struct rewritten *stale;
	uint32_t nstale;
	bool in_place; /* the results lie there already */
	/* What it keeps, in the making until its first runs; NULL: that is not
	 * known, so all is swept out. */
	struct own_pages *own;
	size_t weights; /* bytes it reads beside the operands */
	bool translates; /* its first run may take long and says nothing */
	bool transforms; /* it keeps its weights transformed, which are more */
	uint32_t team; /* threads of the team (targets/team.h) it runs on, which
	                * ran what was before it, too; 0: none of them */
};

#endif
