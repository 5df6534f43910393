/* Functions of every element: which are taken, in which layouts, on how many
 * threads. */
#include <assert.h>

#include "targets/native/native.h"
#include "targets/team.h"
#include "targets/threads.h"

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
	uint32_t parts;
	size_t part; /* floats */
};

/* TUNING: fewer are one thread's: waking another takes as long. */
#define LEAST_PART ((size_t)8192)
/* Of whole cache lines and vectors. */
#define GRAIN ((size_t)16)

static void
run_part(void *of, uint32_t i)
{
	const struct elements_kernel *k = of;
	const size_t from = i * k->part, end = from + k->part;

	k->run(&k->chain, from, end < k->chain.count ? end : k->chain.count,
	    k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct elements_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	team_run(k->parts, run_part, k);
}

static void
divide(struct elements_kernel *k)
{
	const size_t count = k->chain.count;
	size_t parts = count / LEAST_PART;

	parts = parts < 1 ? 1 : parts;
	parts = parts < target_threads() ? parts : target_threads();
	k->part = ((count + parts - 1) / parts + GRAIN - 1) / GRAIN * GRAIN;
	k->parts = k->part ? (uint32_t)((count + k->part - 1) / k->part) : 0;
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
	divide(k);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
