/* Weights of bytes as vector_byte_quads.h multiplies by them, and which may be so. */
#ifndef TARGETS_NATIVE_INTEGER_QUADS_H
#define TARGETS_NATIVE_INTEGER_QUADS_H

#include "targets/native/byte_weights.h"
#include "targets/native/integer_form.h"

/* Are weights of so many outputs, `zero` being theirs, signed and so small that hardly
 * any have to be multiplied twice? Some are looked at. */
bool quads_fit(const struct codes_at *w, const struct tensor *zero,
    size_t outputs, size_t depth);

/* All of them, of the form's outputs; `pair` of these side by side. */
const struct byte_quads *quads_pack(const struct integer_form *f,
    const struct codes_at *w, size_t pair, struct arena *a);

#endif
