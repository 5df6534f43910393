/* Jobs that took longer than a look at them had shown are measured again behind all others:
 * neighbours are busy for seconds, and all blocks of a job fall into one. */
#ifndef COSTMODEL_REVISIT_H
#define COSTMODEL_REVISIT_H

#include "costmodel/job.h"

struct revisit {
	const struct measure_job *job;
	measure_done done;
	void *context;
	struct sample *first; /* [nagain] what they took first */
	struct measure_job *again; /* [nagain] */
	uint32_t
	    *of; /* [nagain] their numbers among all; UINT32_MAX: reported */
	uint32_t nagain;
};

/* Of n jobs; done hears of each once. */
struct revisit revisit_new(const struct measure_job *job, uint32_t n,
    measure_done done, void *context, struct arena *a);

/* What comes of all jobs. context is the revisit. */
void revisit_first(void *context, uint32_t job, const struct sample *r);

/* What comes of those of `again`, in their order; the lesser figure counts. */
void revisit_second(void *context, uint32_t again, const struct sample *r);

/* Those that were not measured again, because it was stopped, stay as they were. */
void revisit_end(struct revisit *v);

#endif
