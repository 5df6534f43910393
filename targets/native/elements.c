/* Functions of every element: which are taken, in which layouts, on how many
 * threads. */
#include <assert.h>

#include "targets/native/native.h"
#include "targets/team.h"

#define NEED why_need

enum { PLAIN, BLOCKED, LAST, NLAYOUTS };
static const char *const names[] = {"plain", "blocked", "nhwc"};

/* Functions of which ours are ahead of the libraries (bench/RESULTS.md). Both make
 * 0 of the padding of blocks. */
static bool
is_ahead(const struct fused *f)
{
	return f->nsteps == 1
	    && (f->step[0].kind == STEP_GELU_TANH
	        || f->step[0].kind == STEP_TANH);
}

bool
accept_elements(const struct match_in *m, struct why *why)
{
	struct fused f;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f))
		return false;
	ok = f.anchor == NULL && is_ahead(&f);
	return NEED(why, ok, "function", "tanh, or a Gelu made of it", "%s",
	    ok ? "that" : "another");
}

uint32_t
ways_elements(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const enum layout layout[] = {
	    LAYOUT_PLAIN, native_blocked(m->target), LAYOUT_NHWC};
	struct fused fused;
	const char *fault;
	uint32_t n = 0;

	if (!fused_read(&fused, m->graph, m->match, &fault))
		return 0;
	for (uint32_t i = 0; i < NLAYOUTS && n < max; i++) {
		const format_id id = layout[i] == LAYOUT_PLAIN
		    ? FORMAT_PLAIN
		    : format_intern(f,
		        (struct format){SPACE_HOST, layout[i], DT_UNDEFINED});

		if (i != PLAIN && matched_type(m, fused.end)->rank != 4)
			continue;
		out[n++] = (struct implementation){
		    .name = names[i], .number = i, .input = id, .output = id};
	}
	return n;
}

/* ---- a kernel ---- */

struct elements_kernel {
	struct element_chain chain;
	chain_run *run;
	const void *const *in;
	float *out;
};

static void
run_part(void *of, size_t first, size_t count)
{
	const struct elements_kernel *k = of;

	k->run(&k->chain, first, first + count, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct elements_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	team_split(k->chain.count, run_part, k);
}

bool
compile_elements(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct elements_kernel *k = arena_new(a, struct elements_kernel, 1);
	struct fused f;
	const char *fault;

	if (!fused_read(&f, g, c->match, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	k->run = native_version_of(t)->chain;
	k->chain.count = format_bytes(t->formats->format[c->output[0].format],
	                     &graph_value(g, c->output[0].value)->type)
	    / sizeof(float);
	native_steps_of(&k->chain.steps, &f, g, c, 0, a);
	k->chain.port = candidate_input(c, f.start);
	assert(k->chain.port >= 0);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
