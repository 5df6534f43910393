/* Lines normalised: LayerNormalization, RMSNormalization. */
#ifndef TARGETS_NATIVE_NORM_FORM_H
#define TARGETS_NATIVE_NORM_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* (x - mean) / sqrt(variance + epsilon) * scale + shift; or, not centred, of a mean of 0. */
struct norm_form {
	size_t n; /* numbers of a line */
	bool centred;
	float epsilon;
	const float *scale; /* [n] */
	const float *shift; /* [n]; NULL: none */
};

/* Lines [first, last) of y, of x or (other not NULL) of x + other. */
typedef void norm_run(const struct norm_form *f, const float *x,
    const float *other, float *y, size_t first, size_t last);

#endif
