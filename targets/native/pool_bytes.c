/* The largest bytes under windows, also between quantisers that say the same. */
#include "targets/lanes.h"
#include "targets/native/conv_bytes.h"
#include "targets/native/native.h"
#include "targets/native/pool_bytes_form.h"
#include "targets/need.h"
#include "targets/window.h"

#define NEED why_need

static bool
need_pool(const struct match_in *m, struct why *why, const struct node *n)
{
	struct window w;
	int64_t taps;

	if (!need_window(m, why, n, &w))
		return false;
	taps = w.kernel[0] * w.kernel[1];
	return NEED(why, window_meets_input(&w, m->graph, n), "window",
	           "over some element everywhere", "on padding alone")
	    && NEED(why, taps <= POOL_TAPS, "window", "7x7 at most", "%dx%d",
	        (int)w.kernel[0], (int)w.kernel[1])
	    && NEED(why, attr_int_or(n, "storage_order", 0) == 0,
	        "storage_order", "0", "1");
}

bool
accept_pool_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	struct match_in in = *m;

	in.graph = match_graph(m->match, m->graph);
	return need_byte_images(m, why, n) && need_pool(&in, why, n);
}

struct pool_bytes_kernel {
	struct pool_bytes p;
	pool_bytes_run *run;
	const uint8_t *in;
	uint8_t *out;
};

static void
run_row(void *of, uint32_t lane, size_t row)
{
	const struct pool_bytes_kernel *k = of;

	(void)lane;
	k->run(&k->p, row, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct pool_bytes_kernel *k = kernel->state;

	k->in = in[0];
	k->out = out[0];
	lanes_each(k->p.images * k->p.window.rows, LANES_MOST, run_row, k);
}

bool
compile_pool_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct node *n = match_as_node(c->match, g);
	const struct type *x = &graph_value(g, n->input[0])->type;
	const struct type *y = &graph_value(g, n->output[0])->type;
	struct pool_bytes_kernel *k = arena_new(a, struct pool_bytes_kernel, 1);
	const char *fault;
	struct window w;

	if (!window_resolve(&w, match_graph(c->match, g), n, &fault))
		return err_set(err, ERR_UNSUPPORTED, "%s", fault);
	k->p = (struct pool_bytes){.window = integer_window_of(&w, x, y),
	    .images = (size_t)y->dim[0],
	    .is_unsigned = x->dtype == DT_UINT8};
	k->run = native_version_of(t)->pool_bytes;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
