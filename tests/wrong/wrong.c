/* `marq` in which mrvl's kernels of the rule $MARQ_WRONG compute wrong: the linker
 * puts this before their compilation (--wrap). */
#include <stdlib.h>
#include <string.h>

#include "targets/mrvl/compute.h"

bool __real_mrvl_compile(const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct kernel *out,
    struct err *err);
bool __wrap_mrvl_compile(const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct kernel *out,
    struct err *err);

struct wrong {
	struct kernel inner;
	size_t bytes; /* of its first output */
};

/* The signs of all halves are turned. */
static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct wrong *w = k->state;
	uint8_t *byte = out[0];

	w->inner.fault = k->fault;
	w->inner.run(&w->inner, in, out);
	for (size_t i = 1; i < w->bytes; i += 2)
		byte[i] ^= 0x80;
}

static void
release(struct kernel *k)
{
	struct wrong *w = k->state;

	if (w->inner.release)
		w->inner.release(&w->inner);
}

bool
__wrap_mrvl_compile(const struct target *t, const struct graph *g,
    const struct candidate *cand, struct arena *a, struct kernel *out,
    struct err *err)
{
	const char *rule = getenv("MARQ_WRONG");
	struct wrong *w;

	if (!__real_mrvl_compile(t, g, cand, a, out, err))
		return false;
	if (!rule || !out->run
	    || strcmp(rule, t->kind->rule[cand->rule].name) != 0)
		return true;
	w = arena_new(a, struct wrong, 1);
	w->inner = *out;
	w->bytes = format_bytes(t->formats->format[cand->output[0].format],
	    &graph_value(g, cand->output[0].value)->type);
	*out = (struct kernel){.kind = w->inner.kind,
	    .candidate = cand,
	    .run = run,
	    .release = release,
	    .state = w};
	return true;
}
