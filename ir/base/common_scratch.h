/* Memory that the kernels of a plan use only while they run. They run one after the
 * other, so it is one place for all of them, as large as the most that one asks for. */
#ifndef IR_BASE_COMMON_SCRATCH_H
#define IR_BASE_COMMON_SCRATCH_H

#include <stddef.h>

#include "ir/base/arena.h"

struct common_scratch {
	void *at; /* NULL: there is none */
	size_t bytes;
};

/* From here on kernels that are made share one, on one thread. */
void common_scratch_begin(void);

/* ... and no more: what of it was asked for is the caller's to free. */
struct common_scratch common_scratch_end(void);

/* Numbers, whoever wrote them, at a huge page's beginning. NULL: none is shared, or not so
 * much; the caller has its own. */
void *common_scratch_new(size_t bytes);

/* The same, or, where there is none, memory in `a`. */
void *common_scratch_or(size_t bytes, struct arena *a);

void common_scratch_free(struct common_scratch *s);

#endif
