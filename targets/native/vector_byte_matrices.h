/* Products of matrices of bytes that both come in: the second is packed as constant
 * weights are, then it is a product with weights. */
#ifndef TARGETS_NATIVE_VECTOR_BYTE_MATRICES_H
#define TARGETS_NATIVE_VECTOR_BYTE_MATRICES_H

#include "targets/native/byte_matrices_form.h"
#include "targets/native/vector_integer.h"

ALWAYS size_t
byte_matrix_numbers(const struct integer_form *f)
{
	return f->filters * f->padded / 2;
}

static size_t
byte_matrices_numbers(const struct byte_matrices_form *m)
{
	return byte_matrix_numbers(&m->each) + integer_numbers(&m->each);
}

/* n of a row's codes, less their zero, every second number of `to`. */
ALWAYS void
byte_matrix_row(
    const uint8_t *from, size_t n, int16_t zero, bool is_unsigned, int16_t *to)
{
	for (size_t i = 0; i < n; i++)
		to[2 * i] = (int16_t)((is_unsigned ? (int16_t)from[i]
		                                   : (int16_t)(int8_t)from[i])
		    - zero);
}

/* Two vectors of outputs, [depth / 2][outputs][2]; what is not there is left. */
ALWAYS void
byte_matrix_panel(const struct byte_matrices_form *m, const uint8_t *from,
    size_t n, bool is_unsigned, int16_t *to)
{
	const int16_t zero = (int16_t)m->b_zero;

	for (size_t k = 0; k < m->each.depth; k++, from += m->each.outputs)
		byte_matrix_row(from, n, zero, is_unsigned,
		    to + k / 2 * 2 * PAIR_OF_VECTORS + k % 2);
}

static void
byte_matrix_pack(
    const struct byte_matrices_form *m, const uint8_t *from, int16_t *to)
{
	const struct integer_form *f = &m->each;

	memset(to, 0, f->filters * f->padded * sizeof *to);
	for (size_t k = 0; k < f->outputs; k += PAIR_OF_VECTORS) {
		int16_t *panel = to + k * f->padded;
		const size_t n = f->outputs - k;

		if (n < PAIR_OF_VECTORS)
			byte_matrix_panel(m, from + k, n, m->b_unsigned, panel);
		else if (m->b_unsigned)
			byte_matrix_panel(
			    m, from + k, PAIR_OF_VECTORS, true, panel);
		else
			byte_matrix_panel(
			    m, from + k, PAIR_OF_VECTORS, false, panel);
	}
}

static void
byte_matrices_unit(const struct byte_matrices_form *m, size_t unit, bool packed,
    const struct byte_matrices_data *d, int32_t *scratch)
{
	const size_t product = unit / m->parts, part = unit % m->parts;
	const size_t blocks = integer_units(&m->each);
	struct integer_form f = m->each;
	struct integer_data at = d->a;

	f.weights = (const int16_t *)scratch;
	at.in += product * m->a_step;
	at.out = (uint8_t *)at.out + product * m->to_step;
	if (!packed)
		byte_matrix_pack(
		    m, d->b + product * m->b_step, (int16_t *)scratch);
	for (size_t u = blocks * part / m->parts;
	     u < blocks * (part + 1) / m->parts; u++)
		integer_unit(
		    &f, u, false, &at, scratch + byte_matrix_numbers(&f));
}

#endif
