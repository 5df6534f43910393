#include "targets/lanes.h"

#include "targets/team.h"
#include "targets/threads.h"

/* TUNING: what a lane has in pieces, the last of which the others wait for. */
#define GRAINS 32

/* TUNING: parts for each thread. */
#define PARTS 8
/* A cache line, of halves too. */
#define LINE ((size_t)32)

uint32_t
lanes_for(size_t items, uint32_t most)
{
	uint32_t n = target_threads() < most ? target_threads() : most;

	n = n < LANES_MOST ? n : LANES_MOST;
	return items < n ? (uint32_t)items : n;
}

size_t
lanes_cut(size_t most, uint32_t threads)
{
	const size_t wanted = threads > 1 ? (size_t)PARTS * threads : 1;

	return most < wanted ? most : wanted;
}

/* As even as can be: the first ones have one more. */
static void
hand_out(struct lanes *l, size_t items)
{
	const size_t each = items / l->n, more = items % l->n;
	size_t from = 0;

	l->grain = items / l->n / GRAINS;
	l->grain = l->grain > 1 ? l->grain : 1;
	for (uint32_t i = 0; i < l->n; i++) {
		atomic_init(&l->lane[i].next, from);
		from += each + (i < more);
		l->lane[i].end = from;
	}
}

void
lanes_run(struct lanes *l, size_t items, uint32_t most,
    void (*work)(void *data, uint32_t lane), void *data)
{
	l->n = lanes_for(items, most);
	if (l->n == 0)
		return;
	hand_out(l, items);
	if (l->n == 1)
		work(data, 0);
	else
		team_run(l->n, work, data);
}

/* What all have passed stays passed, so a counter is only moved where there may be
 * something. */
static size_t
take_from(struct lane *of, size_t grain, size_t *first)
{
	if (atomic_load(&of->next) >= of->end)
		return 0;
	*first = atomic_fetch_add(&of->next, grain);
	if (*first >= of->end)
		return 0;
	return of->end - *first < grain ? of->end - *first : grain;
}

size_t
lanes_next(struct lanes *l, uint32_t lane, size_t *first)
{
	size_t n = take_from(&l->lane[lane], l->grain, first);

	for (uint32_t k = 1; n == 0 && k < l->n; k++)
		n = take_from(&l->lane[(lane + k) % l->n], l->grain, first);
	return n;
}

struct each {
	void (*work)(void *data, uint32_t lane, size_t i);
	void *data;
	struct lanes lanes;
};

static void
work_each(void *of, uint32_t lane)
{
	struct each *e = of;
	size_t first, n;

	while ((n = lanes_next(&e->lanes, lane, &first)) > 0)
		for (size_t i = first; i < first + n; i++)
			e->work(e->data, lane, i);
}

void
lanes_each(size_t items, uint32_t most,
    void (*work)(void *data, uint32_t lane, size_t i), void *data)
{
	struct each e;

	e.work = work;
	e.data = data;
	lanes_run(&e.lanes, items, most, work_each, &e);
}

struct grouped {
	void (*work)(void *data, uint32_t lane, size_t i, bool again);
	void *data;
	size_t group;
	struct lanes lanes;
};

static void
work_groups(void *of, uint32_t lane)
{
	struct grouped *g = of;
	size_t first, n, before = SIZE_MAX;

	while ((n = lanes_next(&g->lanes, lane, &first)) > 0)
		for (size_t i = first; i < first + n; i++) {
			g->work(g->data, lane, i, i / g->group == before);
			before = i / g->group;
		}
}

void
lanes_groups(size_t items, size_t group, uint32_t most,
    void (*work)(void *data, uint32_t lane, size_t i, bool again), void *data)
{
	struct grouped g = {.work = work, .data = data, .group = group};

	lanes_run(&g.lanes, items, most, work_groups, &g);
}

struct split {
	void (*work)(void *data, size_t first, size_t count);
	void *data;
	size_t n, part;
};

static void
work_part(void *of, uint32_t lane, size_t i)
{
	const struct split *s = of;
	const size_t first = i * s->part, left = s->n - first;

	(void)lane;
	s->work(s->data, first, left < s->part ? left : s->part);
}

void
lanes_parts(size_t n, size_t part,
    void (*work)(void *data, size_t first, size_t count), void *data)
{
	struct split s = {work, data, n, part};

	if (n)
		lanes_each((n + part - 1) / part, LANES_MOST, work_part, &s);
}

void
lanes_split(
    size_t n, void (*work)(void *data, size_t first, size_t count), void *data)
{
	const size_t wanted = n / TEAM_ELEMENTS;
	const size_t parts =
	    lanes_cut(wanted > 1 ? wanted : 1, target_threads());

	lanes_parts(
	    n, ((n + parts - 1) / parts + LINE - 1) / LINE * LINE, work, data);
}
