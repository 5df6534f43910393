/* The XNNPACK backend: channels-last operators with packed weights. */
#include <string.h>

#include "targets/cores.h"
#include "targets/guarded.h"
#include "targets/loaded.h"
#include "targets/target.h"
#include "targets/xnnpack/loops.h"
#include "targets/xnnpack/op.h"

extern const struct target_kind target_xnnpack;

#define FUNCTION \
	EITHER(NODE(RELU, ANY), NODE(CLIP, ANY, REST), NODE(LEAKYRELU, ANY), \
	    NODE(ELU, ANY), \
	    EITHER(NODE(SIGMOID, ANY), NODE(HARDSWISH, ANY), \
	        SPELLED(HARD_SWISH, ANY)), \
	    EITHER(NODE(ABS, ANY), NODE(SQRT, ANY), NODE(TANH, ANY), \
	        NODE(EXP, ANY), \
	        EITHER( \
	            NODE(ROUND, ANY), NODE(GELU, ANY), SPELLED(GELU, ANY))))
/* ---- ways ---- */

static void
offer(struct formats *f, struct implementation *out, enum layout layout)
{
	format_id id = FORMAT_PLAIN;

	if (layout == LAYOUT_NHWC)
		id = format_intern(
		    f, (struct format){SPACE_HOST, layout, DT_UNDEFINED});
	*out = (struct implementation){
	    .name = layout == LAYOUT_NHWC ? "nhwc" : "plain",
	    .number = (uint32_t)layout,
	    .input = id,
	    .output = id};
}

static uint32_t
ways_last(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m, (void)max;
	offer(f, out, LAYOUT_NHWC);
	return 1;
}

static uint32_t
ways_any_plain(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m, (void)max;
	offer(f, out, LAYOUT_PLAIN);
	return 1;
}

/* Has every computed tensor of these channels to put last? */
static bool
are_rank4(const struct graph *g, const value_id *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] != VALUE_NONE && !graph_value(g, v[i])->constant
		    && graph_value(g, v[i])->type.rank != 4)
			return false;
	return true;
}

/* Channels-last too where that is a layout of all that is read and made. */
static uint32_t
ways_both(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	bool rank4 = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		rank4 = rank4 && are_rank4(m->graph, n->input, n->ninputs)
		    && are_rank4(m->graph, n->output, n->noutputs);
	}
	offer(f, &out[0], LAYOUT_PLAIN);
	if (!rank4 || max < 2)
		return 1;
	offer(f, &out[1], LAYOUT_NHWC);
	return 2;
}

/* ---- rules ---- */

static const struct rule rules[] = {
#define RULE(n, p, a, w, b, l) \
	{.name = "xnnpack." n, .pattern = p, .accepts = a},
#include "targets/xnnpack/rules.def"
#undef RULE
};

static const struct {
	uint32_t (*ways)(const struct match_in *m, struct formats *f,
	    struct implementation *out, uint32_t max);
	bool (*build)(struct xnn_build *b);
	int loses_nan;
} family[] = {
#define RULE(n, p, a, w, b, l) {w, b, l},
#include "targets/xnnpack/rules.def"
#undef RULE
};

static bool
loses_nan(const struct match_in *m)
{
	const struct node *n = graph_node(m->graph, m->match->root);

	if (family[m->rule].loses_nan != 2)
		return family[m->rule].loses_nan == 1;
	switch (n->op) {
	case OP_ABS:
	case OP_SQRT:
		return false;
	case OP_LEAKYRELU: /* multiplied by 0 or left out: 0 either way */
		return attr_float_or(n, "alpha", 0.01f) == 0;
	default:
		return true;
	}
}

/* Added to an implementation's number: behind a guard (targets/guarded.h). */
#define GUARDED 16u

static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const uint32_t n = family[m->rule].ways(m, f, out, max);
	const bool loses = loses_nan(m);
	const bool guards = loses && m->keep_nan && guard_suffices(m);

	for (uint32_t i = 0; i < n; i++) {
		out[i].loses_nan = loses && !guards;
		if (!guards)
			continue;
		out[i].name = out[i].number == LAYOUT_NHWC ? "nhwc/guarded"
		                                           : "plain/guarded";
		out[i].number += GUARDED;
		out[i].guarded = true;
	}
	return n;
}

/* ---- running ---- */

static const float *
where(const struct operand *o, const void *const *in)
{
	return o->port < 0 ? o->constant : in[o->port];
}

/* int8 is uint8 less 128. */
static void
turn(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ^ 0x80u;
}

/* One code for all rows; of uint8 that is turned around zero is 128 less. */
static void
tell_rows(struct xnn_layer *l, const void *const *in)
{
	struct row_code code = {dynamic_zero(&l->zero, in), 0};

	memcpy(&code.scale, in[l->by], sizeof code.scale);
	code.zero -= l->turned ? 128 : 0;
	for (size_t i = 0; i < l->what.batch + ROWS_BEYOND; i++)
		l->rows[i] = code;
}

/* Of all columns. */
static bool
set_up(struct xnn_layer *l, const float *const operand[2], void *out,
    pthreadpool_t pool)
{
	enum xnn_status s =
	    instance_setup(&l->instance, &l->what, operand, out, pool);

	for (uint32_t i = 0; i < l->nmore && s == xnn_status_success; i++)
		s = instance_setup(&l->more[i].instance, &l->more[i].what,
		    operand, (void *)((char *)out + l->more[i].at), pool);
	return s == xnn_status_success;
}

/* Setting up allocates, so it is done once for each set of buffers; in a plan
 * that is the first run. */
static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct xnn_layer *l = k->state;
	const float *const operand[2] = {
	    l->turned ? (const void *)l->turned : where(&l->left, in),
	    l->what.right.rank ? where(&l->right, in) : NULL};
	pthreadpool_t pool = loops_pool();

	if (l->turned)
		turn(
		    l->turned, (const void *)where(&l->left, in), l->turned_in);
	if (l->rows)
		tell_rows(l, in);
	if (operand[0] != l->bound[0] || operand[1] != l->bound[1]
	    || out[0] != l->bound[2]) {
		if (!set_up(l, operand, out[0], pool)) {
			err_set(k->fault, ERR_UNSUPPORTED,
			    "XNNPACK: an operator refused its shapes");
			return;
		}
		l->bound[0] = operand[0];
		l->bound[1] = operand[1];
		l->bound[2] = out[0];
	}
	xnn_run_operator(l->instance.op, pool);
	for (uint32_t i = 0; i < l->nmore; i++)
		xnn_run_operator(l->more[i].instance.op, pool);
	if (l->turned)
		turn(out[0], out[0], l->turned_out);
}

static void
release(struct kernel *k)
{
	layer_release(k->state);
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct xnn_layer *l = arena_new(a, struct xnn_layer, 1);
	struct arena scratch;
	struct xnn_build b = {
	    t, g, c, .layer = l, .arena = a, .scratch = &scratch, .err = err};
	const char *fault;
	bool ok;

	/* What is no such chain has a reading of its own. */
	fused_read(&b.fused, g, c->match, &fault);
	arena_init(&scratch);
	ok = library_ready(err) && family[c->rule].build(&b);
	arena_release(&scratch);
	if (!ok)
		return false;
	*out = (struct kernel){.kind = &target_xnnpack,
	    .candidate = c,
	    .run = run,
	    .release = release,
	    .state = l};
	if (c->implementation >= GUARDED)
		guard_kernel(out, t, g, a);
	return true;
}

static void
environment(const struct target *t, struct buf *b)
{
	(void)t;
	/* The library has no version of its own: another build may be any
	 * other, so a difference is more than one of patch level. Linked
	 * statically it is what the compiler saw. */
	loaded_name(b, "xnnpack", "libXNNPACK");
	loaded_build(b, "xnnpack_id", "libXNNPACK");
	buf_printf(b, "xnnpack_header=%s\n", MARQ_XNNPACK_VERSION);
}

const struct target_kind target_xnnpack = {
    .name = "xnnpack",
    .kernel_library = "XNNPACK",
    .summary = "XNNPACK: channels-last kernels with fused clamps",
    .rule = rules,
    .nrules = (uint32_t)(sizeof rules / sizeof *rules),
    .source = PRICE_MEASURED,
    /* Priced as if its threads were its own: it cuts its work otherwise than those
     * whose results it reads, which lie in another thread's caches then. */
    .own_threads = true,
    .needs_input = true,
    .widens = true,
    .implementations = implementations,
    .compile = compile,
    .environment = environment,
};
