/* Which convolutions of bytes are computed in tiles (vector_byte_tiles.h), and weights as
 * tiles are multiplied by them. */
#ifndef TARGETS_NATIVE_INTEGER_TILES_H
#define TARGETS_NATIVE_INTEGER_TILES_H

#include "targets/native/byte_weights.h"
#include "targets/native/integer_form.h"
#include "targets/target.h"

/* May a convolution that integer_conv takes be computed so, its sums exact? */
bool tiles_fit(const struct match_in *m);

/* The form of a convolution of so many images becomes one of tiles. */
void tiles_set(struct integer_form *f, size_t images);

/* The weights of the outputs from `first` on whose vectors lie side by side, `codes`
 * being w's: to[points][padded / 2][pair][2]. */
void tiles_pack(const struct integer_form *f, const struct codes_at *w,
    const uint8_t *codes, size_t first, size_t pair, int16_t *to);

#endif
