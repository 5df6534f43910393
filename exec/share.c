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

/* The claims of a step, and two groups that they may bring together. */
struct laying {
	const struct share *share;
	const struct share_claim *claim;
	uint32_t n;
	uint32_t in, out; /* groups */
	ptrdiff_t moved; /* how far the first of them */
};

static ptrdiff_t
moved_by(const struct share *s, const struct share_claim *c)
{
	return s->member[c->out].at + c->offset - s->member[c->in].at;
}

/* Do claims between the two groups say that all of this is the same bytes? */
static bool
is_claimed(const struct laying *l, struct range r)
{
	const struct share_member *m = l->share->member;
	bool more = true;

	while (more && r.from < r.to) {
		more = false;
		for (uint32_t i = 0; i < l->n; i++) {
			const struct share_claim *c = &l->claim[i];
			struct range same;

			if (m[c->in].group != l->in || m[c->out].group != l->out
			    || moved_by(l->share, c) != l->moved)
				continue;
			same = common(range_of(&m[c->in], l->moved),
			    range_of(&m[c->out], 0));
			if (same.from <= r.from && same.to > r.from) {
				r.from = same.to;
				more = true;
			}
		}
	}
	return r.from >= r.to;
}

/* Would member `k` of one group meet members of the other where nobody says that
 * they are the same? */
static bool
meets_elsewhere(const struct laying *l, uint32_t k)
{
	const struct share_member *m = l->share->member;
	const struct range mine = range_of(&m[k], 0);

	for (uint32_t i = l->in; i != SHARE_END; i = m[i].next) {
		struct range meet = common(range_of(&m[i], l->moved), mine);

		if (meet.from < meet.to && !is_claimed(l, meet))
			return true;
	}
	return false;
}

static bool
lay(struct share *s, const struct share_claim *claim, uint32_t n, uint32_t i)
{
	const struct laying l = {s, claim, n, s->member[claim[i].in].group,
	    s->member[claim[i].out].group, moved_by(s, &claim[i])};

	if (l.in == l.out)
		return l.moved == 0;
	for (uint32_t k = l.out; k != SHARE_END; k = s->member[k].next)
		if (meets_elsewhere(&l, k))
			return false;
	join(s, l.in, l.out, l.moved);
	return true;
}

uint32_t
share_lay(struct share *s, const struct share_claim *claim, uint32_t n)
{
	uint32_t laid = 0;

	for (uint32_t i = 0; i < n; i++)
		laid += lay(s, claim, n, i);
	return laid;
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
