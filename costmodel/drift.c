#include "costmodel/drift.h"

#include <string.h>

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

/* Where x belongs among n sorted ones. */
static uint32_t
place_of(const double *sorted, uint32_t n, double x)
{
	uint32_t i = 0;

	while (i < n && sorted[i] < x)
		i++;
	return i;
}

/* The ratio takes the place of the oldest of so many. */
static uint32_t
keep(struct drift *d, double ratio)
{
	double *last = &d->ratio[d->n % DRIFT_LAST];
	uint32_t n = d->n < DRIFT_LAST ? d->n : DRIFT_LAST, i;

	if (n == DRIFT_LAST) {
		i = place_of(d->sorted, n--, *last);
		memmove(&d->sorted[i], &d->sorted[i + 1],
		    (n - i) * sizeof *d->sorted);
	}
	i = place_of(d->sorted, n, ratio);
	memmove(&d->sorted[i + 1], &d->sorted[i], (n - i) * sizeof *d->sorted);
	d->sorted[i] = *last = ratio;
	d->n++;
	return n + 1;
}

bool
drift_take(struct drift *d, double ratio)
{
	const double *sorted = d->sorted;
	double scale, share = DRIFT_SHARE;
	uint32_t n = keep(d, ratio);

	if (n < LEAST)
		return false;
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
