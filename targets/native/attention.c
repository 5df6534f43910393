/* Attention as one kernel: which is taken, in which ways, on how many threads. */
#include "ir/base/size.h"
#include "targets/lanes.h"
#include "targets/native/attention_mask.h"
#include "targets/native/attention_read.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/team.h"
#include "targets/threads.h"

#define NEED why_need

/* ---- what is taken ---- */

static bool
need_plain_form(struct why *why, const struct node *n)
{
	const bool windows = attr_int_or(n, "left_window_size", -1) >= 0
	    || attr_int_or(n, "right_window_size", -1) >= 0;
	bool ok = NEED(why, node_input(n, IN_LENGTHS) == VALUE_NONE, "lengths",
	    "none", "given");

	ok = NEED(why, attr_float_or(n, "softcap", 0) == 0, "softcap", "0",
	         "another")
	    && ok;
	return NEED(why, !windows, "window", "none", "given") && ok;
}

static bool
need_operand(const struct match_in *m, struct why *why, const struct graph *g,
    value_id v)
{
	return need_tensor(m, why, v) && need_size(m, why, v)
	    && NEED(why, !graph_value(g, v)->constant, "operand", "computed",
	        "a constant");
}

/* Keys and values of the past are there, or neither is. */
static bool
need_operands(
    const struct match_in *m, struct why *why, const struct attention_node *of)
{
	const value_id k = attention_input(of, IN_PAST_KEYS);
	const value_id v = attention_input(of, IN_PAST_VALUES);

	for (uint32_t i = IN_QUERIES; i <= IN_VALUES; i++)
		if (!need_operand(m, why, of->graph, attention_input(of, i)))
			return false;
	if (!NEED(why, (k == VALUE_NONE) == (v == VALUE_NONE), "past",
	        "of keys and values", "of one of them"))
		return false;
	return k == VALUE_NONE
	    || (need_operand(m, why, of->graph, k)
	        && need_operand(m, why, of->graph, v));
}

static bool
is_used(const struct match_in *m, value_id v)
{
	return v != VALUE_NONE
	    && (m->uses->start[v] != m->uses->start[v + 1]
	        || (graph_value(m->graph, v)->flags & VALUE_OUTPUT));
}

static bool
need_mask(
    struct why *why, const struct attention_node *of, struct attention_form *a)
{
	const value_id v = node_input(of->node, IN_MASK);
	struct attention_mask mask;

	return NEED(why,
	    v == VALUE_NONE
	        || attention_mask_read(
	            &mask, &graph_value(of->graph, v)->type, a),
	    "mask", "floats or booleans, one for each key", "another");
}

bool
accept_attention(const struct match_in *m, struct why *why)
{
	const struct attention_node of = attention_of(m->match, m->graph);
	struct attention_form a;
	bool ok;

	if (!NEED(why, of.node != NULL, "operator",
	        "one that computes the same", "none")
	    || !need_operands(m, why, &of))
		return false;
	ok = need_plain_form(why, of.node);
	ok = NEED(why, !is_used(m, attention_output(&of, OUT_SCORES)), "scores",
	         "inside only", "an output")
	    && ok;
	if (!NEED(why, attention_read(&a, &of), "heads",
	        "the same size of queries and keys, past and new", "others"))
		return false;
	return need_mask(why, &of, &a) && ok;
}

/* Are the nodes such that weights are 0 where they would be NaN? */
static bool
is_guarded(const struct graph *g, const struct match *m)
{
	for (uint32_t i = 0; i < m->nnodes; i++)
		if (graph_node(g, m->node[i])->op == OP_ISNAN)
			return true;
	return false;
}

/* ---- ways ---- */

enum { WAY_ROWS, WAY_FEW };

/* TUNING: with more queries keys and values are worth packing. */
#define FEW_MOST 32u

uint32_t
ways_attention(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct attention_node of = attention_of(m->match, m->graph);
	struct attention_form a;
	uint32_t n = 0;

	(void)f;
	out[n++] = (struct implementation){.name = "rows", .number = WAY_ROWS};
	if (n < max && attention_read(&a, &of) && a.queries <= FEW_MOST)
		out[n++] =
		    (struct implementation){.name = "few", .number = WAY_FEW};
	return n;
}

/* ---- a kernel ---- */

/* Ports of the candidate; < 0: none, or a constant. */
struct attention_ports {
	int32_t in[NATTENTION_INPUTS], out[OUT_SCORES];
};

struct attention_kernel {
	struct attention_form a;
	struct attention_mask mask;
	attention_run *run;
	struct attention_ports port;
	struct attention_data data;
	uint32_t threads;
	size_t parts; /* the heads that share keys are one, where threads do not
	               * want more */
	size_t room; /* floats of each thread's scratch */
	float *scratch;
};

/* As many heads as the other parts, side by side; those that share keys at once. */
static void
run_part(void *of, uint32_t lane, size_t part)
{
	const struct attention_kernel *k = of;
	const struct attention_form *a = &k->a;
	const size_t n = a->batch * a->heads;
	const size_t end = n * (part + 1) / k->parts;
	struct attention_heads h;

	for (size_t i = n * part / k->parts; i < end; i += h.n) {
		const size_t left = a->sharing - i % a->sharing;

		h = (struct attention_heads){i / a->heads, i % a->heads,
		    left < end - i ? left : end - i};
		k->run(a, &k->data, &h, k->scratch + lane * k->room);
	}
}

static const float *
input(const void *const *in, int32_t port, size_t offset)
{
	return port < 0 ? NULL : (const float *)in[port] + offset;
}

static float *
output(void *const *out, int32_t port, size_t offset)
{
	return port < 0 ? NULL : (float *)out[port] + offset;
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct attention_kernel *k = kernel->state;
	const struct attention_form *a = &k->a;
	const struct attention_ports *p = &k->port;

	k->data = (struct attention_data){
	    .q = input(in, p->in[IN_QUERIES], a->q.offset),
	    .k = input(in, p->in[IN_KEYS], a->k.offset),
	    .v = input(in, p->in[IN_VALUES], a->v.offset),
	    .past_k = input(in, p->in[IN_PAST_KEYS], 0),
	    .past_v = input(in, p->in[IN_PAST_VALUES], 0),
	    .mask = k->mask,
	    .y = output(out, p->out[OUT_RESULT], a->y.offset),
	    .present_k = output(out, p->out[OUT_PRESENT_KEYS], 0),
	    .present_v = output(out, p->out[OUT_PRESENT_VALUES], 0),
	};
	if (p->in[IN_MASK] >= 0)
		k->data.mask.data = in[p->in[IN_MASK]];
	lanes_each(k->parts, k->threads, run_part, k);
}

static void
divide(struct attention_kernel *k, attention_room *room, struct arena *a)
{
	const struct attention_form *x = &k->a;
	const size_t heads = x->batch * x->heads;
	const double work = (double)heads * (double)x->queries * (double)x->keys
	    * (double)(x->size + x->value_size);
	const size_t groups = heads / x->sharing,
	             wanted = team_for_products(work);

	k->threads = (uint32_t)(wanted < heads ? wanted : heads);
	k->parts = k->threads > 1 && groups > k->threads ? groups : k->threads;
	k->room = size_round_up(room(x), 16);
	k->scratch = arena_new(a, float, k->threads * k->room);
}

static void
bind_ports(struct attention_kernel *k, const struct candidate *c,
    const struct attention_node *of)
{
	for (uint32_t i = 0; i < NATTENTION_INPUTS; i++) {
		const value_id v = attention_input(of, i);

		k->port.in[i] = v == VALUE_NONE ? -1 : candidate_input(c, v);
	}
	for (uint32_t i = 0; i < OUT_SCORES; i++) {
		const value_id v = attention_output(of, i);

		k->port.out[i] = v == VALUE_NONE ? -1 : candidate_output(c, v);
	}
}

static void
bind_mask(struct attention_kernel *k, const struct native_version *v,
    const struct attention_node *of, struct arena *a)
{
	const value_id id = node_input(of->node, IN_MASK);
	const struct value *mask;

	if (id == VALUE_NONE)
		return;
	mask = graph_value(of->graph, id);
	attention_mask_read(&k->mask, &mask->type, &k->a);
	if (k->port.in[IN_MASK] >= 0)
		return;
	k->mask.data = tensor_data(mask->constant, a);
	attention_mask_ready(&k->mask, &k->a, 2 * (size_t)v->width, a);
}

bool
compile_attention(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct attention_kernel *k = arena_new(a, struct attention_kernel, 1);
	const struct native_version *v = native_version_of(t);
	const struct attention_node of = attention_of(c->match, g);
	const bool few = c->implementation == WAY_FEW;

	if (!attention_read(&k->a, &of))
		return err_set(err, ERR_UNSUPPORTED, "native: other heads");
	k->a.zero_blind = match_idiom(c->match, 0) == NULL;
	k->a.zero_nan = is_guarded(g, c->match);
	k->run = few ? v->few : v->attention;
	bind_ports(k, c, &of);
	bind_mask(k, v, &of, a);
	divide(k, few ? v->few_room : v->attention_room, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
