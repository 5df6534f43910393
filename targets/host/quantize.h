/* Numbers rounded to the 256 steps between their least and greatest, zero among
 * them: DynamicQuantizeLinear, and what does the same inside. */
#ifndef TARGETS_HOST_QUANTIZE_H
#define TARGETS_HOST_QUANTIZE_H

#include <stddef.h>

struct byte_steps {
	float step;
	double zero; /* the code of 0 */
};

/* low <= 0 <= high. */
struct byte_steps byte_steps_between(float low, float high);
/* The code of x, 0..255. */
double byte_code(struct byte_steps s, float x);
/* Each of n numbers becomes its nearest step. */
void round_to_bytes(double *x, size_t n);

#endif
