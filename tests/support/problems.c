#include "search/problem_index.h"
#include "tests/support/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
chance(struct rng *r, uint32_t percent)
{
	return rng_below(r, 100) < percent;
}

/* Each node makes one value, some two; reads one to three earlier ones. */
static void
make_graph(struct problem *p, struct rng *r, struct arena *a)
{
	uint32_t nfed = 1 + rng_below(r, 2), v;

	p->value = arena_new(a, struct problem_value, nfed + 2 * p->nnodes);
	p->node = arena_new(a, struct problem_node, p->nnodes);
	for (v = 0; v < nfed; v++)
		p->value[v] = (struct problem_value){.producer = NO_NODE,
		    .class = rng_below(r, p->nclasses),
		    .initial = 1u << rng_below(r, p->nformats),
		    .mark = false};
	if (chance(r, 20))
		p->value[0].initial |= 1u << rng_below(r, p->nformats);
	for (uint32_t n = 0; n < p->nnodes; n++) {
		struct problem_node *node = &p->node[n];
		uint32_t *input = arena_new(a, uint32_t, 3);
		uint32_t *output = arena_new(a, uint32_t, 2);
		uint32_t reach = chance(r, 60) ? 2 : v;

		node->ninputs = 1 + (chance(r, 40) ? rng_below(r, 3) : 0);
		for (uint32_t i = 0; i < node->ninputs; i++)
			input[i] = v - 1 - rng_below(r, reach < v ? reach : v);
		node->noutputs = chance(r, 15) ? 2 : 1;
		for (uint32_t i = 0; i < node->noutputs; i++) {
			p->value[v] = (struct problem_value){
			    .producer = n, .class = rng_below(r, p->nclasses)};
			output[i] = v++;
		}
		node->input = input;
		node->output = output;
	}
	p->nvalues = v;
	for (uint32_t i = nfed; i < v; i++)
		if (i + 1 == v || chance(r, 10))
			p->value[i].required = 1u << rng_below(r, p->nformats);
}

static bool
reads(const struct problem *p, uint32_t node, uint32_t v)
{
	for (uint32_t i = 0; i < p->node[node].ninputs; i++)
		if (p->node[node].input[i] == v)
			return true;
	return false;
}

static bool
leaves(const struct problem *p, const struct problem_candidate *c, uint32_t v)
{
	if (p->value[v].required)
		return true;
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (!candidate_holds(c, n) && reads(p, n, v))
			return true;
	return false;
}

static bool
is_convex(const struct problem *p, const struct problem_candidate *c)
{
	bool after[64] = {false};

	for (uint32_t n = 0; n < p->nnodes; n++)
		for (uint32_t i = 0; i < p->node[n].ninputs; i++) {
			uint32_t m = p->value[p->node[n].input[i]].producer;

			if (m == NO_NODE)
				continue;
			if (candidate_holds(c, n) && !candidate_holds(c, m)
			    && after[m])
				return false;
			if (!candidate_holds(c, n)
			    && (candidate_holds(c, m) || after[m]))
				after[n] = true;
		}
	return true;
}

static void
add_ports(struct problem *p, struct problem_candidate *c, struct rng *r,
    struct arena *a)
{
	struct problem_port *in = arena_new(a, struct problem_port, p->nvalues);
	struct problem_port *out =
	    arena_new(a, struct problem_port, p->nvalues);
	uint32_t fin = rng_below(r, p->nformats);
	uint32_t fout = rng_below(r, p->nformats);

	for (uint32_t v = 0; v < p->nvalues; v++) {
		bool read = false,
		     made = candidate_holds(c, p->value[v].producer);

		for (uint32_t i = 0; i < c->nnodes; i++)
			read |= reads(p, c->node[i], v);
		if (read && !made)
			in[c->ninputs++] = (struct problem_port){
			    v, chance(r, 80) ? fin : rng_below(r, p->nformats)};
		if (made && leaves(p, c, v))
			out[c->noutputs++] = (struct problem_port){v,
			    chance(r, 80) ? fout : rng_below(r, p->nformats)};
	}
	c->input = in;
	c->output = out;
}

static bool
has_tap(const struct problem *p, const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (p->value[c->output[i].value].producer
		    != c->node[c->nnodes - 1])
			return true;
	return false;
}

/* A connected set grown from a node; false when it came out illegal. */
static bool
grow(struct problem *p, struct problem_candidate *c, uint32_t seed,
    uint32_t size, struct rng *r, struct arena *a)
{
	uint32_t *node = arena_new(a, uint32_t, size);

	c->node = node;
	node[c->nnodes++] = seed;
	for (uint32_t tries = 0; c->nnodes < size && tries < 20; tries++) {
		uint32_t n = rng_below(r, p->nnodes), at;
		bool touches = chance(r, 10);

		for (uint32_t i = 0; i < p->node[n].ninputs; i++)
			touches |= candidate_holds(
			    c, p->value[p->node[n].input[i]].producer);
		if (!touches || candidate_holds(c, n))
			continue;
		for (at = c->nnodes++; at > 0 && node[at - 1] > n; at--)
			node[at] = node[at - 1];
		node[at] = n;
	}
	return is_convex(p, c);
}

static void
make_candidates(struct problem *p, struct rng *r, const struct problem_mix *mix,
    struct arena *a)
{
	uint32_t extra = rng_below(r, mix->max_candidates_extra + 1);

	p->candidate =
	    arena_new(a, struct problem_candidate, p->nnodes + extra);
	for (uint32_t k = 0; k < p->nnodes + extra; k++) {
		struct problem_candidate c = {0};
		uint32_t size = k < p->nnodes ? 1 : 1 + rng_below(r, 3);
		uint32_t seed = k < p->nnodes ? k : rng_below(r, p->nnodes);

		if (!grow(p, &c, seed, size, r, a))
			continue;
		add_ports(p, &c, r, a);
		if (!mix->taps && has_tap(p, &c) && c.nnodes > 1)
			continue;
		c.target = rng_below(r, p->ntargets);
		c.cost = 1 + rng_below(r, 20) * c.nnodes;
		c.class = k;
		c.banned = k >= p->nnodes && chance(r, 5);
		if (chance(r, 2))
			c.cost = COST_NEVER;
		if (mix->resources)
			c.resource = rng_below(r, 4);
		p->candidate[p->ncandidates++] = c;
	}
}

static void
make_targets(struct problem *p, struct rng *r, const struct problem_mix *mix,
    struct arena *a)
{
	p->target = arena_new(a, struct problem_target, p->ntargets);
	for (uint32_t t = 0; t < p->ntargets; t++) {
		struct problem_target *x = &p->target[t];

		*x = (struct problem_target){.name = "t",
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
		if (mix->launches && chance(r, 60))
			x->launch = 1 + rng_below(r, 12);
		if (mix->limits && chance(r, 20))
			x->max_runs = 1 + rng_below(r, 3);
		if (mix->limits && chance(r, 20))
			x->max_run_nodes = 1 + rng_below(r, 4);
		if (mix->limits && chance(r, 10))
			x->fed_only = true;
		if (mix->resources && chance(r, 40))
			x->capacity = rng_below(r, 10);
		if (mix->parts && t > 0 && chance(r, 50)) {
			x->part_of = 1;
			x->capacity = UINT64_MAX;
			x->max_runs = 1 + rng_below(r, 2);
		}
	}
}

/* Several ways into the format cost the same. */
static void
tie_entries(struct problem *p, uint32_t class, uint32_t format, struct rng *r)
{
	size_t n = p->nformats, first = class * n * n;

	for (size_t f = 1; f < n; f++)
		if (!(p->local >> f & 1) && chance(r, 70))
			p->conversion[first + f * n + format] =
			    p->conversion[first + format];
	if (chance(r, 50))
		p->conversion[first + format] = COST_NEVER;
}

/* All but the first may be local; the caller never has those. */
static void
make_local(struct problem *p, struct rng *r)
{
	for (uint32_t f = 1; f < p->nformats; f++)
		if (chance(r, 50))
			p->local |= 1u << f;
	for (uint32_t f = 1; f < p->nformats; f++)
		for (uint32_t c = 0; p->local >> f & 1 && c < p->nclasses; c++)
			if (chance(r, 30))
				tie_entries(p, c, f, r);
	for (uint32_t v = 0; v < p->nvalues; v++) {
		struct problem_value *x = &p->value[v];

		if (x->initial & p->local)
			x->initial = 1;
		if (x->required & p->local)
			x->required = 1;
	}
}

struct problem *
problem_random(struct rng *r, const struct problem_mix *mix, struct arena *a)
{
	struct problem *p = arena_new(a, struct problem, 1);
	struct err err = {0};
	size_t ncosts;

	p->nnodes = 1 + rng_below(r, mix->max_nodes);
	p->nformats = 1 + rng_below(r, mix->max_formats);
	p->ntargets = 1 + rng_below(r, mix->max_targets);
	p->nclasses = 1 + rng_below(r, 2);
	ncosts = (size_t)p->nclasses * p->nformats * p->nformats;
	p->conversion = arena_new(a, cost_ns, ncosts);
	for (size_t i = 0; i < ncosts; i++)
		p->conversion[i] = chance(r, 8) ? COST_NEVER : rng_below(r, 15);
	make_graph(p, r, a);
	if (mix->local)
		make_local(p, r);
	make_targets(p, r, mix, a);
	make_candidates(p, r, mix, a);
	for (uint32_t v = 0; mix->marks && v < p->nvalues; v++)
		p->value[v].mark = chance(r, 15);
	if (!problem_index(p, a, &err)) {
		fprintf(stderr, "random problem: %s\n", err.text);
		abort();
	}
	return p;
}

bool
problem_spoil(struct problem *p, uint32_t candidate, uint32_t *port,
    struct rng *r, struct arena *a)
{
	struct problem_candidate *c = &p->candidate[candidate];
	uint32_t v = rng_below(r, p->nvalues), at = 0;
	struct problem_port *in =
	    arena_new(a, struct problem_port, (size_t)c->ninputs + 1);

	for (uint32_t i = 0; i < c->nnodes; i++)
		if (p->value[v].producer == c->node[i])
			return false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (c->input[i].value == v)
			return false;
	while (at < c->ninputs && c->input[at].value < v)
		at++;
	for (uint32_t i = 0; i < c->ninputs; i++)
		in[i + (i >= at)] = c->input[i];
	in[at] = (struct problem_port){v, rng_below(r, p->nformats)};
	c->input = in;
	c->ninputs++;
	*port = at;
	return true;
}

#define BLOCK_MAX 4u

/* What is the same in every block. */
struct block {
	uint32_t nnodes, times;
	uint32_t ninputs[BLOCK_MAX], class[BLOCK_MAX], required[BLOCK_MAX];
	uint32_t back[BLOCK_MAX][3]; /* nodes back; 0: fed to all blocks,
				      * UINT32_MAX: fed to this block */
};

static void
make_block(struct block *b, const struct problem *p, struct rng *r)
{
	b->nnodes = 1 + rng_below(r, BLOCK_MAX);
	b->times = 5 + rng_below(r, 56 / b->nnodes - 5);
	for (uint32_t n = 0; n < b->nnodes; n++) {
		b->ninputs[n] = 1 + (chance(r, 50) ? rng_below(r, 3) : 0);
		b->class[n] = rng_below(r, p->nclasses);
		if (chance(r, 10))
			b->required[n] = 1u << rng_below(r, p->nformats);
		for (uint32_t i = 0; i < b->ninputs[n]; i++)
			b->back[n][i] = i == 0 ? 1
			    : chance(r, 20)    ? 0
			    : chance(r, 10)    ? UINT32_MAX
			                    : 1 + rng_below(r, b->nnodes + 1);
	}
}

/* Values: 0 is fed to the first block, 1 to all, 2 + i to block i, and then
 * what the nodes make. */
static void
repeat_block(
    struct problem *p, const struct block *b, struct rng *r, struct arena *a)
{
	uint32_t nfed = 2 + b->times;

	p->nnodes = b->nnodes * b->times;
	p->nvalues = nfed + p->nnodes;
	p->node = arena_new(a, struct problem_node, p->nnodes);
	p->value = arena_new(a, struct problem_value, p->nvalues);
	for (uint32_t v = 0; v < nfed; v++)
		p->value[v] =
		    (struct problem_value){.producer = NO_NODE, .initial = 1};
	p->value[1].initial = 1u << rng_below(r, p->nformats);
	for (uint32_t n = 0; n < p->nnodes; n++) {
		uint32_t at = n % b->nnodes;
		uint32_t *input = arena_new(a, uint32_t, 3);
		uint32_t *output = arena_new(a, uint32_t, 1);

		for (uint32_t i = 0; i < b->ninputs[at]; i++) {
			uint32_t back = b->back[at][i];

			input[i] = back == 0     ? 1
			    : back == UINT32_MAX ? 2 + n / b->nnodes
			    : back > n           ? 0
			                         : nfed + n - back;
		}
		output[0] = nfed + n;
		p->value[nfed + n] = (struct problem_value){.producer = n,
		    .class = b->class[at],
		    .required = b->required[at]};
		p->node[n] = (struct problem_node){
		    b->ninputs[at], 1, input, output, NULL};
	}
	p->value[p->nvalues - 1].required = 1;
}

/* The candidate at its place in every block, in the same formats at the same
 * cost. */
static void
repeat_candidate_of(struct problem *p, const struct block *b,
    const struct problem_candidate *one, const struct problem_mix *mix,
    struct rng *r, struct arena *a)
{
	uint32_t low = one->node[0] % b->nnodes;
	struct rng same = *r, formats = *r;

	for (uint32_t n = low; n < p->nnodes; n += b->nnodes) {
		struct problem_candidate c = *one;
		uint32_t *node = arena_new(a, uint32_t, c.nnodes);

		if (n + one->node[one->nnodes - 1] - one->node[0] >= p->nnodes)
			break;
		for (uint32_t i = 0; i < c.nnodes; i++)
			node[i] = one->node[i] - one->node[0] + n;
		c.node = node;
		formats = same;
		add_ports(p, &c, &formats, a);
		if (is_convex(p, &c)
		    && (mix->taps || c.nnodes == 1 || !has_tap(p, &c)))
			p->candidate[p->ncandidates++] = c;
	}
	*r = formats;
}

struct problem *
problem_repeated(struct rng *r, const struct problem_mix *mix, struct arena *a)
{
	struct problem *p = arena_new(a, struct problem, 1);
	uint32_t extra = rng_below(r, mix->max_candidates_extra + 1);
	struct err err = {0};
	struct block b = {0};
	size_t ncosts;

	p->nformats = 1 + rng_below(r, mix->max_formats);
	p->ntargets = 1 + rng_below(r, mix->max_targets);
	p->nclasses = 1 + rng_below(r, 2);
	ncosts = (size_t)p->nclasses * p->nformats * p->nformats;
	p->conversion = arena_new(a, cost_ns, ncosts);
	for (size_t i = 0; i < ncosts; i++)
		p->conversion[i] = chance(r, 8) ? COST_NEVER : rng_below(r, 15);
	make_block(&b, p, r);
	repeat_block(p, &b, r, a);
	make_targets(p, r, mix, a);
	p->candidate = arena_new(
	    a, struct problem_candidate, (size_t)(b.nnodes + extra) * b.times);
	for (uint32_t k = 0; k < b.nnodes + extra; k++) {
		struct problem_candidate c = {0};
		uint32_t seed = b.nnodes + k % b.nnodes;

		if (!grow(p, &c, seed, k < b.nnodes ? 1 : 1 + rng_below(r, 3),
		        r, a))
			continue;
		c.target = rng_below(r, p->ntargets);
		c.cost = 1 + rng_below(r, 20) * c.nnodes;
		c.class = k;
		repeat_candidate_of(p, &b, &c, mix, r, a);
	}
	if (!problem_index(p, a, &err)) {
		fprintf(stderr, "repeated problem: %s\n", err.text);
		abort();
	}
	return p;
}
