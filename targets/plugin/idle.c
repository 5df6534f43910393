#include "targets/plugin/idle.h"

#include "ir/base/limits.h"
#include "targets/plugin/aside.h"
#include "targets/plugin/greet.h"
#include "targets/plugin/program.h"
#include "targets/plugin/region.h"
#include "targets/threads.h"

/* TUNING: a product that is worth more than one thread. */
#define SIDE 128

/* A product of two inputs: most runtimes have one. */
static const struct graph *
product(struct arena *a)
{
	static int64_t dim[] = {SIDE, SIDE};
	static const char *const name[] = {"x", "y", "z"};
	const struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 2, .dim = dim};
	struct graph *g = graph_new(a, "idle");
	value_id *v = arena_new(a, value_id, 3);
	const struct node n = {.op = OP_MATMUL,
	    .op_type = "MatMul",
	    .domain = "",
	    .name = "",
	    .opset = 13,
	    .ninputs = 2,
	    .input = v,
	    .noutputs = 1,
	    .output = v + 2};

	for (int i = 0; i < 3; i++)
		v[i] = graph_add_value(g, name[i], &type);
	graph_add_node(g, &n);
	return g;
}

static void *
floats(struct arena *a)
{
	return arena_alloc(a, (size_t)SIDE * SIDE * sizeof(float) + 64);
}

/* Compile the product and run it twice; it stays, as nobody else needs the memory. */
static bool
run_product(const struct target *t, struct err *err)
{
	static const node_id node[] = {0};
	static const struct port port[] = {
	    {0, FORMAT_PLAIN}, {1, FORMAT_PLAIN}, {2, FORMAT_PLAIN}};
	const struct candidate c = {.target = t->index,
	    .implementation = REGION_PART,
	    .nnodes = 1,
	    .node = node,
	    .ninputs = 2,
	    .input = port,
	    .noutputs = 1,
	    .output = port + 2};
	const struct plugin *of = t->state;
	struct kernel k;
	struct arena *a = &of->session->idle;
	const void *in[2];
	void *out[1];

	if (!program_compile(t, product(a), &c, a, &k, err))
		return false;
	k.fault = err;
	in[0] = floats(a);
	in[1] = floats(a);
	out[0] = floats(a);
	for (int i = 0; i < 2 && err->kind == ERR_NONE; i++)
		k.run(&k, in, out);
	return err->kind == ERR_NONE;
}

/* ---- first in a process of its own: it may crash, hang or refuse ---- */

struct idle_trial {
	const struct target *target;
	uint32_t threads;
};

static bool
attempt_aside(void *context, struct buf *said, struct err *err)
{
	const struct idle_trial *x = context;

	(void)said;
	target_threads_set(x->threads);
	return run_product(x->target, err);
}

static void
find_out(const struct target *t, uint32_t threads)
{
	const struct plugin *p = t->state;
	struct idle_trial x = {t, threads};
	const struct aside aside = {
	    attempt_aside, &x, "it ran a product", LIMIT_PLUGIN_WORDS};
	struct err err = {.kind = ERR_NONE};
	struct buf said;

	buf_init(&said);
	p->session->idles =
	    !p->greeting->about.spins && aside_run(&aside, &said, &err);
	buf_release(&said);
}

/* One that takes no product, or never sleeps, is loaded. */
static void
idle(const struct target *t)
{
	const struct plugin *p = t->state;
	struct err err = {.kind = ERR_NONE};

	if (!p->session->idles || !run_product(t, &err))
		program_open(t, &err);
}

const struct target_rest plugin_rest = {find_out, idle};
