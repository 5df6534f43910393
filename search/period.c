#include "search/period.h"

#include <assert.h>
#include <string.h>

#include "ir/base/hash.h"
#include "ir/base/map.h"

/* TUNING: nodes that look alike in a row before their distance is tried as a
 * period. */
#define WINDOW 6u

struct period_finder {
	const struct problem *p;
	struct periods *out;
	struct arena *arena;
	uint64_t *look; /* [nnodes] what does not depend on ids */
};

/* ---- what a node looks like ---- */

static uint64_t
value_look(const struct problem *p, uint32_t value)
{
	const struct problem_value *v = &p->value[value];
	uint32_t n = p->user_start[value + 1] - p->user_start[value];
	uint32_t word[4] = {v->initial, v->required, v->mark, n};
	uint64_t h = hash64(word, sizeof word, 1);

	if (v->class == NO_CLASS)
		return h;
	return hash64(
	    &p->conversion[(size_t)v->class * p->nformats * p->nformats],
	    (size_t)p->nformats * p->nformats * sizeof *p->conversion, h);
}

static uint64_t
candidate_look(const struct problem_candidate *c)
{
	uint64_t word[5] = {c->target, c->cost, c->resource, c->nnodes,
	    (uint64_t)c->ninputs << 32 | c->noutputs};

	return hash64(word, sizeof word, c->node[c->nnodes - 1] - c->node[0]);
}

static uint64_t
node_look(const struct problem *p, uint32_t n)
{
	const struct problem_node *node = &p->node[n];
	uint64_t h = (uint64_t)node->ninputs << 32 | node->noutputs;

	for (uint32_t i = 0; i < node->noutputs; i++) {
		uint64_t look = value_look(p, node->output[i]);

		h = hash64(&look, sizeof look, h);
	}
	for (uint32_t k = p->high_start[n]; k < p->high_start[n + 1]; k++) {
		uint64_t look = candidate_look(&p->candidate[p->high[k]]);

		h = hash64(&look, sizeof look, h);
	}
	return h;
}

/* ---- is one as the other? ---- */

static bool
same_conversions(const struct problem *p, uint32_t a, uint32_t b)
{
	size_t n = (size_t)p->nformats * p->nformats;

	if (a == b)
		return true;
	return a != NO_CLASS && b != NO_CLASS
	    && memcmp(&p->conversion[a * n], &p->conversion[b * n],
	           n * sizeof *p->conversion)
	    == 0;
}

static uint32_t
output_of(const struct problem_node *node, uint32_t value)
{
	uint32_t i = 0;

	while (node->output[i] != value)
		i++;
	return i;
}

static bool
same_producer(const struct problem *p, uint32_t a, uint32_t b, uint32_t period)
{
	uint32_t x = p->value[a].producer, y = p->value[b].producer;

	if (x == NO_NODE || y == NO_NODE)
		return x == y;
	return x == y + period
	    && output_of(&p->node[x], a) == output_of(&p->node[y], b);
}

/* Is value b as value a, one period below? */
static bool
value_moves(const struct problem *p, uint32_t a, uint32_t b, uint32_t period)
{
	const struct problem_value *x = &p->value[a], *y = &p->value[b];
	uint32_t n = p->user_start[a + 1] - p->user_start[a];

	if (x->initial != y->initial || x->required != y->required
	    || x->mark != y->mark
	    || n != p->user_start[b + 1] - p->user_start[b]
	    || !same_conversions(p, x->class, y->class)
	    || !same_producer(p, a, b, period))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (p->user[p->user_start[a] + i]
		    != p->user[p->user_start[b] + i] + period)
			return false;
	return true;
}

/* Shared by all blocks, or moved. */
static bool
same_value(struct period_finder *f, uint32_t a, uint32_t b, uint32_t period)
{
	uint32_t *down = &f->out->down[a];

	if (a == b || *down == b)
		return true;
	if (*down != NO_VALUE || !value_moves(f->p, a, b, period))
		return false;
	*down = b;
	return true;
}

static bool
same_ports(struct period_finder *f, const struct problem_port *a,
    const struct problem_port *b, uint32_t n, uint32_t period)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].format != b[i].format
		    || !same_value(f, a[i].value, b[i].value, period))
			return false;
	return true;
}

static bool
same_candidate(struct period_finder *f, uint32_t a, uint32_t b, uint32_t period)
{
	const struct problem_candidate *x = &f->p->candidate[a];
	const struct problem_candidate *y = &f->p->candidate[b];

	if (x->target != y->target || x->cost != y->cost
	    || x->resource != y->resource || x->nnodes != y->nnodes
	    || x->ninputs != y->ninputs || x->noutputs != y->noutputs)
		return false;
	for (uint32_t i = 0; i < x->nnodes; i++)
		if (x->node[i] != y->node[i] + period)
			return false;
	return same_ports(f, x->input, y->input, x->ninputs, period)
	    && same_ports(f, x->output, y->output, x->noutputs, period);
}

static bool
same_node(struct period_finder *f, uint32_t a, uint32_t period)
{
	const struct problem *p = f->p;
	uint32_t b = a - period, from = p->high_start[a];
	const struct problem_node *x = &p->node[a], *y = &p->node[b];
	uint32_t n = p->high_start[a + 1] - from;

	if (x->ninputs != y->ninputs || x->noutputs != y->noutputs
	    || n != p->high_start[b + 1] - p->high_start[b])
		return false;
	for (uint32_t i = 0; i < x->ninputs; i++)
		if (!same_value(f, x->input[i], y->input[i], period))
			return false;
	for (uint32_t i = 0; i < x->noutputs; i++)
		if (x->output[i] == y->output[i]
		    || !same_value(f, x->output[i], y->output[i], period))
			return false;
	for (uint32_t k = 0; k < n; k++)
		if (!same_candidate(f, p->high[from + k],
		        p->high[p->high_start[b] + k], period))
			return false;
	return true;
}

/* ---- stretches ---- */

static uint32_t
reach_of(const struct period_finder *f, uint32_t n)
{
	const struct problem *p = f->p;
	uint32_t lowest = n;

	for (uint32_t k = p->high_start[n]; k < p->high_start[n + 1]; k++) {
		const struct problem_candidate *c = &p->candidate[p->high[k]];

		if (c->node[0] < lowest)
			lowest = c->node[0];
		for (uint32_t i = 0; i < c->ninputs; i++) {
			uint32_t v = c->input[i].value;

			if (f->out->down[v] != NO_VALUE
			    && p->value[v].producer < lowest)
				lowest = p->value[v].producer;
		}
	}
	return n - lowest;
}

/* Nodes in [low, high] look as those a period below: keep the longest part of
 * it that is. False: none of two periods. */
static bool
keep_stretch(
    struct period_finder *f, uint32_t low, uint32_t high, uint32_t period)
{
	struct periods *out = f->out;
	struct period r = {.period = period};
	uint32_t best = 0, run = 0;

	for (uint32_t n = high + 1; n-- > low;) {
		run = same_node(f, n, period) ? run + 1 : 0;
		if (run <= best)
			continue;
		best = run;
		r.low = n - period;
		r.high = n + run - 1;
	}
	if (best < 2 * period)
		return false;
	for (uint32_t n = r.low + period; n <= r.high; n++) {
		uint32_t reach = reach_of(f, n);

		if (reach > r.reach)
			r.reach = reach;
	}
	out->list = arena_grow(
	    f->arena, out->list, &out->cap, out->n + 1, sizeof *out->list);
	out->list[out->n++] = r;
	return true;
}

/* Nodes from n down that look as those `period` below: the lowest of them. */
static uint32_t
alike_down_to(const struct period_finder *f, uint32_t n, uint32_t period)
{
	while (n > period && f->look[n - 1] == f->look[n - 1 - period])
		n--;
	return n;
}

void
periods_find(
    struct periods *out, const struct problem *p, uint32_t top, struct arena *a)
{
	struct period_finder f = {p, out, a, NULL};
	uint32_t *last, tried = 0, from = 0;
	struct arena space;
	struct map seen;

	arena_init(&space);
	f.look = arena_new(&space, uint64_t, p->nnodes);
	last = arena_new(&space, uint32_t, p->nnodes);
	*out = (struct periods){.down = arena_new(a, uint32_t, p->nvalues)};
	memset(out->down, 0xff, p->nvalues * sizeof *out->down);
	for (uint32_t n = 0; n <= top; n++)
		f.look[n] = node_look(p, n);
	map_init(&seen, &space);
	for (uint32_t n = top + 1, nseen = 0; n-- > WINDOW;) {
		const uint64_t *key = &f.look[n - WINDOW + 1];
		size_t bytes = WINDOW * sizeof *key;
		uint32_t at = map_find(&seen, key, bytes), high, low, period;

		if (at == MAP_NONE) {
			map_add(&seen, key, bytes, nseen);
			last[nseen++] = n;
			continue;
		}
		high = last[at];
		last[at] = n;
		period = high - n;
		if (period == tried && high >= from)
			continue; /* part of one that was too short */
		low = alike_down_to(&f, high, period);
		tried = period;
		from = low;
		if (high - low + 1 >= 2 * period
		    && keep_stretch(&f, low, high, period))
			n = out->list[out->n - 1].low + 1;
	}
	arena_release(&space);
}

uint32_t
period_candidate(const struct problem *p, uint32_t id, uint32_t shift)
{
	const struct problem_candidate *c = &p->candidate[id];
	uint32_t n = c->node[c->nnodes - 1], k = p->high_start[n];

	while (p->high[k] != id)
		k++;
	return p->high[p->high_start[n - shift] + k - p->high_start[n]];
}
