/* What a placement costs by the objective of Tarnawski et al.: nodes on the CPU
 * run as soon as what they read is there, any number at a time. A piece on the
 * accelerator waits for all it reads, takes it in, runs, and puts out all that is
 * read elsewhere, before anybody sees any of it. */
#include <stdlib.h>

#include "search/placement.h"
#include "search/placement_graph.h"

struct timing {
	const struct placement *im;
	bool *accelerated; /* [ngroups] */
	uint32_t *in_start, *in; /* links by the place they lead to */
	uint32_t *turn; /* [nplaces] places, producers first */
	uint32_t *level; /* [nplaces] the piece it is in, or comes after */
	uint32_t *taken; /* [nplaces] the last piece that took its output in */
	bool *sent; /* [nplaces] something outside its piece reads it */
	cost_ns *done; /* [nplaces] */
};

static bool
is_accelerated(const struct timing *t, uint32_t place)
{
	return t->accelerated[t->im->place[place].group];
}

static void
find_devices(struct timing *t, const struct problem *p, const struct cover *c)
{
	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct problem_candidate *x =
		    &p->candidate[c->step[i].candidate];

		if (x->target == ACCELERATOR)
			t->accelerated[t->im->order[x->node[0]]] = true;
	}
}

static void
index_links(struct timing *t, struct arena *a)
{
	const struct placement *im = t->im;

	t->in_start = arena_new(a, uint32_t, (size_t)im->nplaces + 2);
	t->in = arena_new(a, uint32_t, im->nlinks);
	for (uint32_t i = 0; i < im->nlinks; i++)
		t->in_start[im->link[i].to + 2]++;
	for (uint32_t i = 0; i < im->nplaces; i++)
		t->in_start[i + 2] += t->in_start[i + 1];
	for (uint32_t i = 0; i < im->nlinks; i++)
		t->in[t->in_start[im->link[i].to + 1]++] = i;
}

/* Producers first. False: places of a colour wait for each other. */
static bool
order_places(struct timing *t, struct arena *a)
{
	const struct placement *im = t->im;
	uint32_t *waiting = arena_new(a, uint32_t, im->nplaces), left;

	for (uint32_t i = 0; i < im->nlinks; i++)
		waiting[im->link[i].from]++;
	left = im->nplaces;
	for (uint32_t i = 0; i < im->nplaces; i++)
		if (waiting[i] == 0)
			t->turn[--left] = i;
	for (uint32_t next = im->nplaces; next > left; next--) {
		uint32_t to = t->turn[next - 1];

		for (uint32_t k = t->in_start[to]; k < t->in_start[to + 1];
		     k++) {
			uint32_t from = im->link[t->in[k]].from;

			if (--waiting[from] == 0)
				t->turn[--left] = from;
		}
	}
	return left == 0;
}

/* All that is accelerated is one device's; where a path leaves it and comes back,
 * a piece ends. Levels count the pieces so far, from 1. */
static void
find_levels(struct timing *t)
{
	const struct placement *im = t->im;

	for (uint32_t i = 0; i < im->nplaces; i++) {
		uint32_t to = t->turn[i];
		bool mine = is_accelerated(t, to);
		uint32_t level = mine;

		for (uint32_t k = t->in_start[to]; k < t->in_start[to + 1];
		     k++) {
			uint32_t from = im->link[t->in[k]].from;
			uint32_t next =
			    t->level[from] + (mine && !is_accelerated(t, from));

			if (next > level)
				level = next;
		}
		t->level[to] = level;
	}
	for (uint32_t i = 0; i < im->nlinks; i++) {
		uint32_t from = im->link[i].from, to = im->link[i].to;

		if (!is_accelerated(t, to) || t->level[to] != t->level[from])
			t->sent[from] = true;
	}
}

struct turn {
	uint32_t level, turn, place;
	bool on_cpu;
};

/* A piece goes before the CPU's nodes of its level, which may read from it. */
static int
by_level(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->on_cpu != y->on_cpu)
		return x->on_cpu ? 1 : -1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static cost_ns
ready_at(const struct timing *t, uint32_t place, bool same_piece_too)
{
	cost_ns ready = 0;

	for (uint32_t k = t->in_start[place]; k < t->in_start[place + 1]; k++) {
		uint32_t from = t->im->link[t->in[k]].from;

		if ((same_piece_too || !is_accelerated(t, from)
		        || t->level[from] != t->level[place])
		    && t->done[from] > ready)
			ready = t->done[from];
	}
	return ready;
}

/* What a place of a piece takes in that no other of it has. */
static cost_ns
take_in(struct timing *t, uint32_t place)
{
	const struct placement *im = t->im;
	uint32_t level = t->level[place];
	cost_ns cost = 0;

	for (uint32_t k = t->in_start[place]; k < t->in_start[place + 1]; k++) {
		uint32_t from = im->link[t->in[k]].from;

		if (t->taken[from] == level
		    || (is_accelerated(t, from) && t->level[from] == level))
			continue;
		t->taken[from] = level;
		cost = cost_add(cost, im->place[from].transfer);
	}
	return cost;
}

static cost_ns
run_piece(struct timing *t, const struct turn *slot, uint32_t n)
{
	cost_ns ready = 0, work = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct placement_node *place =
		    &t->im->place[slot[i].place];
		cost_ns mine = ready_at(t, slot[i].place, false);

		if (mine > ready)
			ready = mine;
		work = cost_add(work, take_in(t, slot[i].place));
		work = cost_add(work, place->cost[ACCELERATOR]);
		if (t->sent[slot[i].place])
			work = cost_add(work, place->transfer);
	}
	work = cost_add(work, ready);
	for (uint32_t i = 0; i < n; i++)
		t->done[slot[i].place] = work;
	return work;
}

static cost_ns
run_all(struct timing *t, struct arena *a)
{
	uint32_t n = t->im->nplaces;
	struct turn *slot = arena_new(a, struct turn, n);
	cost_ns last = 0;

	for (uint32_t i = 0; i < n; i++)
		slot[i] = (struct turn){t->level[t->turn[i]], i, t->turn[i],
		    !is_accelerated(t, t->turn[i])};
	if (n > 0)
		qsort(slot, n, sizeof *slot, by_level);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t place = slot[i].place;
		cost_ns done;

		end = i + 1;
		while (!slot[i].on_cpu && end < n && !slot[end].on_cpu
		    && slot[end].level == slot[i].level)
			end++;
		if (slot[i].on_cpu)
			done = t->done[place] =
			    cost_add(ready_at(t, place, true),
			        t->im->place[place].cost[CPU]);
		else
			done = run_piece(t, &slot[i], end - i);
		if (done > last)
			last = done;
	}
	return last;
}

cost_ns
placement_makespan(const struct placement *im, const struct problem *p,
    const struct cover *c, struct arena *a)
{
	struct timing t = {.im = im};

	t.accelerated = arena_new(a, bool, im->ngroups);
	t.turn = arena_new(a, uint32_t, im->nplaces);
	t.level = arena_new(a, uint32_t, im->nplaces);
	t.taken = arena_new(a, uint32_t, im->nplaces);
	t.sent = arena_new(a, bool, im->nplaces);
	t.done = arena_new(a, cost_ns, im->nplaces);
	find_devices(&t, p, c);
	index_links(&t, a);
	if (!order_places(&t, a))
		return COST_NEVER;
	find_levels(&t);
	return run_all(&t, a);
}
