/* Element types, numbered as ONNX numbers them. */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
#define DTYPE(name, number, bits, words) DT_##name = number,
#include "ir/dtype.def"
#undef DTYPE
	NDTYPE
};

/* Bits of one element; 0 for strings and DT_UNDEFINED. */
uint32_t dtype_bits(enum dtype t);

/* "float32"; "?" for a number that is none. */
const char *dtype_name(enum dtype t);

/* The type of that name, or DT_UNDEFINED. */
enum dtype dtype_find(const char *name);

bool dtype_is_float(enum dtype t); /* any floating-point format */
bool dtype_is_half(enum dtype t); /* float16 or bfloat16 */
bool dtype_is_signed(enum dtype t); /* signed integers only */
bool dtype_is_integer(enum dtype t);
bool dtype_is_byte(enum dtype t); /* int8 or uint8 */

/* *bytes = size of n elements, sub-byte types packed and rounded up; false on
 * overflow or when the type has no fixed size. */
bool dtype_bytes(enum dtype t, size_t n, size_t *bytes);

/* Scalar conversions of the small float formats: to nearest even, overflow to
 * infinity (or to the format's largest where it has none). */
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);
float bf16_to_f32(uint16_t h);
uint16_t f32_to_bf16(float f);

/* Formats of 8 and 4 bits: value of a code; nearest code of a value. */
double small_float_value(enum dtype t, uint8_t code);
uint8_t small_float_code(enum dtype t, double x, bool saturate);

#endif
