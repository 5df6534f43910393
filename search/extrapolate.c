#include "search/extrapolate.h"

#include <assert.h>
#include <string.h>

/* Limits on runs and resources make the labels of later blocks differ, and so
 * do the runs values were brought in for, and the room that is left where values
 * leave candidates early. */
static bool
is_allowed(const struct frontier *f)
{
	return f->ncapped == 0 && f->p->local == 0
	    && (f->tracked == NO_LIMIT
	        || (f->p->target[f->tracked].max_runs == NO_LIMIT
	            && !problem_leaves_early(f->p)));
}

void
extrapolations_init(struct extrapolations *l, struct frontier *f,
    struct groups *g, struct bound *b)
{
	*l = (struct extrapolations){.frontier = f,
	    .groups = g,
	    .bound = b,
	    .allowed = is_allowed(f),
	    .next = NO_NODE};
}

static void
next_stretch(struct extrapolations *l, uint32_t top)
{
	const struct periods *r = &l->periods;

	l->last.n = 0;
	while (l->at < r->n && r->list[l->at].low + r->list[l->at].reach > top)
		l->at++;
	l->next = NO_NODE;
	if (l->at < r->n)
		l->next = top < r->list[l->at].high ? top : r->list[l->at].high;
}

void
extrapolations_look(struct extrapolations *l, uint32_t top)
{
	if (!l->allowed || l->looked)
		return;
	l->looked = true;
	periods_find(&l->periods, l->frontier->p, top, l->frontier->arena);
	next_stretch(l, top);
}

/* All labels there are: those of groups down to `reach` below the top. */
static void
take_snapshot(struct snapshot *s, const struct extrapolations *l, uint32_t top,
    uint32_t reach)
{
	uint32_t bottom = top > reach ? top - reach : 0;
	struct arena *a = l->frontier->arena;

	*s = (struct snapshot){.top = top, .age = l->frontier->age};
	for (uint32_t t = top + 1; t-- > bottom;)
		for (struct group *g = groups_at(l->groups, t); g; g = g->next)
			s->n += g->nlabels;
	s->group = arena_new(a, struct group *, s->n);
	s->label = arena_new(a, struct label *, s->n);
	s->trace = arena_new(a, const struct trace *, s->n);
	s->n = 0;
	for (uint32_t t = top + 1; t-- > bottom;)
		for (struct group *g = groups_at(l->groups, t); g; g = g->next)
			for (uint32_t i = 0; i < g->nlabels; i++) {
				s->group[s->n] = g;
				s->trace[s->n] = g->label[i]->trace;
				s->label[s->n++] = g->label[i];
			}
}

static bool
same_group(const struct extrapolations *l, const struct group *a,
    const struct group *b, uint32_t period)
{
	if (a->top != b->top + period || a->nover != b->nover
	    || a->nitems != b->nitems || a->has_sink != b->has_sink)
		return false;
	for (uint32_t i = 0; i < a->nover; i++)
		if (a->over[i] != b->over[i] + period)
			return false;
	for (uint32_t i = 0; i < a->nitems; i++)
		if (a->kind[i] != b->kind[i]
		    || (a->item[i] != b->item[i]
		        && l->periods.down[a->item[i]] != b->item[i]))
			return false;
	return true;
}

/* What one block more adds to every label. */
struct growth {
	cost_ns cost;
	uint32_t runs;
};

static bool
same_label(const struct group *g, const struct label *a, const struct label *b,
    const struct growth *grown)
{
	if (b->cost - a->cost != grown->cost
	    || b->runs - a->runs != grown->runs)
		return false;
	for (uint32_t i = 0; i < g->nitems; i++) {
		const struct live_backward *x = &a->entry[i], *y = &b->entry[i];

		if (x->have != y->have || x->need != y->need
		    || x->reach != y->reach
		    || y->pos - x->pos
		        != (x->pos == UINT32_MAX ? 0 : 2 * grown->runs))
			return false;
	}
	return true;
}

/* For each label of a group above, the one of the group below that is as it;
 * false: not all have one. Costs ascend, so it is nearby. */
static bool
pair_labels(struct extrapolation *x, uint32_t above, uint32_t below, uint32_t n,
    const struct growth *grown, bool *used)
{
	const struct group *g = x->above.group[above];

	for (uint32_t i = 0; i < n; i++) {
		const struct label *a = x->above.label[above + i];
		uint32_t k = 0;

		while (k < n) {
			uint32_t at = below + (i + k) % n;

			if (!used[at]
			    && same_label(g, a, x->below.label[at], grown)) {
				used[at] = true;
				x->same[above + i] = at;
				break;
			}
			k++;
		}
		if (k == n)
			return false;
	}
	return true;
}

/* Is the frontier below as the one above? Fills `same` and `runs`. */
static bool
pair(struct extrapolation *x, const struct extrapolations *l,
    struct growth *grown)
{
	uint32_t n = x->above.n;
	struct arena *a = l->frontier->arena;
	bool *used;

	if (n == 0 || n != x->below.n)
		return false;
	*grown =
	    (struct growth){x->below.label[0]->cost - x->above.label[0]->cost,
	        x->below.label[0]->runs - x->above.label[0]->runs};
	used = arena_new(a, bool, n);
	x->same = arena_new(a, uint32_t, n);
	x->runs = grown->runs;
	for (uint32_t i = 0; i < n;) {
		const struct group *g = x->above.group[i];
		uint32_t size = 0;

		while (i + size < n && x->above.group[i + size] == g)
			size++;
		if (size != x->below.group[i]->nlabels
		    || !same_group(l, g, x->below.group[i], x->period)
		    || !pair_labels(x, i, i, size, grown, used))
			return false;
		i += size;
	}
	return true;
}

/* How often may the block be repeated so that everything down to `reach` below
 * its end is as it is here? Shared values must go on being wanted. */
static uint32_t
times_value(const struct extrapolations *l, uint32_t above, uint32_t below,
    uint32_t top, uint32_t period, uint32_t reach)
{
	const struct problem *p = l->frontier->p;
	uint32_t n = 0, lowest = p->value[below].producer;

	if (above != below) {
		for (uint32_t v = below;
		     n < top / period && l->periods.down[v] != NO_VALUE;
		     v = l->periods.down[v])
			n++;
		return n;
	}
	if (lowest == NO_NODE)
		lowest = p->user[p->user_start[below]];
	return top > reach + lowest ? (top - reach - lowest - 1) / period : 0;
}

static uint32_t
most_times(const struct extrapolation *x, const struct extrapolations *l)
{
	const struct period *r = &l->periods.list[l->at];
	const uint32_t *sinks = l->groups->sinks;
	uint32_t top = x->below.top, most;

	if (top < r->low + r->reach)
		return 0;
	most = (top - r->low - r->reach) / r->period;
	for (uint32_t i = 0; i < x->above.n; i++) {
		const struct group *a = x->above.group[i];
		const struct group *b = x->below.group[i];

		if (i > 0 && b == x->below.group[i - 1])
			continue;
		for (uint32_t k = 0; k < a->nitems; k++) {
			uint32_t n = times_value(l, a->item[k], b->item[k], top,
			    r->period, r->reach);

			most = n < most ? n : most;
		}
	}
	while (most > 0 && sinks[top + 1] > 0
	    && sinks[top - most * r->period - r->reach] == 0)
		most--;
	return most * r->period > r->reach ? most : 0;
}

/* The same group `times` periods below. */
static struct group *
move_group(struct extrapolations *l, const struct extrapolation *x,
    const struct group *from)
{
	const struct group *above = NULL;
	uint32_t *item = arena_new(from->arena, uint32_t, from->nitems);
	struct group *to;

	for (uint32_t i = 0; !above; i++)
		if (x->below.group[i] == from)
			above = x->above.group[i];
	for (uint32_t i = 0; i < from->nitems; i++) {
		item[i] = from->item[i];
		if (above->item[i] != from->item[i])
			for (uint32_t k = 0; k < x->times; k++)
				item[i] = l->periods.down[item[i]];
	}
	to = groups_move(l->groups, from, x->times * x->period, item);
	to->bounded = true;
	bound_group(l->bound, to);
	return to;
}

static void
move_labels(struct extrapolations *l, const struct extrapolation *x,
    const struct growth *grown)
{
	struct frontier *f = l->frontier;
	struct group *to = NULL;

	for (uint32_t i = 0; i < x->below.n; i++) {
		const struct group *g = x->below.group[i];
		struct label *label;

		if (i == 0 || g != x->below.group[i - 1]) {
			to = move_group(l, x, g);
			to->label = arena_grow(to->arena, NULL, &to->cap,
			    g->nlabels, sizeof(struct label *));
		}
		label =
		    arena_copy(to->arena, x->below.label[i], label_bytes(g));
		label->parent = x->below.trace[i];
		label->candidate = f->p->ncandidates + l->n;
		label->cost += x->times * grown->cost;
		label->runs += x->times * grown->runs;
		label->age = f->age++;
		for (uint32_t k = 0; k < g->nitems; k++)
			if (label->entry[k].pos != UINT32_MAX)
				label->entry[k].pos +=
				    2 * x->times * grown->runs;
		label->trace = frontier_trace(f, label);
		label->bound = bound_label(l->bound, to, label);
		to->label[to->nlabels++] = label;
		f->nlabels++;
	}
}

uint32_t
extrapolations_try(struct extrapolations *l, uint32_t top)
{
	const struct period *r;
	struct growth grown;
	struct extrapolation x;

	if (top != l->next)
		return top;
	r = &l->periods.list[l->at];
	x = (struct extrapolation){.above = l->last, .period = r->period};
	take_snapshot(&x.below, l, top, r->reach);
	l->last = x.below;
	if (top < r->low + r->reach + r->period) {
		next_stretch(l, r->low + r->reach - 1);
		return top;
	}
	l->next = top - r->period;
	if (!pair(&x, l, &grown))
		return top;
	x.times = most_times(&x, l);
	if (x.times == 0)
		return top;
	move_labels(l, &x, &grown);
	l->list = arena_grow(
	    l->frontier->arena, l->list, &l->cap, l->n + 1, sizeof *l->list);
	assert(x.period > 0 && x.times > 0);
	assert((uint64_t)x.times * x.period <= top);
	l->list[l->n++] = x;
	top -= x.times * x.period;
	l->at++;
	next_stretch(l, top);
	return top;
}

uint32_t
extrapolations_hold(const struct extrapolations *l)
{
	return l->last.n > 0 ? l->last.top : NO_NODE;
}

static uint32_t
place_of(const struct snapshot *s, const struct trace *trace)
{
	uint32_t i = 0;

	while (s->trace[i] != trace)
		i++;
	assert(i < s->n);
	return i;
}

const struct trace *
extrapolation_trace(const struct extrapolation *x, const struct problem *p,
    const struct trace *made, struct chosen_step *taken, uint32_t *n)
{
	const struct trace *from = made->parent;

	for (uint32_t s = x->times; s > 0; s--) {
		for (; from->age >= x->above.age; from = from->parent) {
			uint32_t c =
			    period_candidate(p, from->candidate, s * x->period);

			taken[*n] = (struct chosen_step){.candidate = c,
			    .pos = from->pos + 2 * s * x->runs,
			    .turn = *n};
			++*n;
		}
		from = x->below.trace[x->same[place_of(&x->above, from)]];
	}
	return from;
}
