/* Searching until a plan has been verified: what is wrong, or cannot be built, is
 * barred, said in a note, and the search repeated. */
#ifndef EXEC_VERIFIED_H
#define EXEC_VERIFIED_H

#include "exec/verify_run.h"
#include "plan/search.h"

struct verification {
	struct verified_as verdict; /* of the last plan */
	uint32_t nbarred; /* candidates that plans no longer may use */
};

/* Verify *plan, which plan_search() made for r; as long as a composite of it
 * fails, bar its candidate (and those of equal price key; r->pricer remembers that
 * in its database) and search again.
 * r->notes gets a line for each. ERR_NO_COVER when nothing is left. */
bool verified_search(struct plan *plan, const struct plan_request *r,
    const struct verify_options *o, struct verification *out, struct arena *a,
    struct err *err);

#endif
