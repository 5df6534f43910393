#include "search/entries.h"

#include "search/mask.h"

/* A value on its way through a move. */
struct passage {
	struct frontier *f;
	uint32_t value;
	struct entry *entry;
	struct sweep_label *to;
};

/* What floats on the format is where others are. */
static void
land(struct entry *e, uint32_t format)
{
	e->floating &= ~(UINT32_C(1) << format);
	e->away &= ~(UINT32_C(1) << format);
}

/* The run at `pos` has the value brought in, once. Those that float may be there
 * as well. */
static void
bring_in(const struct passage *x, uint32_t pos, uint32_t format)
{
	struct entry_point at = {pos, format};
	struct entry *e = x->entry;

	if (e->floor <= pos)
		land(e, format);
	if (entered_has(&x->f->entered, e->entered, at))
		return;
	e->need |= UINT32_C(1) << format;
	e->entered = entered_add(&x->f->entered, e->entered, at);
	x->to->cost = cost_add(x->to->cost,
	    entry_cost(x->f->p, x->f->p->value[x->value].class, format));
}

/* Whoever makes the value is not in the run that waits for it, or makes it in
 * other formats than `made`. */
static void
end_pending(const struct passage *x, uint32_t made)
{
	uint32_t rest = x->entry->pending & ~made;

	x->entry->pending = 0;
	for (uint32_t f; mask_next(&rest, &f);)
		bring_in(x, x->entry->pos, f);
}

/* The producer's position is at least this. */
static void
raise_pos(const struct passage *x, uint32_t pos)
{
	struct entry *e = x->entry;

	if (e->pos >= pos)
		return;
	if (e->pending)
		end_pending(x, 0);
	e->pos = pos;
}

/* Is the value brought in, or waited for, in a run from `pos` on? */
static bool
is_shared(const struct passage *x, uint32_t pos, uint32_t format)
{
	const struct entry *e = x->entry;
	const struct entered_set *s = &x->f->entered.set[e->entered];

	if (e->pending >> format & 1)
		return true;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->point[i].format == format && s->point[i].pos >= pos)
			return true;
	return false;
}

/* A candidate from `pos` on asks for a local format. */
static void
float_in(const struct passage *x, uint32_t pos, uint32_t format, bool apart)
{
	struct entry *e = x->entry;

	if (is_shared(x, pos, format))
		return;
	e->floating |= UINT32_C(1) << format;
	if (apart)
		e->away |= UINT32_C(1) << format;
	if (e->floor < pos)
		e->floor = pos;
}

/* A candidate at `pos` asks for a local format. */
static void
read_in(const struct passage *x, uint32_t pos, uint32_t format, bool apart)
{
	struct entry *e = x->entry;

	if (apart || e->pos != pos || (e->have && !(e->have >> format & 1))) {
		bring_in(x, pos, format);
	} else if (!e->have) {
		e->pending |= UINT32_C(1) << format;
		land(e, format);
	}
}

static void
read_local(const struct passage *x, uint32_t formats, bool apart)
{
	for (uint32_t f; mask_next(&formats, &f);)
		if (x->to->floats)
			float_in(x, x->to->pos, f, apart);
		else
			read_in(x, x->to->pos, f, apart);
}

/* All users are known: those that still float need it brought in once. */
static void
end_floating(const struct passage *x, uint32_t made)
{
	uint32_t rest = x->entry->floating & (~made | x->entry->away);

	x->entry->floating = x->entry->away = 0;
	for (uint32_t f; mask_next(&rest, &f);)
		bring_in(x, x->entry->floor, f);
}

/* Is what waits for the value in the candidate's run? What floats may be in an
 * earlier one. */
static bool
is_maker_run(const struct passage *x)
{
	return x->entry->pos == x->to->pos && !x->to->floats;
}

/* The value is made in `made` by the candidate. */
static void
produce(const struct passage *x, uint32_t made)
{
	if (x->entry->pending)
		end_pending(x, is_maker_run(x) ? made : 0);
	x->entry->have = made;
}

/* The tree of a value whose users are all known. */
static cost_ns
settle(const struct passage *x, const struct settled *s)
{
	const struct problem *p = x->f->p;
	struct entry *e = x->entry;

	if (s->have)
		produce(x, s->have);
	e->need |= s->need & ~p->local;
	read_local(x, s->need & p->local, false);
	if (e->floating)
		end_floating(x, e->have);
	return convert_cost(
	    x->f->memo, p->value[s->value].class, e->have, e->need);
}

static void
keep(const struct passage *x, const struct kept *k)
{
	struct entry *e = x->entry;
	uint32_t local = x->f->p->local, pos = x->to->pos;

	if (k->have)
		produce(x, k->have);
	e->need |= k->need & ~local;
	if (k->early)
		e->pos = pos - (k->marked ? pos & 1 : 0);
	if (k->read && !e->have)
		raise_pos(x, pos + (k->marked ? pos & 1 : 0));
	if (k->need & local)
		read_local(x, k->need & local, k->apart);
	if (!k->reusable)
		e->entered = ENTERED_NONE;
	if (!k->reusable || !e->floating)
		e->floor = 0;
}

/* Formats paid so far, positions and runs of the entries a move keeps, and the
 * trees of those it settles. */
static bool
move_values(struct frontier *f, const struct move *m,
    const struct sweep_label *from, struct sweep_label *to)
{
	static const struct entry fresh, fed = {.pos = UINT32_MAX};
	struct passage x = {.f = f, .to = to};

	for (uint32_t i = 0; i < m->nsettled; i++) {
		const struct settled *s = &m->settled[i];
		struct entry last =
		    s->old == ITEM_NONE ? fed : from->entry[s->old];

		x.value = s->value;
		x.entry = &last;
		to->cost = cost_add(to->cost, settle(&x, s));
	}
	for (uint32_t i = 0; i < m->to->nitems; i++) {
		const struct kept *k = &m->kept[i];

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
move_reach(const struct move *m, const struct sweep_label *from,
    struct sweep_label *to)
{
	uint32_t after = 0, mine = m->early_bits;

	if (!m->has_early)
		return true;
	for (uint32_t i = 0; i < m->nproduced; i++)
		after |= from->entry[m->produced[i]].reach;
	if (after & m->early_read)
		return false;
	after = move_bits(m, after);
	for (uint32_t i = 0; i < m->to->nitems; i++) {
		const struct kept *k = &m->kept[i];
		struct entry *e = &to->entry[i];
		uint32_t old =
		    k->old == ITEM_NONE ? 0 : from->entry[k->old].reach;

		e->reach = move_bits(m, old);
		if (old & m->early_read)
			e->reach |= after | mine;
		if (k->early || (k->read && !e->have))
			e->reach |= after | mine;
	}
	return true;
}

bool
entries_move(struct frontier *f, const struct move *m,
    const struct sweep_label *from, struct sweep_label *to)
{
	return move_values(f, m, from, to) && move_reach(m, from, to);
}

bool
entries_wait_at(
    const struct move *m, const struct sweep_label *from, uint32_t pos)
{
	for (uint32_t i = 0; i < m->nproduced; i++) {
		const struct entry *e = &from->entry[m->produced[i]];

		if (e->pos == pos && e->pending)
			return true;
	}
	return false;
}
