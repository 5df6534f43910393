#include "search/capacity/rcsp.h"

#include <assert.h>
#include <stdlib.h>

#include "search/capacity/multiplier.h"
#include "search/capacity/envelope.h"
#include "search/capacity/state_graph.h"
#include "ir/base/verify.h"

/* TUNING: arcs a node up to which there are few states (placement files have 7
 * to 60); how many times more ways a state keeps in each further pass. */
#define STATE_RATE 300
#define ROOM_FACTOR 16

/* A path to a state, or the first part of a cover. */
struct path {
	uint64_t used;
	cost_ns cost;
};

/* Ways none of which is better than another: used rises, costs fall. */
struct pareto_front {
	struct path *way;
	uint32_t n, cap;
};

struct rcsp {
	const struct problem *p;
	const struct budget *budget;
	const struct state_graph *states;
	struct arena *space;
	uint32_t target;
	uint32_t shift; /* hulls count in units of 2^shift */
	uint64_t capacity;
	struct envelope *hull; /* [nstates] of what follows */
	struct pareto_front *front; /* [nstates] */
	struct pareto_front work, more; /* scratch */
	cost_ns *bound, *sorted; /* scratch: of work's ways */
	struct envelope_point *point; /* scratch */
	uint32_t bound_cap, sorted_cap, point_cap;
	cost_ns upper; /* only covers cheaper than this are looked for */
	cost_ns dropped; /* least bound of what found no room */
	uint32_t room;
};

static uint64_t
resource_of(const struct rcsp *x, const struct state_arc *arc)
{
	const struct problem_candidate *c = &x->p->candidate[arc->candidate];

	return target_owner(x->p, c->target) == x->target ? c->resource : 0;
}

static void
make_envelope(struct rcsp *x, uint32_t state)
{
	static struct envelope_point end;
	const struct state_graph *s = x->states;
	uint32_t n = 0;

	if (s->top[state] == NO_NODE) {
		x->hull[state] = (struct envelope){&end, 1};
		return;
	}
	for (uint32_t i = s->out_start[state]; i < s->out_start[state + 1];
	     i++) {
		const struct state_arc *arc = &s->arc[s->out[i]];
		const struct envelope *next = &x->hull[arc->to];
		uint64_t units = resource_of(x, arc) >> x->shift;

		if (units > x->capacity >> x->shift)
			continue;
		x->point = arena_grow(x->space, x->point, &x->point_cap,
		    n + next->n, sizeof *x->point);
		for (uint32_t k = 0; k < next->n; k++)
			x->point[n++] = (struct envelope_point){
			    units + next->point[k].units,
			    cost_add(arc->cost, next->point[k].cost)};
	}
	envelope_make(
	    &x->hull[state], x->point, n, x->capacity >> x->shift, x->space);
}

/* (P1) use rises and costs fall along a front; (P2) no path is over the capacity. */
static void
front_verify(const struct rcsp *x, const struct pareto_front *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		assert(f->way[i].used <= x->capacity); /* (P2) */
		assert(f->way[i].cost != COST_NEVER);
		assert(
		    i == 0 || f->way[i - 1].used < f->way[i].used); /* (P1) */
		assert(
		    i == 0 || f->way[i - 1].cost > f->way[i].cost); /* (P1) */
	}
}

/* Merge ways that come by an arc into those at work. */
static void
merge(struct rcsp *x, const struct pareto_front *from,
    const struct state_arc *arc)
{
	const struct pareto_front *work = &x->work;
	struct pareto_front *out = &x->more, old;
	uint64_t resource = resource_of(x, arc);
	uint32_t i = 0, k = 0, n = 0;

	out->way = arena_grow(
	    x->space, out->way, &out->cap, work->n + from->n, sizeof *out->way);
	while (i < work->n || k < from->n) {
		struct path a = {UINT64_MAX, COST_NEVER}, b = a;

		if (i < work->n)
			a = work->way[i];
		if (k < from->n
		    && resource <= x->capacity - from->way[k].used) {
			b.used = from->way[k].used + resource;
			b.cost = cost_add(from->way[k].cost, arc->cost);
		} else {
			k = from->n;
		}
		if (b.used < a.used || (b.used == a.used && b.cost < a.cost)) {
			a = b;
			k++;
		} else {
			i++;
		}
		if (a.cost < (n ? out->way[n - 1].cost : COST_NEVER))
			out->way[n++] = a;
	}
	out->n = n;
	old = x->work;
	x->work = x->more;
	x->more = old;
	assert(x->work.n <= x->work.cap);
	VERIFY(front_verify(x, &x->work));
}

static int
ascending(const void *a, const void *b)
{
	const cost_ns *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The bound from which on ways have to go, and how many of exactly that may stay. */
static cost_ns
find_limit(struct rcsp *x, uint32_t n, uint32_t *spare)
{
	cost_ns limit;
	uint32_t less = 0;

	*spare = 0;
	if (n <= x->room)
		return COST_NEVER;
	x->sorted = arena_grow(
	    x->space, x->sorted, &x->sorted_cap, n, sizeof *x->sorted);
	for (uint32_t i = 0; i < n; i++)
		x->sorted[i] = x->bound[i];
	qsort(x->sorted, n, sizeof *x->sorted, ascending);
	limit = x->sorted[x->room];
	while (x->sorted[less] < limit)
		less++;
	*spare = x->room - less;
	if (limit < x->dropped)
		x->dropped = limit;
	return limit;
}

/* Drop ways that cannot win, and those there is no room for. */
static void
trim(struct rcsp *x, uint32_t state)
{
	struct pareto_front *w = &x->work;
	uint32_t n = 0, kept = 0, spare;
	cost_ns limit;

	x->bound = arena_grow(
	    x->space, x->bound, &x->bound_cap, w->n, sizeof *x->bound);
	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t left = x->capacity - w->way[i].used;
		cost_ns bound = cost_add(w->way[i].cost,
		    envelope_at(&x->hull[state], left >> x->shift));

		if (bound >= x->upper)
			continue;
		x->bound[n] = bound;
		w->way[n++] = w->way[i];
	}
	limit = find_limit(x, n, &spare);
	for (uint32_t i = 0; i < n; i++) {
		if (x->bound[i] > limit || (x->bound[i] == limit && !spare))
			continue;
		spare -= x->bound[i] == limit;
		w->way[kept++] = w->way[i];
	}
	assert(kept <= x->room);
	x->front[state].n = kept;
	x->front[state].way =
	    arena_copy(x->space, w->way, kept * sizeof *w->way);
}

/* All ways to a state. */
static void
gather(struct rcsp *x, uint32_t state)
{
	const struct state_graph *s = x->states;

	x->work.n = 0;
	if (state == s->order[0]) {
		x->work.way = arena_grow(x->space, x->work.way, &x->work.cap, 1,
		    sizeof *x->work.way);
		x->work.way[x->work.n++] = (struct path){0, s->base};
	}
	for (uint32_t i = s->in_start[state]; i < s->in_start[state + 1]; i++)
		merge(x, &x->front[s->arc[i].from], &s->arc[i]);
}

/* False: there is no time or memory for that. */
static bool
find_paths(struct rcsp *x)
{
	x->dropped = COST_NEVER;
	x->front = arena_new(x->space, struct pareto_front, x->states->nstates);
	for (uint32_t i = 0; i < x->states->nstates; i++) {
		if (budget_is_short(x->budget, x->space->bytes))
			return false;
		gather(x, x->states->order[i]);
		trim(x, x->states->order[i]);
	}
	return true;
}

/* The last state with the cheapest way; its ways are sorted by falling costs. */
static uint32_t
find_last(const struct rcsp *x, struct path *out)
{
	uint32_t last = UINT32_MAX;

	*out = (struct path){0, COST_NEVER};
	for (uint32_t i = 0; i < x->states->nstates; i++) {
		const struct pareto_front *f = &x->front[i];

		if (x->states->top[i] == NO_NODE && f->n > 0
		    && f->way[f->n - 1].cost < out->cost) {
			*out = f->way[f->n - 1];
			last = i;
		}
	}
	return last;
}

/* Does a way to where the arc begins become this one? Then it is stepped back. */
static bool
step_back(const struct rcsp *x, const struct state_arc *arc, struct path *way)
{
	const struct pareto_front *f = &x->front[arc->from];
	uint64_t resource = resource_of(x, arc);

	for (uint32_t i = 0; i < f->n; i++)
		if (f->way[i].used + resource == way->used
		    && cost_add(f->way[i].cost, arc->cost) == way->cost) {
			*way = f->way[i];
			return true;
		}
	return false;
}

static void
trace(const struct rcsp *x, uint32_t state, struct path way, struct cover *out,
    struct arena *a)
{
	const struct state_graph *s = x->states;
	const struct state_arc **arc =
	    arena_new(a, const struct state_arc *, x->p->nnodes);
	uint32_t at = x->p->nnodes;

	while (state != s->order[0])
		for (uint32_t i = s->in_start[state];; i++) {
			assert(i < s->in_start[state + 1]);
			if (step_back(x, &s->arc[i], &way)) {
				arc[--at] = &s->arc[i];
				state = s->arc[i].from;
				break;
			}
		}
	state_graph_cover(out, x->p, &arc[at], x->p->nnodes - at, a);
}

/* What the ways found say. False: another capacity is in the way. */
static bool
conclude(struct rcsp *x, struct search_result *best, struct arena *a)
{
	struct path way;
	uint32_t last = find_last(x, &way);
	cost_ns bound = last == UINT32_MAX ? x->upper : way.cost;
	struct cover cover;

	if (x->dropped < bound)
		bound = x->dropped;
	if (bound > best->lower_bound)
		best->lower_bound = bound;
	if (last != UINT32_MAX) {
		trace(x, last, way, &cover, a);
		if (capacity_excess(x->p, &cover) != NO_LIMIT)
			return false;
		best->found = true;
		best->cover = cover;
		x->upper = cover.cost;
	}
	if (best->lower_bound >= x->upper) {
		best->lower_bound = x->upper;
		best->proven = true;
	}
	return true;
}

/* What is in the arena is given back with it. */
static void
forget(struct rcsp *x)
{
	x->work = x->more = (struct pareto_front){NULL, 0, 0};
	x->bound = x->sorted = NULL;
	x->bound_cap = x->sorted_cap = 0;
}

/* More room for ways, until none of those dropped can matter. */
static void
search_target(struct rcsp *x, struct search_result *best, struct arena *a)
{
	const struct state_graph *s = x->states;
	struct arena_mark mark;
	bool more = true;
	cost_ns bound;

	x->hull = arena_new(x->space, struct envelope, s->nstates);
	for (uint32_t i = s->nstates; i-- > 0;)
		make_envelope(x, s->order[i]);
	bound = cost_add(s->base,
	    envelope_at(&x->hull[s->order[0]], x->capacity >> x->shift));
	if (bound > best->lower_bound)
		best->lower_bound = bound;
	mark = arena_mark(x->space);
	for (; more && !best->proven; x->room *= ROOM_FACTOR) {
		more = find_paths(x) && conclude(x, best, a);
		more = more && x->room < UINT32_MAX / ROOM_FACTOR;
		forget(x);
		arena_back(x->space, mark);
	}
}

void
rcsp_search(struct search_result *best, const struct problem *p, uint32_t room,
    const struct budget *budget, struct arena *a)
{
	struct state_graph states;
	struct arena kept, space;

	arena_init(&kept);
	if (state_graph_find(&states, p, STATE_RATE, budget, &kept))
		for (uint32_t t = 0; t < p->ntargets && !best->proven; t++) {
			struct rcsp x = {.p = p,
			    .budget = budget,
			    .states = &states,
			    .space = &space,
			    .target = t,
			    .room = room,
			    .capacity = p->target[t].capacity,
			    .upper =
			        best->found ? best->cover.cost : COST_NEVER};

			if (x.capacity == UINT64_MAX)
				continue;
			while (x.capacity >> x.shift > ENVELOPE_UNITS_MAX)
				x.shift++;
			arena_init(&space);
			search_target(&x, best, a);
			arena_release(&space);
		}
	arena_release(&kept);
}
