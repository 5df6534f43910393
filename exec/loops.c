#include "exec/loops.h"

#include <stdlib.h>

#include "ir/base/order.h"

/* TUNING: per cent of the least. Processes of an LSTM whose weights just fill a cache
 * differed by 8 %. */
#define NEAR 110
/* TUNING: per cent of the prices, whose sums are 15 % too low at most, but for a few
 * plans, which are looked at twice for it. */
#define BEYOND 120

void
loops_add(struct loops *l, cost_ns took)
{
	if (l->n < LOOPS_MOST)
		l->took[l->n++] = took;
}

static bool
is_within(cost_ns took, cost_ns of, double percent)
{
	return (double)took * 100 <= (double)of * percent;
}

/* Those near the least, sorted. */
static struct loops
near(const struct loops *l)
{
	struct loops s = *l;

	qsort(s.took, s.n, sizeof *s.took, by_u64);
	while (s.n > 0 && !is_within(s.took[s.n - 1], s.took[0], NEAR))
		s.n--;
	return s;
}

cost_ns
loops_typical(const struct loops *l)
{
	const struct loops s = near(l);

	return s.n ? s.took[(s.n - 1) / 2] : 0;
}

bool
loops_are_unsure(const struct loops *l, cost_ns prices)
{
	return near(l).n * 2 <= l->n
	    || (prices && !is_within(loops_typical(l), prices, BEYOND));
}
