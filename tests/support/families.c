#include "search/problem_index.h"
#include "tests/support/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

const char *const family_name[] = {"chain", "branches", "braids", "tree",
    "grid", "ladder", "feeds", "star", "capacity", "launches", "local",
    "limited", NULL};

struct maker {
	struct problem *p;
	struct arena *a;
	struct rng r;
	uint32_t node_cap, value_cap, candidate_cap; /* arrays do not grow */
};

static uint32_t
add_value(struct maker *m, struct problem_value v)
{
	if (m->p->nvalues == m->value_cap)
		abort();
	m->p->value[m->p->nvalues] = v;
	return m->p->nvalues++;
}

static uint32_t
feed(struct maker *m)
{
	return add_value(
	    m, (struct problem_value){.producer = NO_NODE, .initial = 1});
}

static void
add_candidate(struct maker *m, uint32_t target, const uint32_t *node,
    uint32_t nnodes, cost_ns cost)
{
	struct problem *p = m->p;
	const struct problem_node *first = &p->node[node[0]];
	const struct problem_node *last = &p->node[node[nnodes - 1]];
	struct problem_port *in =
	    arena_new(m->a, struct problem_port, first->ninputs);
	struct problem_port *out = arena_new(m->a, struct problem_port, 1);

	for (uint32_t i = 0; i < first->ninputs; i++)
		in[i] = (struct problem_port){first->input[i], target % 2};
	out[0] = (struct problem_port){last->output[0], target % 2};
	if (p->ncandidates == m->candidate_cap)
		abort();
	p->candidate[p->ncandidates] =
	    (struct problem_candidate){.target = target,
	        .cost = cost,
	        .resource = target,
	        .class = p->ncandidates,
	        .nnodes = nnodes,
	        .ninputs = first->ninputs,
	        .noutputs = 1,
	        .node = arena_copy(m->a, node, nnodes * sizeof *node),
	        .input = in,
	        .output = out};
	p->ncandidates++;
}

/* A node that reads ascending values; a candidate of each target for it. */
static uint32_t
add_node(struct maker *m, const uint32_t *input, uint32_t n)
{
	struct problem *p = m->p;
	uint32_t id = p->nnodes++, *out = arena_new(m->a, uint32_t, 1);

	out[0] = add_value(m, (struct problem_value){.producer = id});
	if (p->nnodes > m->node_cap)
		abort();
	p->node[id] = (struct problem_node){.ninputs = n,
	    .noutputs = 1,
	    .input = arena_copy(m->a, input, n * sizeof *input),
	    .output = out};
	for (uint32_t t = 0; t < p->ntargets; t++)
		add_candidate(m, t, &id, 1, 5 + rng_below(&m->r, 40));
	return out[0];
}

static uint32_t
add_after(struct maker *m, uint32_t a, uint32_t b)
{
	uint32_t in[2] = {a < b ? a : b, a < b ? b : a};

	return add_node(m, in, a == b ? 1 : 2);
}

/* The maker of a value and its only reader as one. */
static void
fuse(struct maker *m, uint32_t value, uint32_t reader)
{
	uint32_t both[2] = {m->p->value[value].producer, reader};

	add_candidate(m, 1, both, 2, 8 + rng_below(&m->r, 60));
}

static void
finish(struct maker *m, const uint32_t *value, uint32_t n)
{
	uint32_t v = add_node(m, value, n);

	m->p->value[v].required = 1;
}

/* n/k branches of k nodes each into one node; interleaved: all first nodes come
 * before all second ones. */
static void
make_branches(struct maker *m, uint32_t n, uint32_t k, bool interleaved)
{
	uint32_t x = feed(m), nbranches = n / k;
	uint32_t *at = arena_new(m->a, uint32_t, nbranches);

	for (uint32_t i = 0; i < nbranches * k; i++) {
		uint32_t b = interleaved ? i % nbranches : i / k;
		uint32_t from = at[b] ? at[b] : x;

		at[b] = add_node(m, &from, 1);
		if (from != x)
			fuse(m, from, m->p->nnodes - 1);
	}
	finish(m, at, nbranches);
}

static void
make_chain(struct maker *m, uint32_t n, uint32_t skip)
{
	uint32_t *all = arena_new(m->a, uint32_t, (size_t)n + 1);

	all[0] = feed(m);
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t back =
		    skip && i % skip == 0 ? all[i - skip] : all[i - 1];

		all[i] = add_after(m, all[i - 1], back);
		if (i > 1 && back == all[i - 1] && (!skip || i % skip != 1))
			fuse(m, all[i - 1], m->p->nnodes - 1);
	}
	finish(m, &all[n], 1);
}

static void
make_tree(struct maker *m, uint32_t n)
{
	uint32_t width = n / 2, *at = arena_new(m->a, uint32_t, width);

	for (uint32_t i = 0; i < width; i++)
		at[i] = feed(m);
	for (; width > 1; width = (width + 1) / 2)
		for (uint32_t i = 0; i < width; i += 2)
			at[i / 2] = i + 1 < width
			    ? add_after(m, at[i], at[i + 1])
			    : at[i];
	finish(m, at, 1);
}

static void
make_grid(struct maker *m, uint32_t n)
{
	uint32_t width = 1, *at;

	while (width * width < n)
		width++;
	at = arena_new(m->a, uint32_t, (size_t)width + 1);
	for (uint32_t i = 0; i <= width; i++)
		at[i] = feed(m);
	for (uint32_t y = 0; y < width; y++)
		for (uint32_t x = 1; x <= width; x++)
			at[x] = add_after(m, at[x], at[x - 1]);
	finish(m, &at[width], 1);
}

static void
make_feeds(struct maker *m, uint32_t n)
{
	uint32_t *at = arena_new(m->a, uint32_t, n);

	for (uint32_t i = 0; i < n; i++)
		at[i] = feed(m);
	for (uint32_t i = 0; i < n; i++)
		at[i] = add_node(m, &at[i], 1);
	finish(m, at, n);
}

static void
make_star(struct maker *m, uint32_t n)
{
	uint32_t x = feed(m), centre = add_node(m, &x, 1);

	for (uint32_t i = 0; i < n; i++)
		m->p->value[add_node(m, &centre, 1)].required = 1;
}

static void
make_targets(struct maker *m, const char *name)
{
	struct problem *p = m->p;
	static const char *const names[] = {"host", "device", "other"};
	static const cost_ns conversion[] = {0, 3, 3, 0};

	p->nformats = 2;
	p->nclasses = 1;
	p->conversion = arena_copy(m->a, conversion, sizeof conversion);
	p->ntargets = strcmp(name, "launches") == 0 ? 3 : 2;
	p->target = arena_new(m->a, struct problem_target, p->ntargets);
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t] = (struct problem_target){.name = names[t],
		    .launch = t > 0 ? 5 : 0,
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	if (strcmp(name, "local") == 0)
		p->local = 2;
	if (strcmp(name, "limited") == 0)
		p->target[1].max_run_nodes = 6;
}

struct problem *
family_make(const char *name, uint32_t n, struct arena *a)
{
	struct problem *p = arena_new(a, struct problem, 1);
	struct maker m = {.p = p, .a = a, .r = rng_seeded(n)};
	struct err err = {.kind = ERR_NONE};

	make_targets(&m, name);
	m.node_cap = n + n / 8 + 8;
	m.value_cap = 2 * n + n / 8 + 16;
	m.candidate_cap = m.node_cap * (p->ntargets + 1);
	p->node = arena_new(a, struct problem_node, m.node_cap);
	p->value = arena_new(a, struct problem_value, m.value_cap);
	p->candidate = arena_new(a, struct problem_candidate, m.candidate_cap);
	if (strcmp(name, "chain") == 0 || strcmp(name, "limited") == 0)
		make_chain(&m, n, 0);
	else if (strcmp(name, "ladder") == 0)
		make_chain(&m, n, 7);
	else if (strcmp(name, "braids") == 0)
		make_branches(&m, n, 2, true);
	else if (strcmp(name, "tree") == 0)
		make_tree(&m, n);
	else if (strcmp(name, "grid") == 0)
		make_grid(&m, n);
	else if (strcmp(name, "feeds") == 0)
		make_feeds(&m, n);
	else if (strcmp(name, "star") == 0)
		make_star(&m, n);
	else
		make_branches(
		    &m, n, strcmp(name, "branches") == 0 ? 1 : 3, false);
	if (strcmp(name, "capacity") == 0)
		p->target[1].capacity = n / 3;
	if (!problem_index(p, a, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		abort();
	}
	return p;
}
