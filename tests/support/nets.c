#include "tests/support/nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/hash.h"
#include "ir/base/map.h"
#include "search/problem_index.h"
#include "tests/support/support.h"

enum op {
	OP_CONV,
	OP_MATMUL,
	OP_NORM,
	OP_RELU,
	OP_ADD,
	OP_MUL,
	OP_POOL,
	OP_CONCAT,
	OP_SOFTMAX,
	OP_RESHAPE,
	OP_GATHER,
	NOPS
};

#define FORMATS 4u /* plain, channels last, blocked, accelerator's */
#define ACCELERATOR 3u
#define SETS_MAX 4u /* nodes of a candidate */

struct net {
	struct arena *arena;
	struct problem *p;
	enum op *op;
	uint32_t *kb; /* [nvalues] KB of a value */
	uint32_t node_cap, value_cap, op_cap, kb_cap, candidate_cap;
	struct map classes; /* signature -> class */
};

static uint32_t
add_value(struct net *n, uint32_t producer, uint32_t kb)
{
	struct problem *p = n->p;

	p->value = arena_grow(n->arena, p->value, &n->value_cap, p->nvalues + 1,
	    sizeof *p->value);
	n->kb = arena_grow(
	    n->arena, n->kb, &n->kb_cap, p->nvalues + 1, sizeof *n->kb);
	p->value[p->nvalues] = (struct problem_value){
	    .producer = producer, .initial = producer == NO_NODE};
	n->kb[p->nvalues] = kb;
	return p->nvalues++;
}

/* A node with up to three inputs (UINT32_MAX: none); the value it makes. */
static uint32_t
op(struct net *n, enum op what, uint32_t kb, uint32_t x, uint32_t y, uint32_t z)
{
	struct problem *p = n->p;
	uint32_t *in = arena_new(n->arena, uint32_t, 3);
	uint32_t *out = arena_new(n->arena, uint32_t, 1), k = 0;

	in[k++] = x;
	if (y != UINT32_MAX && y != x)
		in[k++] = y;
	if (z != UINT32_MAX && z != x && z != y)
		in[k++] = z;
	p->node = arena_grow(
	    n->arena, p->node, &n->node_cap, p->nnodes + 1, sizeof *p->node);
	n->op = arena_grow(
	    n->arena, n->op, &n->op_cap, p->nnodes + 1, sizeof *n->op);
	out[0] = add_value(n, p->nnodes, kb);
	p->node[p->nnodes] = (struct problem_node){k, 1, in, out, NULL};
	n->op[p->nnodes++] = what;
	return out[0];
}

static uint32_t
op1(struct net *n, enum op what, uint32_t kb, uint32_t x)
{
	return op(n, what, kb, x, UINT32_MAX, UINT32_MAX);
}

static uint32_t
op2(struct net *n, enum op what, uint32_t kb, uint32_t x, uint32_t y)
{
	return op(n, what, kb, x, y, UINT32_MAX);
}

static uint32_t
conv(struct net *n, uint32_t kb, uint32_t x)
{
	return op1(n, OP_NORM, kb, op1(n, OP_CONV, kb, x));
}

static uint32_t
conv_relu(struct net *n, uint32_t kb, uint32_t x)
{
	return op1(n, OP_RELU, kb, conv(n, kb, x));
}

static uint32_t
make_resnet(struct net *n, uint32_t blocks)
{
	static const uint32_t kb[4] = {3136, 1568, 784, 392};
	static const uint32_t depth[4] = {3, 4, 6, 3};
	uint32_t x = add_value(n, NO_NODE, 588);

	x = op1(n, OP_POOL, 784, conv_relu(n, 3136, x));
	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t b = 0; b < depth[s] * blocks; b++) {
			uint32_t y = conv_relu(n, kb[s] / 4, x);

			y = conv(n, kb[s], conv_relu(n, kb[s] / 4, y));
			x = op1(n, OP_RELU, kb[s],
			    op2(n, OP_ADD, kb[s], y,
			        b == 0 ? conv(n, kb[s], x) : x));
		}
	x = op1(n, OP_RESHAPE, 8, op1(n, OP_POOL, 8, x));
	return op1(n, OP_SOFTMAX, 4, op1(n, OP_MATMUL, 4, x));
}

static uint32_t
make_inception(struct net *n, uint32_t blocks)
{
	uint32_t x = add_value(n, NO_NODE, 588);

	x = op1(n, OP_POOL, 600, conv_relu(n, 2400, x));
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t kb = 600 >> (b * 2 / (blocks + 1));
		uint32_t u = conv_relu(n, kb / 4, x);
		uint32_t v = conv_relu(n, kb / 4, conv_relu(n, kb / 8, x));
		uint32_t w = conv_relu(
		    n, kb / 4, conv_relu(n, kb / 4, conv_relu(n, kb / 8, x)));
		uint32_t y = conv_relu(n, kb / 4, op1(n, OP_POOL, kb, x));

		x = op2(n, OP_CONCAT, kb, op2(n, OP_CONCAT, kb / 2, u, v),
		    op2(n, OP_CONCAT, kb / 2, w, y));
	}
	return op1(n, OP_SOFTMAX, 4, op1(n, OP_POOL, 8, x));
}

/* A separable convolution: two of depthwise, pointwise, norm after a relu. */
static uint32_t
separable(struct net *n, uint32_t kb, uint32_t x)
{
	for (int i = 0; i < 2; i++)
		x = conv(n, kb, op1(n, OP_CONV, kb, op1(n, OP_RELU, kb, x)));
	return x;
}

static uint32_t
make_nasnet(struct net *n, uint32_t cells)
{
	uint32_t before = conv(n, 400, add_value(n, NO_NODE, 588));
	uint32_t x = conv(n, 400, before);

	for (uint32_t c = 0; c < cells; c++) {
		uint32_t kb = 400 >> (c * 3 / cells);
		uint32_t h = conv_relu(n, kb, x), g = conv_relu(n, kb, before);
		uint32_t a = op2(n, OP_ADD, kb, separable(n, kb, h), h);
		uint32_t b = op2(
		    n, OP_ADD, kb, separable(n, kb, g), separable(n, kb, h));
		uint32_t d = op2(n, OP_ADD, kb, op1(n, OP_POOL, kb, h), g);
		uint32_t e = op2(n, OP_ADD, kb, op1(n, OP_POOL, kb, g),
		    op1(n, OP_POOL, kb, g));
		uint32_t f = op2(
		    n, OP_ADD, kb, separable(n, kb, g), separable(n, kb, g));

		before = x;
		x = op(n, OP_CONCAT, kb * 4, op(n, OP_CONCAT, kb * 3, a, b, d),
		    e, f);
	}
	return op1(n, OP_SOFTMAX, 4, op1(n, OP_POOL, 8, x));
}

/* Watts-Strogatz stages: each node sums what comes in and convolves it. */
static uint32_t
make_randwire(struct net *n, uint32_t size)
{
	struct rng r = rng_seeded(7);
	uint32_t x = conv_relu(n, 600, add_value(n, NO_NODE, 588));
	uint32_t *v = arena_new(n->arena, uint32_t, size);

	for (uint32_t stage = 0; stage < 3; stage++) {
		uint32_t kb = 400 >> stage;
		uint32_t *sum = arena_new(n->arena, uint32_t, size);

		memset(sum, 0xff, size * sizeof *sum);
		for (uint32_t i = 0; i < size; i++) {
			uint32_t in = sum[i] == UINT32_MAX ? x : sum[i];

			v[i] = conv(n, kb,
			    op1(n, OP_CONV, kb, op1(n, OP_RELU, kb, in)));
			for (uint32_t k = 1; k <= 2; k++) {
				uint32_t to = i + k;

				if (rng_below(&r, 4) < 3 && i + 1 < size)
					to =
					    i + 1 + rng_below(&r, size - i - 1);
				if (to >= size)
					continue;
				sum[to] = sum[to] == UINT32_MAX ? v[i]
				    : sum[to] == v[i]
				    ? v[i]
				    : op2(n, OP_ADD, kb, sum[to], v[i]);
			}
		}
		x = op2(n, OP_ADD, kb, v[size - 1], v[size - 2]);
	}
	return op1(n, OP_SOFTMAX, 4, op1(n, OP_POOL, 8, x));
}

static uint32_t
rope(struct net *n, uint32_t x, uint32_t cosine, uint32_t sine)
{
	uint32_t turned =
	    op2(n, OP_CONCAT, 64, op1(n, OP_MUL, 32, op1(n, OP_GATHER, 32, x)),
	        op1(n, OP_GATHER, 32, x));

	return op2(n, OP_ADD, 64, op2(n, OP_MUL, 64, x, cosine),
	    op2(n, OP_MUL, 64, turned, sine));
}

static uint32_t
rms_norm(struct net *n, uint32_t x)
{
	uint32_t mean = op1(n, OP_POOL, 1, op2(n, OP_MUL, 256, x, x));

	mean = op1(n, OP_NORM, 1, op1(n, OP_ADD, 1, mean));
	return op1(n, OP_MUL, 256, op2(n, OP_MUL, 256, x, mean));
}

static uint32_t
heads(struct net *n, uint32_t q, uint32_t k, uint32_t v, uint32_t mask)
{
	uint32_t s = op2(n, OP_MATMUL, 128, q, op1(n, OP_RESHAPE, 64, k));

	s = op1(n, OP_SOFTMAX, 128,
	    op2(n, OP_ADD, 128, op1(n, OP_MUL, 128, s), mask));
	return op1(n, OP_RESHAPE, 64, op2(n, OP_MATMUL, 64, s, v));
}

static uint32_t
project(struct net *n, uint32_t x)
{
	return op1(n, OP_RESHAPE, 64,
	    op1(n, OP_RESHAPE, 64, op1(n, OP_MATMUL, 64, x)));
}

static uint32_t
make_llm(struct net *n, uint32_t layers, bool llama)
{
	uint32_t x = add_value(n, NO_NODE, 256);
	uint32_t mask = add_value(n, NO_NODE, 128);
	uint32_t cosine = add_value(n, NO_NODE, 64);
	uint32_t sine = add_value(n, NO_NODE, 64);

	for (uint32_t l = 0; l < layers; l++) {
		uint32_t h = llama ? rms_norm(n, x) : x;
		uint32_t q = project(n, h), k = project(n, h);
		uint32_t v = project(n, h), y, g;

		if (llama) {
			q = rope(n, q, cosine, sine);
			k = rope(n, k, cosine, sine);
			n->p->value[k].required = 1;
			n->p->value[v].required = 1;
		}
		y = op1(n, OP_MATMUL, 256, heads(n, q, k, v, mask));
		x = op2(n, OP_ADD, 256, x, y);
		h = rms_norm(n, x);
		g = op1(n, OP_MATMUL, 700, h);
		if (llama)
			g = op2(n, OP_MUL, 700,
			    op2(n, OP_MUL, 700, g, op1(n, OP_RELU, 700, g)),
			    op1(n, OP_MATMUL, 700, h));
		else
			g = op1(n, OP_RELU, 700, g);
		x = op2(n, OP_ADD, 256, x, op1(n, OP_MATMUL, 256, g));
	}
	return op1(n, OP_MATMUL, 1000, rms_norm(n, x));
}

static uint32_t
make_heads(struct net *n, uint32_t nheads)
{
	uint32_t x = add_value(n, NO_NODE, 256);
	uint32_t mask = add_value(n, NO_NODE, 128);

	for (uint32_t l = 0; l < 2; l++) {
		uint32_t h = rms_norm(n, x), sum = UINT32_MAX;

		for (uint32_t i = 0; i < nheads; i++) {
			uint32_t y = heads(n, project(n, h), project(n, h),
			    project(n, h), mask);

			sum = sum == UINT32_MAX
			    ? y
			    : op2(n, OP_CONCAT, 64 * (i + 1), sum, y);
		}
		x = op2(n, OP_ADD, 256, x, op1(n, OP_MATMUL, 256, sum));
	}
	return x;
}

static uint64_t
noise(uint64_t seed, uint64_t from, uint64_t to)
{
	return from + hash64(&seed, sizeof seed, 12345) % (to - from + 1);
}

static bool
is_heavy(enum op o)
{
	return o == OP_CONV || o == OP_MATMUL;
}

/* What one operator alone costs on a target, before fusion, in ns. */
static uint64_t
op_cost(enum op o, uint32_t kb, uint32_t target)
{
	static const uint64_t per_kb[NOPS] = {[OP_CONV] = 900,
	    [OP_MATMUL] = 700,
	    [OP_NORM] = 90,
	    [OP_RELU] = 40,
	    [OP_ADD] = 80,
	    [OP_MUL] = 80,
	    [OP_POOL] = 120,
	    [OP_CONCAT] = 60,
	    [OP_SOFTMAX] = 200,
	    [OP_RESHAPE] = 10,
	    [OP_GATHER] = 60};
	static const uint64_t percent[4] = {60, 75, 100, 30};
	uint64_t seed = (uint64_t)o << 40 | (uint64_t)kb << 8 | target;

	return (1500 + per_kb[o] * kb) * percent[target] * noise(seed, 60, 140)
	    / 10000;
}

struct set {
	uint32_t node[SETS_MAX], n;
};

static bool
set_has(const struct set *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->node[i] == node)
			return true;
	return false;
}

static void
set_add(struct set *s, uint32_t node)
{
	uint32_t at = s->n++;

	for (; at > 0 && s->node[at - 1] > node; at--)
		s->node[at] = s->node[at - 1];
	s->node[at] = node;
}

static bool
takes(enum op o, uint32_t target)
{
	switch (target) {
	case 0:
		return o != OP_GATHER;
	case 1:
		return o != OP_SOFTMAX && o != OP_GATHER && o != OP_RESHAPE;
	case 2:
		return true;
	default:
		return o != OP_SOFTMAX && o != OP_GATHER && o != OP_RESHAPE;
	}
}

static void
add_candidate(struct net *n, const struct set *s, uint32_t target, uint32_t in,
    uint32_t out, uint64_t cost)
{
	struct problem *p = n->p;
	struct problem_candidate c = {.target = target, .nnodes = s->n};
	struct problem_port *i = arena_new(n->arena, struct problem_port, 12);
	struct problem_port *o = arena_new(n->arena, struct problem_port, 1);
	uint32_t last = s->node[s->n - 1];

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < p->node[s->node[k]].ninputs; m++) {
			uint32_t v = p->node[s->node[k]].input[m];
			uint32_t at;

			if (set_has(s, p->value[v].producer))
				continue;
			for (at = 0; at < c.ninputs && i[at].value != v; at++)
				;
			if (at < c.ninputs)
				continue;
			for (at = c.ninputs++; at > 0 && i[at - 1].value > v;
			     at--)
				i[at] = i[at - 1];
			i[at] = (struct problem_port){v, in};
		}
	o[0] = (struct problem_port){p->node[last].output[0], out};
	c.node = arena_copy(n->arena, s->node, s->n * sizeof *s->node);
	c.input = i;
	c.output = o;
	c.noutputs = 1;
	c.cost = cost;
	p->candidate = arena_grow(n->arena, p->candidate, &n->candidate_cap,
	    p->ncandidates + 1, sizeof *p->candidate);
	p->candidate[p->ncandidates++] = c;
}

/* One candidate per target and format that takes the whole set. */
static void
offer(struct net *n, const struct set *s)
{
	static const uint32_t format[4][2] = {{2, 0}, {1, 1}, {0, 0}, {3, 3}};
	uint32_t heavy = 0;

	for (uint32_t k = 0; k < s->n; k++)
		heavy += is_heavy(n->op[s->node[k]]);
	for (uint32_t t = 0; t < 4; t++) {
		uint64_t cost = 0, seed = t;
		bool ok = heavy <= 1 && (t == 2 || s->n == 1 || heavy == 1);

		for (uint32_t k = 0; k < s->n; k++) {
			enum op o = n->op[s->node[k]];
			uint32_t kb = n->kb[n->p->node[s->node[k]].output[0]];
			uint64_t c = op_cost(o, kb, t);

			ok = ok && takes(o, t);
			cost += k > 0 && !is_heavy(o) ? c / 3 : c;
			seed = hash64(&c, sizeof c, seed);
		}
		for (uint32_t f = 0; ok && f < 2; f++)
			if (f == 0 || format[t][1] != format[t][0])
				add_candidate(n, s, t, format[t][f],
				    format[t][f],
				    cost * noise(seed + f, 85, 115) / 100);
	}
}

/* Grow sets backwards from their exit: a producer joins when all its users are
 * in, so each set has one output and is convex. */
static void
grow(struct net *n, const struct set *s)
{
	const struct problem *p = n->p;

	offer(n, s);
	if (s->n == SETS_MAX)
		return;
	for (uint32_t m = s->node[0]; m-- > 0 && m + 40 > s->node[0];) {
		uint32_t v = p->node[m].output[0];
		bool joins = p->value[v].required == 0
		    && p->user_start[v] < p->user_start[v + 1];
		struct set larger = *s;

		for (uint32_t i = p->user_start[v]; i < p->user_start[v + 1];
		     i++)
			joins = joins && set_has(s, p->user[i]);
		if (!joins)
			continue;
		set_add(&larger, m);
		grow(n, &larger);
	}
}

static void
finish(struct net *n, struct arena *a)
{
	struct problem *p = n->p;
	struct err err = {0};
	static const char *const name[4] = {"libA", "libB", "codegen", "accel"};

	p->ntargets = 4;
	p->target = arena_new(a, struct problem_target, 4);
	for (uint32_t t = 0; t < 4; t++)
		p->target[t] = (struct problem_target){.name = name[t],
		    .launch = t == 3 ? 100000 : 0,
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	p->nformats = FORMATS;
	p->nclasses = p->nvalues;
	p->conversion =
	    arena_new(a, cost_ns, (size_t)p->nvalues * FORMATS * FORMATS);
	for (uint32_t v = 0; v < p->nvalues; v++) {
		p->value[v].class = v;
		for (uint32_t f = 0; f < FORMATS; f++)
			for (uint32_t t = 0; t < FORMATS; t++)
				p->conversion[(v * FORMATS + f) * FORMATS + t] =
				    f == t ? 0
				    : f == ACCELERATOR || t == ACCELERATOR
				    ? 20000 + 500u * n->kb[v]
				    : 1000 + 60u * n->kb[v];
	}
	if (!problem_index(p, a, &err)) /* for the users of values */
		abort();
	for (uint32_t k = 0; k < p->nnodes; k++)
		grow(n, &(struct set){{k}, 1});
	if (!problem_index(p, a, &err)) {
		fprintf(stderr, "net: %s\n", err.text);
		abort();
	}
}

struct problem *
net_make(const char *kind, uint32_t size, struct arena *a)
{
	struct net n = {.arena = a, .p = arena_new(a, struct problem, 1)};
	uint32_t out;

	if (strcmp(kind, "resnet") == 0)
		out = make_resnet(&n, size);
	else if (strcmp(kind, "inception") == 0)
		out = make_inception(&n, size);
	else if (strcmp(kind, "nasnet") == 0)
		out = make_nasnet(&n, size);
	else if (strcmp(kind, "randwire") == 0)
		out = make_randwire(&n, size);
	else if (strcmp(kind, "llm") == 0)
		out = make_llm(&n, size, true);
	else if (strcmp(kind, "bert") == 0)
		out = make_llm(&n, size, false);
	else if (strcmp(kind, "heads") == 0)
		out = make_heads(&n, size);
	else
		return NULL;
	n.p->value[out].required = 1;
	finish(&n, a);
	return n.p;
}
