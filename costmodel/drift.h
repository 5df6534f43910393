/* What the last prices were of the probes taken before them: the machine is another than
 * it was then (load, clock), and how far a price may be below its probes is seen. */
#ifndef COSTMODEL_DRIFT_H
#define COSTMODEL_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

/* TUNING: probes are worth the first quartile of what the last prices were of
 * theirs, never more than this. */
#define DRIFT_MOST 1.25
#define DRIFT_LAST 32

/* SOURCE: of 1,738 prices taken under a load of 10 to 18 (docs/notebook.md) none was below
 * this share of the lesser of two probes. */
#define DRIFT_SHARE 0.6

struct drift {
	double ratio[DRIFT_LAST]; /* of the last ones */
	double sorted[DRIFT_LAST]; /* the same */
	uint32_t n; /* so far */
	double scale; /* of guesses made from probes */
	double share; /* of the lesser of two equal probes a price is at least;
	               * DRIFT_SHARE or more */
};

/* Before there are prices. */
struct drift drift_none(void);

/* One more price, of its lesser probe. true: bounds and guesses are others now. One of
 * them says nothing. */
bool drift_take(struct drift *d, double ratio);

#endif
