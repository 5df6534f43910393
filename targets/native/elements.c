/* Chains of functions of every element: which are taken, in which layouts, on how many
 * threads. */
#include <assert.h>

#include "targets/native/native.h"
#include "targets/lanes.h"

#define NEED why_need

enum { PLAIN, BLOCKED, LAST, NLAYOUTS };
static const char *const names[] = {"plain", "blocked", "nhwc"};

/* ---- operands ---- */

#define ELEMENTS_RANK 8

/* Dimensions as they lie, the operand's aligned to the result's. */
struct aligned {
	uint32_t rank;
	size_t result[ELEMENTS_RANK], operand[ELEMENTS_RANK];
};

static void
channels_last(size_t *dim)
{
	const size_t channels = dim[1];

	dim[1] = dim[2];
	dim[2] = dim[3];
	dim[3] = channels;
}

/* How many dimensions of a tensor count. */
static uint32_t
true_rank(const struct type *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->rank; i++)
		n += t->dim[i] != 1;
	return n;
}

/* False: the operand lies otherwise than the result does. Channels last are tensors of
 * rank 4 alone and no constants, and what has one dimension lies the same in any order. */
static bool
align(struct aligned *a, const struct value *v, const struct type *result,
    enum layout layout)
{
	const struct type *t = &v->type;

	if (result->rank > ELEMENTS_RANK || t->rank > result->rank)
		return false;
	a->rank = result->rank;
	for (uint32_t i = 0; i < a->rank; i++) {
		const uint32_t beyond = a->rank - t->rank;

		a->result[i] = (size_t)result->dim[i];
		a->operand[i] = i < beyond ? 1 : (size_t)t->dim[i - beyond];
		if (a->operand[i] != 1 && a->operand[i] != a->result[i])
			return false;
	}
	if (layout != LAYOUT_NHWC)
		return true;
	channels_last(a->result);
	channels_last(a->operand);
	return (t->rank == 4 && !v->constant) || true_rank(t) <= 1;
}

/* The operand's elements are neighbours among the result's dimensions, with whole
 * dimensions it lacks before and behind; false: another way to broadcast. */
static bool
read_operand(struct chain_operand *o, const struct value *v,
    const struct type *result, enum layout layout)
{
	struct aligned a = {0};
	uint32_t i;

	*o = (struct chain_operand){.port = -1, .inner = 1, .n = 1};
	if (!align(&a, v, result, layout))
		return false;
	for (i = a.rank; i > 0 && a.operand[i - 1] == 1; i--)
		o->inner *= a.result[i - 1];
	for (; i > 0 && a.operand[i - 1] == a.result[i - 1]; i--)
		o->n *= a.operand[i - 1];
	while (i > 0 && a.operand[i - 1] == 1)
		i--;
	return i == 0;
}

/* Of a whole result, whatever order it lies in. */
static bool
is_full(const struct chain_operand *o, const struct type *result)
{
	return o->n == type_elements(result, 0);
}

static value_id
operand_of(const struct fused *f, uint32_t i)
{
	return i == 0 ? f->start : f->step[i - 1].other;
}

/* What the chain begins with, and what its steps read: all in such a layout. */
static bool
operands_lie(const struct graph *g, const struct fused *f, enum layout layout)
{
	const struct type *result = &graph_value(g, f->end)->type;
	struct chain_operand o;
	bool ok = true;

	for (uint32_t i = 0; i <= f->nsteps; i++) {
		const value_id id = operand_of(f, i);
		const struct value *v;

		if (id == VALUE_NONE)
			continue;
		v = graph_value(g, id);
		ok = ok && read_operand(&o, v, result, layout);
		if (layout == LAYOUT_BLK8 || layout == LAYOUT_BLK16)
			ok = ok && is_full(&o, result)
			    && v->type.rank == result->rank && !v->constant;
	}
	return ok;
}

/* ---- what is taken ---- */

/* Is 0 made of zeros? The padding of blocks is, and must be. */
static bool
keeps_zero(const struct step *s)
{
	switch (s->kind) {
	case STEP_SIGMOID:
	case STEP_EXP:
	case STEP_LOG:
	case STEP_SOFTPLUS:
	case STEP_POW:
	case STEP_DIV:
		return false;
	case STEP_LINEAR:
		return s->beta == 0;
	case STEP_CLIP:
		return s->alpha <= 0 && s->beta >= 0;
	default:
		return true;
	}
}

static bool
all_keep_zero(const struct fused *f)
{
	bool keep = true;

	for (uint32_t i = 0; i < f->nsteps; i++)
		keep = keep && keeps_zero(&f->step[i]);
	return keep;
}

/* Functions of which ours are ahead of the libraries, or that these have only with NaN
 * lost (bench/RESULTS.md); and several in one pass. */
static bool
is_ahead(const struct fused *f)
{
	switch (f->nsteps == 1 ? f->step[0].kind : STEP_GELU_TANH) {
	case STEP_GELU_TANH:
	case STEP_GELU_ERF:
	case STEP_TANH:
	case STEP_EXP:
	case STEP_LOG:
	case STEP_POW:
	case STEP_SQRT:
	case STEP_SQUARE:
	case STEP_SOFTPLUS:
	case STEP_ELU:
		return true;
	default:
		return false;
	}
}

bool
accept_elements(const struct match_in *m, struct why *why)
{
	struct fused f;
	const char *fault;
	bool ok = need_all_tensors(m, why), known = true;

	if (!ok)
		return false;
	ok = fused_read(&f, m->graph, m->match, &fault) && !f.anchor;
	if (!NEED(why, ok, "chain", "functions one behind the other", "%s",
	        ok ? "they are" : "others"))
		return false;
	for (uint32_t i = 0; i < f.nsteps; i++)
		known = known && native_has_step(&f.step[i]);
	ok = NEED(why, known, "functions", "of the kernels' table", "%s",
	    known ? "they are" : "another function");
	if (known)
		ok = NEED(why, is_ahead(&f), "worth",
		    "several functions, or one that no library has as fast",
		    "%s", is_ahead(&f) ? "that" : "another");
	known = operands_lie(m->graph, &f, LAYOUT_PLAIN);
	return NEED(why, known, "operands",
	           "repeated along outer or inner dimensions", "%s",
	           known ? "that" : "another way to broadcast")
	    && ok;
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
		if (!operands_lie(m->graph, &fused, layout[i])
		    || (i == BLOCKED && !all_keep_zero(&fused)))
			continue;
		out[n++] = (struct implementation){
		    .name = names[i], .number = i, .input = id, .output = id};
	}
	return n;
}

/* Where: floats and a condition, each broadcast so. */
bool
accept_choice(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const struct type *result = matched_type(m, n->output[0]);
	struct chain_operand o;
	bool ok = need_tensor(m, why, n->output[0]), lie = true;

	for (uint32_t i = 1; i < 3; i++)
		ok = need_tensor(m, why, n->input[i]) && ok;
	if (!ok || !need_size(m, why, n->input[0]))
		return false;
	for (uint32_t i = 0; i < 3; i++)
		lie = lie
		    && read_operand(&o, graph_value(m->graph, n->input[i]),
		        result, LAYOUT_PLAIN);
	return NEED(why, lie, "operands",
	    "repeated along outer or inner dimensions", "%s",
	    lie ? "that" : "another way to broadcast");
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
	lanes_split(k->chain.count, run_part, k);
}

/* What is read of value v: a port, or a constant. */
static struct chain_operand
bind_operand(const struct graph *g, const struct candidate *c, value_id v,
    enum layout layout, struct arena *a)
{
	const struct value *x = graph_value(g, v);
	struct chain_operand o;

	read_operand(&o, x, &graph_value(g, c->output[0].value)->type, layout);
	if (x->constant)
		o.constant = tensor_data(x->constant, a);
	else
		o.port = candidate_input(c, v);
	assert(o.constant || o.port >= 0);
	return o;
}

static void
bind_steps(struct element_chain *chain, const struct fused *f,
    const struct graph *g, const struct candidate *c, enum layout layout,
    struct arena *a)
{
	chain->start = bind_operand(g, c, f->start, layout, a);
	chain->steps = (struct native_steps){.n = f->nsteps};
	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];

		chain->steps.step[i] = (struct native_step){
		    s->kind, s->alpha, s->beta, s->swapped, -1, NULL};
		if (step_is_binary(s->kind))
			chain->with[i] =
			    bind_operand(g, c, s->other, layout, a);
	}
}

/* In blocks all operands are whole, padding included. */
static void
set_whole(struct element_chain *chain)
{
	chain->start.n = chain->count;
	for (uint32_t i = 0; i < chain->steps.n; i++)
		chain->with[i].n = chain->count;
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
	bind_steps(&k->chain, &f, g, c,
	    c->implementation == LAST ? LAYOUT_NHWC : LAYOUT_PLAIN, a);
	if (c->implementation == BLOCKED)
		set_whole(&k->chain);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}

struct choice_kernel {
	struct element_choice choice;
	choice_run *run;
	const void *const *in;
	float *out;
};

static void
choose_part(void *of, size_t first, size_t count)
{
	const struct choice_kernel *k = of;

	k->run(&k->choice, first, first + count, k->in, k->out);
}

static void
run_choice(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct choice_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_split(k->choice.count, choose_part, k);
}

bool
compile_choice(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct choice_kernel *k = arena_new(a, struct choice_kernel, 1);
	const struct node *n = graph_node(g, c->node[0]);

	(void)err;
	k->run = native_version_of(t)->choice;
	k->choice.count = type_elements(&graph_value(g, n->output[0])->type, 0);
	k->choice.condition = bind_operand(g, c, n->input[0], LAYOUT_PLAIN, a);
	for (uint32_t i = 0; i < 2; i++)
		k->choice.with[i] =
		    bind_operand(g, c, n->input[i + 1], LAYOUT_PLAIN, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_choice, .state = k};
	return true;
}
