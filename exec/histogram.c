#include "exec/histogram.h"

#include <math.h>
#include <string.h>

#include "targets/quant.h"

#define HALF (HISTOGRAM_BINS / 2)
#define LEAST_EXPONENT (-126)

double
histogram_width(const struct histogram *h)
{
	return ldexp(1.0 / HALF, h->exponent);
}

double
histogram_edge(const struct histogram *h, uint32_t i)
{
	return ((double)i - HALF) * histogram_width(h);
}

static uint32_t
bin_of(const struct histogram *h, double x)
{
	return (uint32_t)(floor(x / histogram_width(h)) + HALF);
}

/* Cover twice as much with each step: two neighbours become one. */
static void
widen(struct histogram *h, int exponent)
{
	uint64_t count[HISTOGRAM_BINS];

	for (; h->exponent < exponent; h->exponent++) {
		memset(count, 0, sizeof count);
		for (uint32_t i = 0; i < HISTOGRAM_BINS; i++)
			count[HALF / 2 + i / 2] += h->count[i];
		memcpy(h->count, count, sizeof count);
		if (h->n == 0) {
			h->exponent = exponent;
			return;
		}
	}
}

static void
add_one(struct histogram *h, double x)
{
	int exponent;

	if (h->n == 0) {
		h->min = h->max = x;
		h->exponent = LEAST_EXPONENT;
	}
	h->min = x < h->min ? x : h->min;
	h->max = x > h->max ? x : h->max;
	frexp(x, &exponent); /* |x| < 2^exponent */
	if (x != 0 && exponent > h->exponent)
		widen(h, exponent);
	h->count[bin_of(h, x)]++;
	h->n++;
}

void
histogram_add(struct histogram *h, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]))
			add_one(h, (double)x[i]);
}

/* ---- ranges ---- */

void
histogram_percentile(
    const struct histogram *h, double p, double *low, double *high)
{
	const double tail = (double)h->n * (100 - p) / 200;
	double below = 0, above = 0;
	uint32_t first = 0, last = HISTOGRAM_BINS - 1;

	while (first < last && below + (double)h->count[first] <= tail)
		below += (double)h->count[first++];
	while (last > first && above + (double)h->count[last] <= tail)
		above += (double)h->count[last--];
	*low = fmax(h->min, histogram_edge(h, first));
	*high = fmin(h->max, histogram_edge(h, last + 1));
}

/* What 8 bits over a range lose, squares summed. */
static double
loss_of(const struct histogram *h, double low, double high)
{
	const struct quant q = quant_of_range(low, high);
	const double middle = histogram_width(h) / 2;
	double loss = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BINS; i++) {
		double x = histogram_edge(h, i) + middle, d;

		if (h->count[i] == 0)
			continue;
		x = x < h->min ? h->min : x > h->max ? h->max : x;
		d = x
		    - (double)quant_to_real(&q, quant_from_real(&q, (float)x));
		loss += (double)h->count[i] * d * d;
	}
	return loss;
}

/* TUNING: shares of the whole range that are tried, in 64ths */
#define SHARES 64
#define LEAST_SHARE 16

void
histogram_mse(const struct histogram *h, double *low, double *high)
{
	double least = (double)INFINITY;

	for (int share = SHARES; share >= LEAST_SHARE; share--) {
		const double at = (double)share / SHARES;
		const double loss = loss_of(h, h->min * at, h->max * at);

		if (!(loss < least))
			continue;
		least = loss;
		*low = h->min * at;
		*high = h->max * at;
	}
}
