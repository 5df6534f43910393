/* Reductions of neighbouring dimensions. */
#ifndef TARGETS_NATIVE_REDUCE_FORM_H
#define TARGETS_NATIVE_REDUCE_FORM_H

#include <stddef.h>

enum reduce_kind { REDUCE_SUM, REDUCE_MAX, REDUCE_MIN };
enum reduce_entry { REDUCE_AS_IS, REDUCE_MAGNITUDE, REDUCE_SQUARE };

/* [outer][n][inner] to [outer][inner]: of x, |x| or x^2; times a factor, or its root. */
struct reduce_form {
	enum reduce_kind kind;
	enum reduce_entry entry;
	size_t outer, n, inner; /* n: at least 1 */
	float factor;
	int root;
};

/* Results [from, to). */
typedef void reduce_run(const struct reduce_form *r, size_t from, size_t to,
    const float *in, float *out);

#endif
