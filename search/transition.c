#include "search/transition.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/verify.h"

static bool
is_sink(const struct problem *p, uint32_t node)
{
	for (uint32_t i = 0; i < p->node[node].noutputs; i++) {
		uint32_t v = p->node[node].output[i];

		if (p->user_start[v] < p->user_start[v + 1])
			return false;
	}
	return true;
}

static bool
has_sink(
    const struct groups *s, uint32_t top, const uint32_t *over, uint32_t nover)
{
	uint32_t n = top == NO_NODE ? 0 : s->sinks[top + 1];

	for (uint32_t i = 0; i < nover; i++)
		n -= is_sink(s->p, over[i]);
	return n > 0;
}

void
groups_init(struct groups *s, const struct problem *p,
    const struct split_readers *split, struct arena *a)
{
	*s = (struct groups){.p = p, .arena = a, .split = split};
	s->level = arena_new(a, struct level *, (size_t)p->nnodes + 1);
	s->mark = arena_new(a, uint32_t, p->nnodes);
	s->over = arena_new(a, uint32_t, (size_t)p->nnodes + 1);
	s->move.bit_to = arena_new(a, uint32_t, EARLY_MAX);
	s->unplaced = p->local && !problem_leaves_early(p);
	s->sinks = arena_new(a, uint32_t, (size_t)p->nnodes + 1);
	for (uint32_t n = 0; n < p->nnodes; n++)
		s->sinks[n + 1] = s->sinks[n] + is_sink(p, n);
}

/* ---- levels ---- */

static uint32_t
slot_of(const struct groups *s, uint32_t top)
{
	return top == NO_NODE ? s->p->nnodes : top;
}

static struct level *
level_get(struct groups *s, uint32_t top)
{
	struct level **at = &s->level[slot_of(s, top)], *l = *at;

	if (l)
		return l;
	l = s->spare;
	if (l) {
		s->spare = l->next;
	} else {
		l = arena_new(s->arena, struct level, 1);
		arena_init(&l->arena);
		arena_alloc(&l->arena, 1);
		l->empty = arena_mark(&l->arena);
	}
	map_init(&l->index, &l->arena);
	l->group = NULL;
	l->n = l->cap = 0;
	assert(l->arena.bytes > 0);
	l->top = top;
	l->next = s->live;
	s->live = l;
	return *at = l;
}

void
groups_forget(struct groups *s, uint32_t top)
{
	struct level *l = s->level[slot_of(s, top)], **at = &s->live;

	if (!l)
		return;
	assert(l->top == top);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	arena_back(&l->arena, l->empty);
	l->next = s->spare;
	s->spare = l;
	s->level[slot_of(s, top)] = NULL;
	s->from = NULL; /* another group may come to lie there */
}

void
groups_release(struct groups *s)
{
	for (struct level *l = s->live; l; l = l->next)
		arena_release(&l->arena);
	for (struct level *l = s->spare; l; l = l->next)
		arena_release(&l->arena);
	s->live = s->spare = NULL;
}

size_t
groups_bytes(const struct groups *s)
{
	size_t bytes = 0;

	for (const struct level *l = s->live; l; l = l->next)
		bytes += l->arena.bytes;
	return bytes;
}

/* ---- groups ---- */

struct group *
groups_at(const struct groups *s, uint32_t top)
{
	const struct level *l = s->level[slot_of(s, top)];

	return l && l->n > 0 ? l->group[0] : NULL;
}

/* over: of the level's arena, as is the group. */
static void
file_group(struct groups *s, struct level *l, struct group *g)
{
	l->group = arena_grow(
	    &l->arena, l->group, &l->cap, l->n + 1, sizeof(struct group *));
	g->arena = &l->arena;
	assert(g->nover == 0 || g->over[g->nover - 1] < g->top);
	g->number = s->ngroups++;
	if (l->n > 0)
		l->group[l->n - 1]->next = g;
	l->group[l->n] = g;
	map_add(&l->index, g->over, g->nover * sizeof *g->over, l->n++);
}

/* The group of (top, over[nover]) with the n live values the move keeps, made when it
 * is new. over[] is in s->over. */
static struct group *
group_get(struct groups *s, uint32_t top, uint32_t nover, uint32_t n)
{
	struct level *l = level_get(s, top);
	size_t bytes = nover * sizeof *s->over;
	uint32_t at = map_find(&l->index, s->over, bytes), *item, *over;
	uint8_t *kind;
	struct group *g;

	if (at != MAP_NONE) {
		assert(l->group && at < l->n);
		return l->group[at];
	}
	over = arena_copy(&l->arena, s->over, bytes);
	g = arena_new(&l->arena, struct group, 1);
	item = arena_new(&l->arena, uint32_t, n);
	kind = arena_new(&l->arena, uint8_t, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t maker = s->p->value[s->move.kept[i].value].producer;

		item[i] = s->move.kept[i].value;
		kind[i] = maker == NO_NODE ? ITEM_FED : ITEM_OPEN;
		if (maker != NO_NODE
		    && (top == NO_NODE || maker > top
		        || s->mark[maker] == s->stamp))
			kind[i] = ITEM_EARLY;
	}
	*g = (struct group){.top = top,
	    .nover = nover,
	    .over = over,
	    .nitems = n,
	    .item = item,
	    .kind = kind,
	    .has_sink = has_sink(s, top, over, nover)};
	file_group(s, l, g);
	return g;
}

struct group *
groups_move(struct groups *s, const struct group *from, uint32_t shift,
    const uint32_t *item)
{
	struct level *l = level_get(s, from->top - shift);
	uint32_t *over = arena_new(&l->arena, uint32_t, from->nover);
	struct group *g = arena_new(&l->arena, struct group, 1);

	for (uint32_t i = 0; i < from->nover; i++)
		over[i] = from->over[i] - shift;
	*g = (struct group){.top = l->top,
	    .nover = from->nover,
	    .over = over,
	    .nitems = from->nitems,
	    .item = arena_copy(&l->arena, item, from->nitems * sizeof *item),
	    .kind = arena_copy(
	        &l->arena, from->kind, from->nitems * sizeof *from->kind),
	    .has_sink = has_sink(s, l->top, over, from->nover)};
	file_group(s, l, g);
	return g;
}

struct group *
groups_first(struct groups *s)
{
	return group_get(s, s->p->nnodes ? s->p->nnodes - 1 : NO_NODE, 0, 0);
}

/* Mark what is covered below the top after the move; false: overlap. */
static bool
mark_covered(struct groups *s, const struct group *from,
    const struct problem_candidate *c)
{
	s->stamp++;
	for (uint32_t i = 0; i < from->nover; i++)
		s->mark[from->over[i]] = s->stamp;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		if (s->mark[c->node[i]] == s->stamp)
			return false;
		s->mark[c->node[i]] = s->stamp;
	}
	return true;
}

/* Has the value users that are not covered after the move? */
static bool
wanted(const struct groups *s, const struct group *from, uint32_t value)
{
	for (uint32_t i = s->p->user_start[value];
	     i < s->p->user_start[value + 1]; i++)
		if (s->p->user[i] <= from->top
		    && s->mark[s->p->user[i]] != s->stamp)
			return true;
	return false;
}

/* The first of ascending ports with this value, or PORT_NONE. */
static uint32_t
find_port(const struct problem_port *port, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (port[i].value == value)
			return i;
	return PORT_NONE;
}

struct draft {
	struct groups *s;
	const struct group *from;
	const struct problem_candidate *c;
	struct transition *m;
	uint32_t nkept;
};

static void
keep(struct draft *d, struct carried k)
{
	const struct problem *p = d->s->p;
	struct carried *kept = d->m->kept;
	uint32_t at = d->nkept++;

	k.read = k.touch.in != PORT_NONE;
	k.marked = p->value[k.value].mark;
	k.reusable = p->local && wanted(d->s, d->from, k.value);
	k.passes = k.touch.in == PORT_NONE && k.touch.out == PORT_NONE
	    && (!p->local || k.reusable);
	for (; at > 0 && kept[at - 1].value > k.value; at--)
		kept[at] = kept[at - 1];
	kept[at] = k;
}

static void
settle(struct draft *d, struct closed x)
{
	d->m->settled[d->m->nclosed++] = x;
}

/* A value the candidate makes: settled, or early when users are left. */
static void
make_value(struct draft *d, uint32_t value, uint32_t old, uint32_t out)
{
	struct port_use touch = {
	    PORT_NONE, out, d->s->p->value[value].required, 0};

	if (old != ITEM_NONE)
		d->m->produced[d->m->nproduced++] = old;
	if (wanted(d->s, d->from, value))
		keep(d,
		    (struct carried){.value = value,
		        .old = old,
		        .touch = touch,
		        .early = true});
	else if (old != ITEM_NONE || touch.asked)
		settle(d,
		    (struct closed){
		        .value = value, .old = old, .touch = touch});
}

static void
pass_items(struct draft *d)
{
	const struct group *from = d->from;
	const struct problem_candidate *c = d->c;

	for (uint32_t i = 0; i < from->nitems; i++) {
		uint32_t v = from->item[i];
		uint32_t out = find_port(c->output, c->noutputs, v);
		struct port_use touch = {
		    find_port(c->input, c->ninputs, v), PORT_NONE, 0, 0};

		if (out != PORT_NONE) {
			make_value(d, v, i, out);
			continue;
		}
		if (touch.in != PORT_NONE && from->kind[i] == ITEM_EARLY)
			d->m->early_item[d->m->nearly_read++] = i;
		if (from->kind[i] != ITEM_OPEN && !wanted(d->s, from, v))
			settle(d,
			    (struct closed){
			        .value = v, .old = i, .touch = touch});
		else
			keep(d,
			    (struct carried){
			        .value = v, .old = i, .touch = touch});
	}
}

static bool
is_item(const struct group *g, uint32_t value)
{
	uint32_t low = 0, high = g->nitems;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (g->item[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->nitems && g->item[low] == value;
}

/* A value that no label said anything of. */
static void
read_value(struct draft *d, uint32_t v, uint32_t in)
{
	const struct problem_value *value = &d->s->p->value[v];
	bool fed = value->producer == NO_NODE;
	struct port_use touch = {
	    in, PORT_NONE, fed ? value->required : 0, value->initial};

	if (fed && !wanted(d->s, d->from, v))
		settle(d,
		    (struct closed){
		        .value = v, .old = ITEM_NONE, .touch = touch});
	else
		keep(d,
		    (struct carried){
		        .value = v, .old = ITEM_NONE, .touch = touch});
}

static void
add_ports(struct draft *d)
{
	const struct problem_candidate *c = d->c;

	for (uint32_t i = 0; i < c->noutputs; i++)
		if (!is_item(d->from, c->output[i].value))
			make_value(d, c->output[i].value, ITEM_NONE, i);
	for (uint32_t i = 0; i < c->ninputs; i++) {
		uint32_t v = c->input[i].value;

		if ((i == 0 || c->input[i - 1].value != v)
		    && !is_item(d->from, v))
			read_value(d, v, i);
	}
}

/* Number the early values of both groups and match them. */
static bool
number_early(struct draft *d)
{
	struct groups *s = d->s;
	struct transition *m = d->m;
	uint32_t n = 0, bit_of_new = 0;

	for (uint32_t i = 0; i < d->from->nitems; i++) {
		if (d->from->kind[i] != ITEM_EARLY)
			continue;
		for (uint32_t k = 0; k < m->nearly_read; k++)
			if (m->early_item[k] == i)
				m->early_read |= UINT32_C(1) << n;
		m->bit_to[n++] = ITEM_NONE;
	}
	m->nbits = n;
	m->has_early = n > 0;
	for (uint32_t i = 0; i < d->nkept; i++) {
		const struct carried *k = &m->kept[i];
		bool was =
		    k->old != ITEM_NONE && d->from->kind[k->old] == ITEM_EARLY;

		if (!was && !k->early)
			continue;
		if (bit_of_new == EARLY_MAX) {
			s->overflowed = true;
			return false;
		}
		m->has_early = true;
		if (k->early)
			m->early_bits |= UINT32_C(1) << bit_of_new;
		for (uint32_t o = 0, b = 0; was && o <= k->old; o++)
			if (d->from->kind[o] == ITEM_EARLY && b++ < n
			    && o == k->old)
				m->bit_to[b - 1] = bit_of_new;
		bit_of_new++;
	}
	return true;
}

/* The covered set after the move, as a key: merge, then lower the top past what
 * is covered. */
static uint32_t
merge_over(struct draft *d, uint32_t *top)
{
	const struct problem_candidate *c = d->c;
	uint32_t *over = d->s->over, n = 0, i = 0, k = 0;
	uint32_t t = d->from->top;

	while (i < d->from->nover || k < c->nnodes)
		if (k == c->nnodes
		    || (i < d->from->nover && d->from->over[i] < c->node[k]))
			over[n++] = d->from->over[i++];
		else
			over[n++] = c->node[k++];
	while (n > 0 && over[n - 1] == t) {
		n--;
		t--;
	}
	*top = t;
	return n;
}

static bool
may_be_unplaced(const struct groups *s, const struct problem_candidate *c)
{
	const struct problem_value *value = s->p->value;
	bool marked = false;

	if (!s->unplaced || c->ninputs != 1)
		return false;
	marked |= value[c->input[0].value].mark;
	for (uint32_t i = 0; i < c->noutputs; i++)
		marked |= value[c->output[i].value].mark;
	return !marked;
}

/* Lists for as many values as are live or touched. */
static void
make_room(struct groups *s, const struct group *from,
    const struct problem_candidate *c)
{
	uint32_t n = from->nitems + c->ninputs + c->noutputs;
	struct transition *m = &s->move;

	if (n <= s->room)
		return;
	s->room = 2 * n;
	m->kept = arena_new(s->arena, struct carried, s->room);
	m->settled = arena_new(s->arena, struct closed, s->room);
	m->produced = arena_new(s->arena, uint32_t, s->room);
	m->early_item = arena_new(s->arena, uint32_t, s->room);
}

/* (T1) the target group has the values that are carried; (T2) items of the old group
 * are carried or closed, each once; (T3) the covered set grows downwards. */
static void
transition_verify(const struct groups *s, const struct group *from,
    const struct transition *m, uint32_t ncarried)
{
	uint32_t nold = 0;

	assert(m->to->nitems == ncarried && ncarried <= s->room); /* (T1) */
	assert(m->nclosed <= s->room && m->nproduced <= s->room);
	for (uint32_t i = 0; i < ncarried; i++) {
		assert(m->kept[i].value == m->to->item[i]); /* (T1) */
		assert(m->kept[i].old == ITEM_NONE
		    || from->item[m->kept[i].old] == m->kept[i].value);
		nold += m->kept[i].old != ITEM_NONE;
	}
	for (uint32_t i = 0; i < m->nclosed; i++)
		nold += m->settled[i].old != ITEM_NONE;
	assert(nold == from->nitems); /* (T2) */
	assert(m->to->top == NO_NODE || m->to->top <= from->top); /* (T3) */
	assert(m->nbits <= EARLY_MAX);
}

/* What all candidates of this shape do to the group. */
static bool
draft_transition(struct groups *s, const struct group *from,
    const struct problem_candidate *c)
{
	struct transition *m = &s->move;
	struct draft d = {.s = s, .from = from, .c = c, .m = m};
	uint32_t top, nover;

	make_room(s, from, c);
	*m = (struct transition){.kept = m->kept,
	    .settled = m->settled,
	    .produced = m->produced,
	    .early_item = m->early_item,
	    .bit_to = m->bit_to};
	assert(s->room >= from->nitems + c->ninputs + c->noutputs);
	if (!mark_covered(s, from, c))
		return false;
	pass_items(&d);
	add_ports(&d);
	if (!number_early(&d))
		return false;
	nover = merge_over(&d, &top);
	m->nleft = top == NO_NODE ? 0 : top + 1 - nover;
	m->to = group_get(s, top, nover, d.nkept);
	VERIFY(transition_verify(s, from, m, d.nkept));
	return true;
}

static uint32_t
formats_read(const struct problem_candidate *c, const struct port_use *t)
{
	uint32_t mask = t->asked;

	for (uint32_t i = t->in;
	     i < c->ninputs && c->input[i].value == c->input[t->in].value; i++)
		mask |= UINT32_C(1) << c->input[i].format;
	return mask;
}

static uint32_t
formats_made(const struct problem_candidate *c, const struct port_use *t)
{
	return t->out == PORT_NONE ? t->fed
	                           : UINT32_C(1) << c->output[t->out].format;
}

/* The formats of this candidate. */
static void
fit_transition(struct groups *s, uint32_t id)
{
	const struct problem_candidate *c = &s->p->candidate[id];
	struct transition *m = &s->move;

	assert(candidate_usable(c));
	m->id = id;
	m->candidate = c;
	for (uint32_t i = 0; i < m->to->nitems; i++) {
		struct carried *k = &m->kept[i];

		k->need = formats_read(c, &k->touch);
		k->have = formats_made(c, &k->touch);
		k->split = k->read && s->p->local
		    && split_readers_has(s->split, s->p, id, k->value);
	}
	for (uint32_t i = 0; i < m->nclosed; i++) {
		m->settled[i].need = formats_read(c, &m->settled[i].touch);
		m->settled[i].have = formats_made(c, &m->settled[i].touch);
	}
	m->reads_local = false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		m->reads_local |= s->p->local >> c->input[i].format & 1;
	m->may_be_unplaced = m->reads_local && may_be_unplaced(s, c);
}

static bool
is_same_values(
    const struct problem_port *a, const struct problem_port *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].value != b[i].value)
			return false;
	return true;
}

/* Do they cover the same nodes, read the same values and make the same ones? */
static bool
is_same_shape(
    const struct problem_candidate *a, const struct problem_candidate *b)
{
	return a->nnodes == b->nnodes && a->ninputs == b->ninputs
	    && a->noutputs == b->noutputs
	    && is_same_values(a->input, b->input, a->ninputs)
	    && is_same_values(a->output, b->output, a->noutputs)
	    && memcmp(a->node, b->node, a->nnodes * sizeof *a->node) == 0;
}

const struct transition *
transition_make(struct groups *s, const struct group *from, uint32_t id)
{
	const struct problem_candidate *c = &s->p->candidate[id];

	if (s->from != from || !is_same_shape(s->candidate, c))
		s->possible = draft_transition(s, from, c);
	s->from = from;
	s->candidate = c;
	if (!s->possible)
		return NULL;
	fit_transition(s, id);
	return &s->move;
}

uint32_t
transition_bits(const struct transition *m, uint32_t old)
{
	uint32_t new = 0;

	for (uint32_t b = 0; b < m->nbits; b++)
		if (old >> b & 1 && m->bit_to[b] != ITEM_NONE)
			new |= UINT32_C(1) << m->bit_to[b];
	return new;
}
