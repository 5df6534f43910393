#include "ir/infer.h"

#include <inttypes.h>

#include "ir/infer/pass.h"

/* TUNING: elements folded per tensor, and in all per model: what shape chains
 * and position tables of real models need, times ten. */
#define MAX_FOLD 65536u
#define FOLD_BUDGET (UINT64_C(16) << 20)

bool
infer(struct graph *g, const struct infer_options *o, struct err *err)
{
	struct infer_options options = *o;
	uint64_t budget = FOLD_BUDGET;
	bool failed = false, ok;
	struct arena scratch;
	struct pass p = {.o = &options, .scratch = &scratch};

	if (options.max_fold == 0)
		options.max_fold = MAX_FOLD;
	arena_init(&scratch);
	p.budget = &budget;
	p.failed = &failed;
	p.path = "";
	pass_init(&p, g, NULL);
	ok = pass_run(&p, err);
	if (ok && failed)
		ok = err_set(err, ERR_INPUT, "operators break their rules");
	arena_release(&scratch);
	return ok;
}
