#include "exec/share.h"

struct range {
	ptrdiff_t from, to;
};

void
share_init(struct share *s, uint32_t n, struct arena *a)
{
	s->n = n;
	s->member = arena_new(a, struct share_member, n);
	for (uint32_t i = 0; i < n; i++)
		s->member[i] =
		    (struct share_member){.group = i, .next = SHARE_END};
}

static struct range
range_of(const struct share_member *m, ptrdiff_t moved)
{
	return (struct range){
	    m->at + moved, m->at + moved + (ptrdiff_t)m->bytes};
}

static struct range
common(struct range a, struct range b)
{
	return (struct range){
	    a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};
}

static bool
is_within(struct range a, struct range b)
{
	return a.from >= b.from && a.to <= b.to;
}

/* Append a group to another, moved. */
static void
join(struct share *s, uint32_t group, uint32_t to, ptrdiff_t moved)
{
	uint32_t last = to;

	while (s->member[last].next != SHARE_END)
		last = s->member[last].next;
	s->member[last].next = group;
	for (uint32_t i = group; i != SHARE_END; i = s->member[i].next) {
		s->member[i].group = to;
		s->member[i].at += moved;
	}
}

/* Would member `k` of a group meet members of another that is moved anywhere
 * but in `same`? */
static bool
meets_elsewhere(const struct share *s, uint32_t k, uint32_t group,
    ptrdiff_t moved, struct range same)
{
	const struct range mine = range_of(&s->member[k], 0);

	for (uint32_t i = group; i != SHARE_END; i = s->member[i].next) {
		struct range meet =
		    common(range_of(&s->member[i], moved), mine);

		if (meet.from < meet.to && !is_within(meet, same))
			return true;
	}
	return false;
}

bool
share_lay(struct share *s, uint32_t in, uint32_t out, ptrdiff_t offset)
{
	const struct share_member *x = &s->member[in], *y = &s->member[out];
	const ptrdiff_t moved = y->at + offset - x->at;
	const struct range same = common(range_of(x, moved), range_of(y, 0));

	if (x->group == y->group)
		return moved == 0;
	for (uint32_t k = y->group; k != SHARE_END; k = s->member[k].next)
		if (meets_elsewhere(s, k, x->group, moved, same))
			return false;
	join(s, x->group, y->group, moved);
	return true;
}

bool
share_write_over(struct share *s, uint32_t in, uint32_t out, uint32_t time)
{
	const struct share_member *x = &s->member[in], *y = &s->member[out];

	if (x->group == y->group || y->bytes > x->bytes
	    || share_extent(s, x->group).last > time
	    || share_extent(s, y->group).first < time)
		return false;
	join(s, y->group, x->group, x->at - y->at);
	return true;
}

struct share_member
share_extent(const struct share *s, uint32_t group)
{
	struct share_member all = s->member[group];
	struct range whole = range_of(&all, 0);

	for (uint32_t i = group; i != SHARE_END; i = s->member[i].next) {
		const struct share_member *m = &s->member[i];
		struct range r = range_of(m, 0);

		all.first = m->first < all.first ? m->first : all.first;
		all.last = m->last > all.last ? m->last : all.last;
		whole.from = r.from < whole.from ? r.from : whole.from;
		whole.to = r.to > whole.to ? r.to : whole.to;
	}
	all.at = whole.from;
	all.bytes = (size_t)(whole.to - whole.from);
	return all;
}
