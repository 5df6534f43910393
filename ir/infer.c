#include "ir/infer.h"

#include <inttypes.h>

#include "ir/infer/pass.h"

/* TUNING: elements folded per tensor, and in all, of any model: what shape
 * chains and position tables of real models need, times ten. A model with
 * weights may fold as much as a few passes over them. */
#define MAX_FOLD 65536u
#define FOLD_BUDGET (UINT64_C(16) << 20)
#define FOLD_PASSES 4u

/* Elements the model's constants hold; one that is repeated counts once. */
static uint64_t
elements_held(const struct graph *g)
{
	uint64_t n = 0;

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct tensor *t = g->value[v].constant;

		if (t && (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL))
			n += t->kind == TENSOR_FILL ? 1 : t->count;
	}
	return n;
}

static uint32_t
largest_fold(uint64_t held)
{
	return held < MAX_FOLD  ? MAX_FOLD
	    : held < UINT32_MAX ? (uint32_t)held
	                        : UINT32_MAX;
}

bool
infer(struct graph *g, const struct infer_options *o, struct err *err)
{
	struct infer_options options = *o;
	const uint64_t held = elements_held(g);
	uint64_t budget = FOLD_BUDGET + FOLD_PASSES * held;
	uint64_t moves = budget;
	bool failed = false, ok;
	struct arena scratch;
	struct pass p = {.o = &options, .scratch = &scratch};

	if (options.max_fold == 0)
		options.max_fold = largest_fold(held);
	arena_init(&scratch);
	p.budget = &budget;
	p.moves = &moves;
	p.failed = &failed;
	p.path = "";
	pass_init(&p, g, NULL);
	ok = pass_run(&p, err);
	if (ok && failed)
		ok = err_set(err, ERR_INPUT, "operators break their rules");
	arena_release(&scratch);
	return ok;
}
