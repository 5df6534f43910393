#include "search/transfers.h"

#include <assert.h>

#include "search/mask.h"

/* A value on its way through a move. */
struct value_update {
	struct frontier *f;
	uint32_t value;
	struct live_backward *entry;
	struct label *to;
};

/* What floats on the format is where others are. */
static void
land(struct live_backward *e, uint32_t format)
{
	e->unplaced &= ~(UINT32_C(1) << format);
	e->away &= ~(UINT32_C(1) << format);
}

/* The run at `pos` has the value brought in, once. Those that float may be there
 * as well. */
static void
transfer_in(const struct value_update *x, uint32_t pos, uint32_t format)
{
	struct transfer_point at = {pos, format};
	struct live_backward *e = x->entry;

	if (e->floor <= pos)
		land(e, format);
	if (transfer_set_has(&x->f->transferred, e->transferred, at))
		return;
	assert(x->f->p->local >> format & 1);
	e->need |= UINT32_C(1) << format;
	e->transferred =
	    transfer_set_add(&x->f->transferred, e->transferred, at);
	x->to->cost = cost_add(x->to->cost,
	    transfer_cost(x->f->p, x->f->p->value[x->value].class, format));
}

/* Whoever makes the value is not in the run that waits for it, or makes it in
 * other formats than `made`. */
static void
end_pending(const struct value_update *x, uint32_t made)
{
	uint32_t rest = x->entry->pending & ~made;

	x->entry->pending = 0;
	for (uint32_t f; mask_next(&rest, &f);)
		transfer_in(x, x->entry->pos, f);
}

/* The producer's position is at least this. */
static void
raise_pos(const struct value_update *x, uint32_t pos)
{
	struct live_backward *e = x->entry;

	if (e->pos >= pos)
		return;
	if (e->pending)
		end_pending(x, 0);
	e->pos = pos;
}

/* Is the value brought in, or waited for, in a run from `pos` on? */
static bool
is_shared(const struct value_update *x, uint32_t pos, uint32_t format)
{
	const struct live_backward *e = x->entry;
	const struct transfer_set *s = &x->f->transferred.set[e->transferred];

	if (e->pending >> format & 1)
		return true;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->point[i].format == format && s->point[i].pos >= pos)
			return true;
	return false;
}

/* A candidate from `pos` on asks for a local format. */
static void
read_unplaced(
    const struct value_update *x, uint32_t pos, uint32_t format, bool split)
{
	struct live_backward *e = x->entry;

	if (is_shared(x, pos, format))
		return;
	e->unplaced |= UINT32_C(1) << format;
	if (split)
		e->away |= UINT32_C(1) << format;
	if (e->floor < pos)
		e->floor = pos;
}

/* A candidate at `pos` asks for a local format. */
static void
read_in(const struct value_update *x, uint32_t pos, uint32_t format, bool split)
{
	struct live_backward *e = x->entry;

	if (split || e->pos != pos || (e->have && !(e->have >> format & 1))) {
		transfer_in(x, pos, format);
	} else if (!e->have) {
		e->pending |= UINT32_C(1) << format;
		land(e, format);
	}
}

static void
read_local(const struct value_update *x, uint32_t formats, bool split)
{
	for (uint32_t f; mask_next(&formats, &f);)
		if (x->to->unplaced)
			read_unplaced(x, x->to->pos, f, split);
		else
			read_in(x, x->to->pos, f, split);
}

/* All users are known: those that still float need it brought in once. */
static void
close_unplaced(const struct value_update *x, uint32_t made)
{
	uint32_t rest = x->entry->unplaced & (~made | x->entry->away);

	x->entry->unplaced = x->entry->away = 0;
	for (uint32_t f; mask_next(&rest, &f);)
		transfer_in(x, x->entry->floor, f);
}

/* Is what waits for the value in the candidate's run? What floats may be in an
 * earlier one. */
static bool
is_maker_run(const struct value_update *x)
{
	return x->entry->pos == x->to->pos && !x->to->unplaced;
}

/* The value is made in `made` by the candidate. */
static void
produce(const struct value_update *x, uint32_t made)
{
	if (x->entry->pending)
		end_pending(x, is_maker_run(x) ? made : 0);
	assert(!x->entry->pending && made);
	x->entry->have = made;
}

/* The tree of a value whose users are all known. */
static cost_ns
settle(const struct value_update *x, const struct closed *s)
{
	const struct problem *p = x->f->p;
	struct live_backward *e = x->entry;

	if (s->have)
		produce(x, s->have);
	e->need |= s->need & ~p->local;
	read_local(x, s->need & p->local, false);
	if (e->unplaced)
		close_unplaced(x, e->have);
	return convert_cost(
	    x->f->memo, p->value[s->value].class, e->have, e->need);
}

static void
keep(const struct value_update *x, const struct carried *k)
{
	struct live_backward *e = x->entry;
	uint32_t local = x->f->p->local, pos = x->to->pos;

	if (k->have)
		produce(x, k->have);
	e->need |= k->need & ~local;
	if (k->early)
		e->pos = pos - (k->marked ? pos & 1 : 0);
	if (k->read && !e->have)
		raise_pos(x, pos + (k->marked ? pos & 1 : 0));
	if (k->need & local)
		read_local(x, k->need & local, k->split);
	if (!k->reusable)
		e->transferred = TRANSFERS_NONE;
	if (!k->reusable || !e->unplaced)
		e->floor = 0;
}

/* Formats paid so far, positions and runs of the entries a move keeps, and the
 * trees of those it settles. */
static bool
update_values(struct frontier *f, const struct transition *m,
    const struct label *from, struct label *to)
{
	static const struct live_backward fresh, fed = {.pos = UINT32_MAX};
	struct value_update x = {.f = f, .to = to};

	for (uint32_t i = 0; i < m->nclosed; i++) {
		const struct closed *s = &m->settled[i];
		struct live_backward last =
		    s->old == ITEM_NONE ? fed : from->entry[s->old];

		cost_ns tree;

		x.value = s->value;
		x.entry = &last;
		tree = settle(&x, s); /* and adds to to->cost itself */
		to->cost = cost_add(to->cost, tree);
	}
	for (uint32_t i = 0; i < m->to->nitems; i++) {
		const struct carried *k = &m->kept[i];

		x.value = k->value;
		x.entry = &to->entry[i];
		*x.entry = k->old != ITEM_NONE ? from->entry[k->old]
		    : k->have                  ? fed
		                               : fresh;
		if (!k->passes)
			keep(&x, k);
	}
	return to->cost != COST_NEVER;
}

/* Which early values run before or after what; false when the move would close
 * a cycle. */
static bool
update_reach(
    const struct transition *m, const struct label *from, struct label *to)
{
	uint32_t after = 0, mine = m->early_bits;

	if (!m->has_early)
		return true;
	for (uint32_t i = 0; i < m->nproduced; i++)
		after |= from->entry[m->produced[i]].reach;
	if (after & m->early_read)
		return false;
	after = transition_bits(m, after);
	for (uint32_t i = 0; i < m->to->nitems; i++) {
		const struct carried *k = &m->kept[i];
		struct live_backward *e = &to->entry[i];
		uint32_t old =
		    k->old == ITEM_NONE ? 0 : from->entry[k->old].reach;

		e->reach = transition_bits(m, old);
		if (old & m->early_read)
			e->reach |= after | mine;
		if (k->early || (k->read && !e->have))
			e->reach |= after | mine;
	}
	return true;
}

bool
transfers_move(struct frontier *f, const struct transition *m,
    const struct label *from, struct label *to)
{
	return update_values(f, m, from, to) && update_reach(m, from, to);
}

bool
transfers_wait_at(
    const struct transition *m, const struct label *from, uint32_t pos)
{
	for (uint32_t i = 0; i < m->nproduced; i++) {
		const struct live_backward *e = &from->entry[m->produced[i]];

		if (e->pos == pos && e->pending)
			return true;
	}
	return false;
}
