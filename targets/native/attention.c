/* Attention as one kernel: which is taken, where its operands lie, on how many
 * threads. */
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/native/attention_form.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/team.h"
#include "targets/threads.h"

#define NEED why_need

/* Inputs of the operator. */
enum { QUERIES, KEYS, VALUES, MASK, PAST_KEYS, PAST_VALUES, LENGTHS };
#define RESULT MASK /* where places are told */

/* ---- what is taken ---- */

/* The operator, where its operands may be moved by nodes of the match. */
struct attention_node {
	const struct node *node;
	const struct graph *graph;
	const struct idiom_place *place; /* NULL: they are not */
};

static struct attention_node
operator_of(const struct match *m, const struct graph *g)
{
	const struct idiom_match *found = match_idiom(m, 0);
	struct attention_node n = {
	    match_as_node(m, g), match_graph(m, g), NULL};

	if (found && found->over) {
		n.node = found->over;
		n.place = found->place;
	}
	return n;
}

/* The value that an operand lies in. */
static value_id
value_of(const struct attention_node *n, uint32_t i)
{
	return n->place ? n->place[i].value : n->node->input[i];
}

static bool
view_operand(struct view *v, const struct attention_node *n, uint32_t i)
{
	const value_id id =
	    i == RESULT ? n->node->output[0] : n->node->input[i];

	if (!n->place)
		return view_of(v, &graph_value(n->graph, id)->type);
	*v = n->place[i].view;
	return true;
}

/* How the heads of an operand lie; false: it is no such tensor. */
static bool
read_heads(const struct attention_node *n, uint32_t i, int64_t heads,
    struct attention_operand *o, int64_t dim[4])
{
	struct view v;
	bool flat;

	if (!view_operand(&v, n, i) || v.rank < 3 || v.rank > 4)
		return false;
	flat = v.rank == 3;
	heads = flat ? heads : v.dim[1];
	if (heads < 1 || (flat && v.dim[2] % heads != 0)
	    || (v.step[v.rank - 1] != 1 && v.dim[v.rank - 1] != 1))
		return false;
	dim[0] = v.dim[0];
	dim[1] = heads;
	dim[2] = v.dim[v.rank - 2];
	dim[3] = flat ? v.dim[2] / heads : v.dim[3];
	*o = (struct attention_operand){
	    .offset = (size_t)v.offset,
	    .batch = (size_t)v.step[0],
	    .head = (size_t)(flat ? dim[3] : v.step[1]),
	    .row = (size_t)v.step[v.rank - 2],
	};
	return true;
}

/* Its strides over [batch, heads, queries]; keys are neighbours. */
static bool
read_mask(const struct type *t, const struct attention_form *a,
    struct attention_mask *m)
{
	const size_t want[4] = {a->batch, a->heads, a->queries, a->keys};
	size_t step = 1;

	*m = (struct attention_mask){.bytes = t->dtype == DT_BOOL};
	if (!type_is_static(t) || t->rank < 1 || t->rank > 4
	    || (t->dtype != DT_BOOL && t->dtype != DT_FLOAT))
		return false;
	for (uint32_t i = t->rank; i-- > 0;) {
		const size_t at = 4 - t->rank + i;
		const bool whole = (size_t)t->dim[i] == want[at];

		if (!whole && (t->dim[i] != 1 || at == 3))
			return false;
		if (at < 3)
			m->stride[at] = t->dim[i] == 1 ? 0 : step;
		step *= (size_t)t->dim[i];
	}
	return true;
}

/* The sizes and places of the operator's operands; false: they do not fit. */
static bool
read_attention(struct attention_form *a, const struct attention_node *of)
{
	const struct node *n = of->node;
	const int64_t hq = attr_int_or(n, "q_num_heads", 0);
	const int64_t hk = attr_int_or(n, "kv_num_heads", 0);
	int64_t q[4], k[4], v[4];

	*a = (struct attention_form){
	    .causal = attr_int_or(n, "is_causal", 0) != 0};
	if (!read_heads(of, QUERIES, hq, &a->q, q)
	    || !read_heads(of, KEYS, hk, &a->k, k)
	    || !read_heads(of, VALUES, hk, &a->v, v) || q[0] != k[0]
	    || q[0] != v[0] || k[1] != v[1] || q[1] % k[1] || k[2] != v[2]
	    || q[3] != k[3] || k[2] < 1)
		return false;
	a->batch = (size_t)q[0];
	a->heads = (size_t)q[1];
	a->sharing = (size_t)(q[1] / k[1]);
	a->queries = (size_t)q[2];
	a->keys = (size_t)k[2];
	a->size = (size_t)q[3];
	a->value_size = (size_t)v[3];
	a->scale = node_attr(n, "scale") ? attr_float_or(n, "scale", 0)
	                                 : 1 / sqrtf((float)a->size);
	return read_heads(of, RESULT, (int64_t)a->heads, &a->y, v);
}

static bool
need_plain_form(const struct match_in *m, struct why *why, const struct node *n)
{
	const bool windows = attr_int_or(n, "left_window_size", -1) >= 0
	    || attr_int_or(n, "right_window_size", -1) >= 0;
	bool ok = NEED(why,
	    node_input(n, PAST_KEYS) == VALUE_NONE
	        && node_input(n, PAST_VALUES) == VALUE_NONE
	        && node_input(n, LENGTHS) == VALUE_NONE,
	    "past", "none, and no lengths", "given");

	ok = NEED(why, attr_float_or(n, "softcap", 0) == 0, "softcap", "0",
	         "another")
	    && ok;
	ok = NEED(why, !windows, "window", "none", "given") && ok;
	return need_first_output(m, why, n) && ok;
}

bool
accept_attention(const struct match_in *m, struct why *why)
{
	const struct attention_node of = operator_of(m->match, m->graph);
	const struct node *n = of.node;
	struct attention_form a;
	struct attention_mask mask;
	bool ok;

	if (!NEED(why, n != NULL, "operator", "one that computes the same",
	        "none"))
		return false;
	for (uint32_t i = QUERIES; i <= VALUES; i++)
		if (!need_tensor(m, why, value_of(&of, i))
		    || !need_size(m, why, value_of(&of, i))
		    || !NEED(why,
		        !graph_value(of.graph, value_of(&of, i))->constant,
		        "operand", "computed", "a constant"))
			return false;
	ok = need_plain_form(m, why, n);
	if (!NEED(why, read_attention(&a, &of), "heads",
	        "the same size of queries and keys", "others"))
		return false;
	return NEED(why,
	           node_input(n, MASK) == VALUE_NONE
	               || read_mask(
	                   &graph_value(of.graph, n->input[MASK])->type, &a,
	                   &mask),
	           "mask", "floats or booleans, one for each key", "another")
	    && ok;
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

uint32_t
ways_attention(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m;
	(void)f;
	(void)max;
	out[0] = (struct implementation){.name = "rows"};
	return 1;
}

/* ---- a kernel ---- */

struct attention_kernel {
	struct attention_form a;
	struct attention_mask mask;
	const struct native_version *version;
	int32_t port[4]; /* of the operands, and of the mask: < 0, a constant */
	struct attention_data data;
	uint32_t parts;
	size_t room; /* floats of each part's scratch */
	float *scratch;
};

/* As many heads as the other parts, side by side. */
static void
run_part(void *of, uint32_t part)
{
	const struct attention_kernel *k = of;
	const size_t n = k->a.batch * k->a.heads;
	const size_t end = n * (part + 1) / k->parts;

	for (size_t i = n * part / k->parts; i < end; i++)
		k->version->attention(&k->a, &k->data, i / k->a.heads,
		    i % k->a.heads, k->scratch + part * k->room);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct attention_kernel *k = kernel->state;

	k->data = (struct attention_data){
	    .q = (const float *)in[k->port[QUERIES]] + k->a.q.offset,
	    .k = (const float *)in[k->port[KEYS]] + k->a.k.offset,
	    .v = (const float *)in[k->port[VALUES]] + k->a.v.offset,
	    .mask = k->mask,
	    .y = out[0],
	};
	if (k->port[MASK] >= 0)
		k->data.mask.data = in[k->port[MASK]];
	team_run(k->parts, run_part, k);
}

/* TUNING: fewer multiplications are one thread's: waking another takes as long. */
#define LEAST_PART 200000u

static void
divide(struct attention_kernel *k, struct arena *a)
{
	const struct attention_form *x = &k->a;
	const size_t heads = x->batch * x->heads;
	const double work = (double)heads * (double)x->queries * (double)x->keys
	    * (double)(x->size + x->value_size);
	size_t parts = work < 2. * LEAST_PART ? 1 : target_threads();

	parts = parts < heads ? parts : heads;
	k->parts = (uint32_t)parts;
	k->room = size_round_up(k->version->attention_room(x), 16);
	k->scratch = arena_new(a, float, parts * k->room);
}

/* ---- masks that are constant ---- */

/* Rows of one head's mask; false: one sees nothing. */
static bool
read_rows(const struct attention_kernel *k, size_t batch, size_t head,
    size_t step, float *to)
{
	const struct attention_mask *m = &k->mask;
	bool all = true;

	for (size_t r = 0; r < k->a.queries; r++, to += step) {
		const size_t at = batch * m->stride[0] + head * m->stride[1]
		    + r * m->stride[2];
		bool sees = false;

		for (size_t j = 0; j < step; j++) {
			to[j] = j >= k->a.keys || (k->a.causal && j > r)
			    ? -INFINITY
			    : m->bytes
			    ? ((const uint8_t *)m->data)[at + j] ? 0 : -INFINITY
			    : ((const float *)m->data)[at + j];
			sees = sees || !(to[j] == -INFINITY);
		}
		all = all && sees;
	}
	return all;
}

/* Finds the block among the first n, or makes it the last of them. */
static uint32_t
find_block(float *ready, uint32_t n, size_t floats)
{
	const float *last = ready + (size_t)n * floats;
	uint32_t i = 0;

	while (i < n
	    && memcmp(ready + i * floats, last, floats * sizeof *ready) != 0)
		i++;
	return i;
}

/* TUNING: more floats are not made ready, but copied as they are read. */
#define READY_MOST ((size_t)1 << 22)

/* Most windows have the same mask: each is there once, a row as long as panels. */
static void
ready_mask(struct attention_kernel *k, struct arena *a)
{
	const size_t heads = k->a.batch * k->a.heads;
	const size_t step =
	    size_round_up(k->a.keys, 2 * (size_t)k->version->width);
	const size_t floats = k->a.queries * step;
	uint32_t *block = arena_new(a, uint32_t, heads), n = 0;
	struct arena scratch;
	float *ready;
	bool sees = true;

	if (floats > READY_MOST / heads)
		return;
	arena_init(&scratch);
	ready = arena_new(&scratch, float, heads *floats);
	for (size_t i = 0; i < heads; i++) {
		sees = read_rows(k, i / k->a.heads, i % k->a.heads, step,
		           ready + n * floats)
		    && sees;
		block[i] = find_block(ready, n, floats);
		n += block[i] == n;
	}
	if (sees || !k->a.zero_blind) {
		k->mask.ready = (const float *)arena_copy(
		    a, ready, n * floats * sizeof *ready);
		k->mask.block = block;
	}
	arena_release(&scratch);
}

static void
bind_mask(struct attention_kernel *k, const struct graph *g,
    const struct candidate *c, value_id v, struct arena *a)
{
	const struct value *mask = graph_value(g, v);

	read_mask(&mask->type, &k->a, &k->mask);
	k->port[MASK] = candidate_input(c, v);
	if (k->port[MASK] >= 0)
		return;
	k->mask.data = tensor_data(mask->constant, a);
	ready_mask(k, a);
}

bool
compile_attention(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct attention_kernel *k = arena_new(a, struct attention_kernel, 1);
	const struct attention_node of = operator_of(c->match, g);
	const struct node *n = of.node;

	k->version = native_version_of(t);
	if (!read_attention(&k->a, &of))
		return err_set(err, ERR_UNSUPPORTED, "native: other heads");
	k->a.zero_blind = match_idiom(c->match, 0) == NULL;
	k->a.zero_nan = is_guarded(g, c->match);
	k->port[MASK] = -1;
	for (uint32_t i = QUERIES; i <= VALUES; i++)
		k->port[i] = candidate_input(c, value_of(&of, i));
	if (node_input(n, MASK) != VALUE_NONE)
		bind_mask(k, of.graph, c, n->input[MASK], a);
	divide(k, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
