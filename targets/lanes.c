#include "targets/lanes.h"

#include "targets/team.h"
#include "targets/threads.h"

uint32_t
lanes_for(size_t items, uint32_t most)
{
	uint32_t n = target_threads() < most ? target_threads() : most;

	n = n < LANES_MOST ? n : LANES_MOST;
	return items < n ? (uint32_t)items : n;
}

/* As even as can be: the first ones have one more. */
static void
hand_out(struct lanes *l, size_t items)
{
	const size_t each = items / l->n, more = items % l->n;
	size_t from = 0;

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
bool
lanes_next(struct lanes *l, uint32_t lane, size_t *item)
{
	for (uint32_t k = 0; k < l->n; k++) {
		struct lane *of = &l->lane[(lane + k) % l->n];

		if (atomic_load(&of->next) >= of->end)
			continue;
		*item = atomic_fetch_add(&of->next, 1);
		if (*item < of->end)
			return true;
	}
	return false;
}
