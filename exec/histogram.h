/* How the numbers of a value are spread: counts in bins of one width, a power of
 * two, about zero. It grows with what it meets, by adding up neighbours, so the
 * counts do not depend on the order of what was met. */
#ifndef EXEC_HISTOGRAM_H
#define EXEC_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* TUNING: eight bins a step of 8 bits */
#define HISTOGRAM_BINS 2048

struct histogram {
	double min, max; /* of what is finite; only that is counted */
	uint64_t n;
	int exponent; /* bins cover -2^exponent to 2^exponent */
	uint64_t count[HISTOGRAM_BINS];
};

void histogram_add(struct histogram *h, const float *x, size_t n);
/* The width of a bin, and the lower end of bin i. */
double histogram_width(const struct histogram *h);
double histogram_edge(const struct histogram *h, uint32_t i);

/* A range for 8 bits: all of it; all but (100 - p) / 2 per cent at either end; or
 * the one that 8 bits lose least with (mean square error over the counts). */
void histogram_percentile(
    const struct histogram *h, double p, double *low, double *high);
void histogram_mse(const struct histogram *h, double *low, double *high);

#endif
