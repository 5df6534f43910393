#include "costmodel/drift.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"

/* TUNING: once there are so many prices with probes, and something moved by so
 * much. */
#define LEAST 4
#define STEP 0.01

/* TUNING: the sixteenth of the last prices that was lowest, of their probes, tells how
 * far the next may be below its own: once there are so many, less this. Of 86,902 prices
 * with two probes 0.06 % were below such bounds, 0.003 below those with DRIFT_SHARE for
 * all, 0.43 below nine tenths (docs/notebook.md). */
#define SHARE_LEAST 16
#define SHARE_LOWEST 16
#define SHARE_MARGIN 0.85
#define SHARE_MOST 0.85

struct drift
drift_none(void)
{
	return (struct drift){.scale = 1, .share = DRIFT_SHARE};
}

static double
between(double least, double x, double most)
{
	return x < least ? least : x > most ? most : x;
}

static bool
has_moved(double from, double to)
{
	return to <= from * (1 - STEP) || to >= from * (1 + STEP);
}

bool
drift_take(struct drift *d, double ratio)
{
	double sorted[DRIFT_LAST], scale, share = DRIFT_SHARE;
	uint32_t n;

	d->ratio[d->n++ % DRIFT_LAST] = ratio;
	n = d->n < DRIFT_LAST ? d->n : DRIFT_LAST;
	if (n < LEAST)
		return false;
	memcpy(sorted, d->ratio, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_double);
	scale = between(0, sorted[n / 4], DRIFT_MOST);
	if (n >= SHARE_LEAST)
		share = between(DRIFT_SHARE,
		    SHARE_MARGIN * sorted[n / SHARE_LOWEST], SHARE_MOST);
	if (!has_moved(d->scale, scale) && !has_moved(d->share, share))
		return false;
	d->scale = scale;
	d->share = share;
	return true;
}
