/* The matcher against the obvious way: write every alternative of the pattern
 * out as a plain tree, and walk each tree along the graph. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"
#include "targets/pattern.h"
#include "tests/support/support.h"

#define WAYS 4096
#define FOUND 512

/* A pattern without choices; `swap`: the node's inputs are exchanged. */
struct plain {
	const struct pattern *pattern;
	bool swap;
	uint32_t nargs;
	const struct plain *arg[PATTERN_ARGS];
};

struct ways {
	const struct plain **way; /* [WAYS] */
	uint32_t n;
};

static struct ways spell_out(const struct pattern *p, struct arena *a);

static void
add_way(struct ways *w, const struct plain *p)
{
	assert(w->n < WAYS);
	w->way[w->n++] = p;
}

static struct ways
no_ways(struct arena *a)
{
	return (struct ways){
	    arena_new(a, const struct plain *, (size_t)WAYS), 0};
}

static void
add_all(struct ways *to, struct ways from)
{
	for (uint32_t i = 0; i < from.n; i++)
		add_way(to, from.way[i]);
}

/* All combinations of the ways of each argument. */
static void
combine(struct ways *out, struct plain so_far, uint32_t at,
    const struct ways *arg, struct arena *a)
{
	if (at == so_far.nargs) {
		add_way(out,
		    (const struct plain *)arena_copy(
		        a, &so_far, sizeof so_far));
		return;
	}
	for (uint32_t i = 0; i < arg[at].n; i++) {
		so_far.arg[at] = arg[at].way[i];
		combine(out, so_far, at + 1, arg, a);
	}
}

static struct ways
spell_node(const struct pattern *p, struct arena *a)
{
	struct ways arg[PATTERN_ARGS], out = no_ways(a);
	struct plain plain = {.pattern = p, .nargs = p->nargs};

	for (uint32_t i = 0; i < p->nargs; i++)
		arg[i] = spell_out(p->arg[i], a);
	combine(&out, plain, 0, arg, a);
	if (p->kind != PATTERN_AS && op_is_commutative(p->op)
	    && p->nargs == 2) {
		plain.swap = true;
		combine(&out, plain, 0, arg, a);
	}
	return out;
}

static struct ways
spell_out(const struct pattern *p, struct arena *a)
{
	struct ways out = no_ways(a);

	switch (p->kind) {
	case PATTERN_NODE:
	case PATTERN_AS:
	case PATTERN_EVERY: /* without choices: the same for every input */
		return spell_node(p, a);
	case PATTERN_MAYBE:
		add_all(&out, spell_node(p, a));
		add_all(&out, spell_out(p->arg[0], a));
		return out;
	case PATTERN_EITHER:
		for (uint32_t i = 0; i < p->nargs; i++)
			add_all(&out, spell_out(p->arg[i], a));
		return out;
	default: {
		struct plain leaf = {.pattern = p};

		add_way(&out,
		    (const struct plain *)arena_copy(a, &leaf, sizeof leaf));
		return out;
	}
	}
}

/* A match on its way. */
struct walked {
	uint32_t nnodes, ncaptures;
	node_id node[64];
	struct capture_of capture[MATCH_CAPTURES];
};

static bool
in_match(const node_id *node, uint32_t n, node_id id)
{
	for (uint32_t i = 0; i < n; i++)
		if (node[i] == id)
			return true;
	return false;
}

static bool walk(const struct graph *g, const struct plain *p, node_id id,
    value_id v, struct walked *m);

static value_id
walked_input(
    const struct graph *g, const struct node *n, uint32_t at, node_id *id)
{
	const value_id v = node_input(n, at);

	*id = v == VALUE_NONE ? NODE_NONE : g->value[v].producer;
	if (*id != NODE_NONE && g->node[*id].output[0] != v)
		*id = NODE_NONE;
	return v;
}

static bool
walk_each(const struct graph *g, const struct plain *p, const struct node *n,
    uint32_t i, struct walked *m)
{
	node_id id;

	for (bool first = true; first || i < n->ninputs; i++, first = false) {
		const value_id v = walked_input(g, n, i, &id);

		if (!walk(g, p, id, v, m))
			return false;
	}
	return true;
}

static bool
walk_inputs(const struct graph *g, const struct plain *p, const struct node *n,
    struct walked *m)
{
	uint32_t i;

	/* exchanging needs exactly two inputs, and two different ones */
	if (p->swap && (n->ninputs != 2 || n->input[0] == n->input[1]))
		return false;
	for (i = 0; i < p->nargs; i++) {
		node_id id;
		value_id v = walked_input(g, n, p->swap ? 1 - i : i, &id);

		if (p->arg[i]->pattern->kind == PATTERN_REST)
			return true;
		if (p->arg[i]->pattern->kind == PATTERN_EVERY)
			return walk_each(g, p->arg[i]->arg[0], n, i, m);
		if (!walk(g, p->arg[i], id, v, m))
			return false;
	}
	for (; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE)
			return false;
	return true;
}

static bool
is_value_pattern(const struct pattern *p)
{
	while (p->kind == PATTERN_AS)
		p = p->arg[0];
	return p->kind == PATTERN_ANY || p->kind == PATTERN_VARIABLE
	    || p->kind == PATTERN_CONSTANT || p->kind == PATTERN_ABSENT
	    || p->kind == PATTERN_NUMBER;
}

/* What a name stands for the first time it does every time. */
static bool
take_name(struct walked *m, const char *name, node_id id, value_id v)
{
	for (uint32_t i = 0; i < m->ncaptures; i++)
		if (strcmp(m->capture[i].name, name) == 0)
			return m->capture[i].value == v;
	m->capture[m->ncaptures++] = (struct capture_of){name, id, v, NULL};
	return true;
}

static bool
walk(const struct graph *g, const struct plain *p, node_id id, value_id v,
    struct walked *m)
{
	const struct pattern *q = p->pattern;
	bool constant = v != VALUE_NONE && g->value[v].constant;

	switch (q->kind) {
	case PATTERN_ANY:
		return v != VALUE_NONE;
	case PATTERN_VARIABLE:
		return v != VALUE_NONE && !constant;
	case PATTERN_CONSTANT:
		return constant;
	case PATTERN_ABSENT:
		return v == VALUE_NONE;
	case PATTERN_AS:
		if (!walk(g, p->arg[0], id, v, m))
			return false;
		if (!in_match(m->node, m->nnodes, id) || is_value_pattern(q))
			id = NODE_NONE;
		return take_name(m, q->name, id, v);
	case PATTERN_NUMBER:
		return constant
		    && tensor_real(g->value[v].constant, 0) == q->number;
	default:
		break;
	}
	if (id == NODE_NONE
	    || (q->kind != PATTERN_OPERATOR && g->node[id].op != q->op))
		return false;
	if (!in_match(m->node, m->nnodes, id))
		m->node[m->nnodes++] = id;
	return q->kind == PATTERN_OPERATOR
	    || walk_inputs(g, p, &g->node[id], m);
}

/* One line per match, so that results compare as sorted text. */
static const char *
describe(const struct match *m, struct arena *a)
{
	const char *s = "";

	for (uint32_t i = 0; i < m->nnodes; i++)
		s = arena_printf(a, "%s%u ", s, m->node[i]);
	for (uint32_t i = 0; i < m->ncaptures; i++)
		s = arena_printf(a, "%s%s=%d/%d ", s, m->capture[i].name,
		    (int)m->capture[i].node, (int)m->capture[i].value);
	return s;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t
obvious(const struct pattern *p, const struct graph *g, node_id root,
    const char **out, struct arena *a)
{
	struct ways w = spell_out(p, a);
	uint32_t n = 0;

	for (uint32_t i = 0; i < w.n; i++) {
		struct walked m = {.nnodes = 0};
		value_id v = g->node[root].output[0];
		bool again = false;

		if (!walk(g, w.way[i], root, v, &m) || m.nnodes == 0)
			continue;
		qsort(m.node, m.nnodes, sizeof *m.node, by_u32);
		const struct match whole = {.nnodes = m.nnodes,
		    .node = m.node,
		    .ncaptures = m.ncaptures,
		    .capture = m.capture};
		const char *text = describe(&whole, a);
		for (uint32_t k = 0; k < n; k++)
			again |= strcmp(out[k], text) == 0;
		if (!again)
			out[n++] = text;
	}
	qsort(out, n, sizeof *out, by_text);
	return n;
}

/* ---- random graphs and patterns ---- */

static const enum op ops[] = {OP_RELU, OP_ADD, OP_MUL, OP_SUB, OP_CLIP};
static const uint32_t arity[] = {1, 2, 2, 2, 3};

static struct graph *
random_graph(struct rng *r, struct arena *a)
{
	struct graph *g = graph_new(a, "random");
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 0};
	struct tensor one = tensor_fill(DT_FLOAT, 0, NULL, &(float){1});
	uint32_t n = 3 + rng_below(r, 6);

	graph_add_value(g, "x", &t);
	graph_add_constant(g, "c", arena_copy(a, &one, sizeof one));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t pick = rng_below(r, 5), before = g->nvalues;
		value_id in[3], out;
		struct node node = {.op = ops[pick],
		    .op_type = op_get(ops[pick])->type,
		    .domain = "",
		    .name = "",
		    .ninputs = arity[pick],
		    .noutputs = 1,
		    .input = in,
		    .output = &out};

		for (uint32_t k = 0; k < node.ninputs; k++) {
			/* mostly what was just made, so that chains form */
			uint32_t back = rng_below(r, 3);
			in[k] = back < before ? before - 1 - back : 0;
			if (pick == 4 && k > 0 && rng_below(r, 2))
				in[k] = VALUE_NONE;
			else if (rng_below(r, 4) == 0)
				in[k] = rng_below(r, before);
		}
		out = graph_add_value(g, arena_printf(a, "v%u", before), &t);
		node.input = (value_id *)arena_copy(a, in, sizeof in);
		node.output = (value_id *)arena_copy(a, &out, sizeof out);
		graph_add_node(g, &node);
	}
	return g;
}

/* A leaf, or one operator over a leaf. */
static const struct pattern *
random_each(struct rng *r, struct arena *a)
{
	struct pattern *each = arena_new(a, struct pattern, 1);
	struct pattern *relu = arena_new(a, struct pattern, 1);
	struct pattern *leaf = arena_new(a, struct pattern, 1);

	leaf->kind = rng_below(r, 2) ? PATTERN_ANY : PATTERN_VARIABLE;
	*relu =
	    (struct pattern){.kind = PATTERN_NODE, .op = OP_RELU, .nargs = 1};
	relu->arg[0] = leaf;
	*each = (struct pattern){.kind = PATTERN_EVERY, .nargs = 1};
	each->arg[0] = rng_below(r, 2) ? relu : leaf;
	return each;
}

static const struct pattern *
random_pattern(struct rng *r, uint32_t depth, uint32_t *names, struct arena *a)
{
	struct pattern *p = arena_new(a, struct pattern, 1);
	uint32_t what = rng_below(r, depth ? 12 : 4), pick = rng_below(r, 5);

	p->op = ops[pick];
	p->nargs = arity[pick];
	if (p->nargs > 1 && rng_below(r, 8) == 0)
		p->nargs--; /* leaves an input unspoken for */
	if (what < 4) {
		static const enum pattern_kind leaf[] = {PATTERN_ANY,
		    PATTERN_ANY, PATTERN_VARIABLE, PATTERN_CONSTANT};

		*p = (struct pattern){.kind = leaf[what]};
		if (what == 3 && rng_below(r, 2)) { /* constants are 1 */
			p->kind = PATTERN_NUMBER;
			p->number = 1 + rng_below(r, 2);
		}
		return p;
	}
	p->kind = what < 8 ? PATTERN_NODE : PATTERN_MAYBE;
	if (what == 9) {
		*p = (struct pattern){.kind = PATTERN_EITHER, .nargs = 2};
	} else if (what == 10 && *names < 4) {
		*p = (struct pattern){.kind = PATTERN_AS, .nargs = 1};
		p->name = arena_printf(a, "n%u", rng_below(r, ++*names));
	} else if (what == 11) {
		*p = (struct pattern){.kind = PATTERN_OPERATOR};
	}
	for (uint32_t i = 0; i < p->nargs; i++) {
		p->arg[i] = random_pattern(r, depth - 1, names, a);
		if (p->op == OP_CLIP && i > 0 && rng_below(r, 2)) {
			struct pattern *last = arena_new(a, struct pattern, 1);

			last->kind = i == 2 && rng_below(r, 2) ? PATTERN_REST
			                                       : PATTERN_ABSENT;
			p->arg[i] = last;
		} else if (p->op == OP_CLIP && i > 0 && rng_below(r, 2)) {
			p->arg[i] = random_each(r, a);
			p->nargs = i + 1;
		}
	}
	return p;
}

static uint32_t
find(const struct pattern *p, const struct graph *g, node_id root,
    struct match *found, struct arena *a)
{
	struct arena scratch;
	const struct matches into = {found, FOUND, a, &scratch, NULL};
	uint32_t n;

	arena_init(&scratch);
	n = pattern_match(p, g, root, &into);
	arena_release(&scratch);
	return n;
}

static bool
check(uint64_t seed, uint64_t *matches, struct arena *a)
{
	struct rng r = rng_seeded(seed);
	struct graph *g = random_graph(&r, a);
	uint32_t names = 0;
	const struct pattern *p = random_pattern(&r, 3, &names, a), *again;
	struct match *found = arena_new(a, struct match, (size_t)FOUND);
	const char **want = arena_new(a, const char *, (size_t)WAYS);
	struct err err = {.kind = ERR_NONE};

	const char *text = pattern_print(p, a);
	again = pattern_parse(text, a, &err);
	if (!again || strcmp(pattern_print(again, a), text) != 0) {
		printf("seed %llu: '%s' does not parse back: %s\n",
		    (unsigned long long)seed, text, err.text);
		return false;
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		const char *have[FOUND];
		uint32_t nwant = obvious(p, g, id, want, a);
		uint32_t n = find(p, g, id, found, a);
		bool same = n == nwant;

		*matches += n;

		for (uint32_t i = 0; i < n; i++)
			have[i] = describe(&found[i], a);
		qsort(have, n, sizeof *have, by_text);
		for (uint32_t i = 0; same && i < n; i++)
			same = strcmp(have[i], want[i]) == 0;
		if (!same) {
			printf("seed %llu: '%s' at node %u: %u matches, "
			       "%u expected\n",
			    (unsigned long long)seed, text, id, n, nwant);
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 20000;
	uint64_t matches = 0;

	for (uint64_t seed = from; seed < from + n; seed++) {
		struct arena a;
		bool ok;

		arena_init(&a);
		ok = check(seed, &matches, &a);
		arena_release(&a);
		if (!ok)
			return 1;
	}
	printf("%llu random patterns, %llu matches\n", (unsigned long long)n,
	    (unsigned long long)matches);
	return matches < n / 2; /* random cases that fit nothing test nothing */
}
