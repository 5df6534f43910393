#include "search/move.h"

#include <stdlib.h>
#include <string.h>

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
    const struct apart *apart, struct arena *a)
{
	*s = (struct groups){.p = p, .arena = a, .apart = apart};
	s->first = arena_new(a, struct group *, (size_t)p->nnodes + 1);
	s->last = arena_new(a, struct group *, (size_t)p->nnodes + 1);
	s->mark = arena_new(a, uint32_t, p->nnodes);
	s->over = arena_new(a, uint32_t, (size_t)p->nnodes + 1);
	s->kept = arena_new(a, struct kept, p->nvalues);
	s->settled = arena_new(a, struct settled, p->nvalues);
	s->produced = arena_new(a, uint32_t, p->nvalues);
	s->early_item = arena_new(a, uint32_t, p->nvalues);
	s->bit_to = arena_new(a, uint32_t, EARLY_MAX);
	map_init(&s->index, a);
	s->floats = p->local && !problem_leaves_early(p);
	s->sinks = arena_new(a, uint32_t, (size_t)p->nnodes + 1);
	for (uint32_t n = 0; n < p->nnodes; n++)
		s->sinks[n + 1] = s->sinks[n] + is_sink(p, n);
}

struct group *
groups_at(const struct groups *s, uint32_t top)
{
	return s->first[top == NO_NODE ? s->p->nnodes : top];
}

/* key: its top and over[]. */
static void
file_group(struct groups *s, struct group *g, const uint32_t *key)
{
	uint32_t slot = g->top == NO_NODE ? s->p->nnodes : g->top;

	s->all = arena_grow(
	    s->arena, s->all, &s->cap, s->nall + 1, sizeof(struct group *));
	s->all[s->nall] = g;
	map_add(
	    &s->index, key, ((size_t)g->nover + 1) * sizeof *key, s->nall++);
	if (s->last[slot])
		s->last[slot]->next = g;
	else
		s->first[slot] = g;
	s->last[slot] = g;
}

/* The group of (top, over[nover]) with the live values of kept[n], made when it
 * is new. The key is put together in s->over. */
static struct group *
group_get(struct groups *s, uint32_t top, uint32_t nover, uint32_t n)
{
	size_t bytes = ((size_t)nover + 1) * sizeof *s->over;
	uint32_t at, *item, *key;
	uint8_t *kind;
	struct group *g;

	s->over[0] = top;
	at = map_find(&s->index, s->over, bytes);
	if (at != MAP_NONE)
		return s->all[at];
	key = arena_copy(s->arena, s->over, bytes);
	g = arena_new(s->arena, struct group, 1);
	item = arena_new(s->arena, uint32_t, n);
	kind = arena_new(s->arena, uint8_t, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t maker = s->p->value[s->kept[i].value].producer;

		item[i] = s->kept[i].value;
		kind[i] = maker == NO_NODE ? ITEM_FED : ITEM_OPEN;
		if (maker != NO_NODE
		    && (top == NO_NODE || maker > top
		        || s->mark[maker] == s->stamp))
			kind[i] = ITEM_EARLY;
	}
	*g = (struct group){.top = top,
	    .nover = nover,
	    .over = key + 1,
	    .nitems = n,
	    .item = item,
	    .kind = kind,
	    .has_sink = has_sink(s, top, key + 1, nover)};
	file_group(s, g, key);
	return g;
}

struct group *
groups_move(struct groups *s, const struct group *from, uint32_t shift,
    const uint32_t *item)
{
	uint32_t *key = arena_new(s->arena, uint32_t, (size_t)from->nover + 1);
	struct group *g = arena_new(s->arena, struct group, 1);

	key[0] = from->top - shift;
	for (uint32_t i = 0; i < from->nover; i++)
		key[i + 1] = from->over[i] - shift;
	*g = (struct group){.top = key[0],
	    .nover = from->nover,
	    .over = key + 1,
	    .nitems = from->nitems,
	    .item = item,
	    .kind = from->kind,
	    .has_sink = has_sink(s, key[0], key + 1, from->nover)};
	file_group(s, g, key);
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

/* Formats the candidate asks for a value in. */
static uint32_t
asked(const struct problem_candidate *c, uint32_t value)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < c->ninputs; i++)
		if (c->input[i].value == value)
			mask |= UINT32_C(1) << c->input[i].format;
	return mask;
}

/* The format the candidate makes a value in, as a mask; 0: it does not. */
static uint32_t
made(const struct problem_candidate *c, uint32_t value)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (c->output[i].value == value)
			return UINT32_C(1) << c->output[i].format;
	return 0;
}

struct draft {
	struct groups *s;
	const struct group *from;
	const struct problem_candidate *c;
	struct move *m;
	uint32_t nkept;
};

static void
keep(struct draft *d, struct kept k)
{
	uint32_t at = d->nkept++;

	if (d->s->p->local) {
		k.reusable = wanted(d->s, d->from, k.value);
		k.apart = k.read
		    && apart_reads(d->s->apart, d->s->p, d->m->id, k.value);
	}
	for (; at > 0 && d->s->kept[at - 1].value > k.value; at--)
		d->s->kept[at] = d->s->kept[at - 1];
	d->s->kept[at] = k;
}

static void
settle(struct draft *d, struct settled x)
{
	d->s->settled[d->m->nsettled++] = x;
}

/* A value the candidate makes: settled, or early when users are left. */
static void
make_value(struct draft *d, uint32_t value, uint32_t old, uint32_t have)
{
	uint32_t need = d->s->p->value[value].required;

	if (old != ITEM_NONE)
		d->s->produced[d->m->nproduced++] = old;
	if (wanted(d->s, d->from, value))
		keep(d,
		    (struct kept){.value = value,
		        .old = old,
		        .have = have,
		        .need = need,
		        .marked = d->s->p->value[value].mark,
		        .early = true});
	else if (old != ITEM_NONE || need & ~have)
		settle(d, (struct settled){value, old, have, need});
}

static void
pass_items(struct draft *d)
{
	const struct group *from = d->from;

	for (uint32_t i = 0; i < from->nitems; i++) {
		uint32_t v = from->item[i], need = asked(d->c, v);
		uint32_t have = made(d->c, v);

		if (have) {
			make_value(d, v, i, have);
			continue;
		}
		if (need && from->kind[i] == ITEM_EARLY)
			d->s->early_item[d->m->nearly_read++] = i;
		if (from->kind[i] != ITEM_OPEN && !wanted(d->s, from, v))
			settle(d, (struct settled){v, i, 0, need});
		else
			keep(d,
			    (struct kept){.value = v,
			        .old = i,
			        .need = need,
			        .read = need != 0,
			        .marked = d->s->p->value[v].mark});
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

static void
add_ports(struct draft *d)
{
	const struct problem_candidate *c = d->c;

	for (uint32_t i = 0; i < c->noutputs; i++)
		if (!is_item(d->from, c->output[i].value))
			make_value(d, c->output[i].value, ITEM_NONE,
			    UINT32_C(1) << c->output[i].format);
	for (uint32_t i = 0; i < c->ninputs; i++) {
		uint32_t v = c->input[i].value;
		const struct problem_value *value = &d->s->p->value[v];
		uint32_t need = asked(c, v);

		if ((i > 0 && c->input[i - 1].value == v)
		    || is_item(d->from, v))
			continue;
		if (value->producer == NO_NODE)
			need |= value->required;
		if (value->producer == NO_NODE && !wanted(d->s, d->from, v))
			settle(d,
			    (struct settled){
			        v, ITEM_NONE, value->initial, need});
		else
			keep(d,
			    (struct kept){.value = v,
			        .old = ITEM_NONE,
			        .have = value->initial,
			        .need = need,
			        .read = true,
			        .marked = value->mark});
	}
}

/* Number the early values of both groups and match them. */
static bool
number_early(struct draft *d)
{
	struct groups *s = d->s;
	struct move *m = d->m;
	uint32_t n = 0, bit_of_new = 0;

	for (uint32_t i = 0; i < d->from->nitems; i++) {
		if (d->from->kind[i] != ITEM_EARLY)
			continue;
		for (uint32_t k = 0; k < m->nearly_read; k++)
			if (s->early_item[k] == i)
				m->early_read |= UINT32_C(1) << n;
		s->bit_to[n++] = ITEM_NONE;
	}
	m->nbits = n;
	m->has_early = n > 0;
	for (uint32_t i = 0; i < d->nkept; i++) {
		const struct kept *k = &s->kept[i];
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
				s->bit_to[b - 1] = bit_of_new;
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
	uint32_t *over = d->s->over + 1, n = 0, i = 0, k = 0;
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
may_float(const struct groups *s, const struct problem_candidate *c)
{
	const struct problem_value *value = s->p->value;
	bool marked = false;

	if (!s->floats || c->ninputs != 1)
		return false;
	marked |= value[c->input[0].value].mark;
	for (uint32_t i = 0; i < c->noutputs; i++)
		marked |= value[c->output[i].value].mark;
	return !marked;
}

bool
move_make(struct move *out, struct groups *s, struct group *from, uint32_t id)
{
	struct draft d = {
	    .s = s, .from = from, .c = &s->p->candidate[id], .m = out};
	uint32_t top, nover;

	*out = (struct move){.id = id, .candidate = d.c};
	if (!mark_covered(s, from, d.c))
		return false;
	pass_items(&d);
	add_ports(&d);
	if (!number_early(&d))
		return false;
	nover = merge_over(&d, &top);
	for (uint32_t i = 0; i < d.c->ninputs; i++)
		out->reads_local |= s->p->local >> d.c->input[i].format & 1;
	out->may_float = out->reads_local && may_float(s, d.c);
	out->nleft = top == NO_NODE ? 0 : top + 1 - nover;
	out->to = group_get(s, top, nover, d.nkept);
	out->kept = s->kept;
	out->settled = s->settled;
	out->produced = s->produced;
	out->early_item = s->early_item;
	out->bit_to = s->bit_to;
	return true;
}

uint32_t
move_bits(const struct move *m, uint32_t old)
{
	uint32_t new = 0;

	for (uint32_t b = 0; b < m->nbits; b++)
		if (old >> b & 1 && m->bit_to[b] != ITEM_NONE)
			new |= UINT32_C(1) << m->bit_to[b];
	return new;
}
