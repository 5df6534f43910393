/* Pairs of whole numbers of 16 bits, a pair in each lane of 32: multiplied by others and
 * added up by one instruction, which never saturates. */
#ifndef TARGETS_NATIVE_VECTOR_PAIRS_H
#define TARGETS_NATIVE_VECTOR_PAIRS_H

#include <stdbool.h>

#include "targets/native/vector.h"

typedef int16_t shorts
    __attribute__((vector_size(VECTOR_BYTES), aligned(2), may_alias));

#define SHORTS ((size_t)2 * NATIVE_WIDTH)

/* As many bytes as a vector has numbers of 16 bits. */
ALWAYS shorts
shorts_of_codes(const uint8_t *from, bool is_unsigned)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
	const __m256i x = _mm256_loadu_si256((const __m256i *)from);

	return (shorts)(is_unsigned ? _mm512_cvtepu8_epi16(x)
	                            : _mm512_cvtepi8_epi16(x));
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	const __m128i x = _mm_loadu_si128((const __m128i *)from);

	return (shorts)(is_unsigned ? _mm256_cvtepu8_epi16(x)
	                            : _mm256_cvtepi8_epi16(x));
#else
	shorts x = {0};

	for (size_t i = 0; i < SHORTS; i++)
		x[i] =
		    is_unsigned ? (int16_t)from[i] : (int16_t)(int8_t)from[i];
	return x;
#endif
}

/* Lanes of 32 bits, of whatever. */
ALWAYS bits
bits_at(const void *at)
{
	bits x;

	memcpy(&x, at, sizeof x);
	return x;
}

/* Without an instruction of that width, which only tests do: called, for some hundred
 * of these in a row take minutes to compile. */
#if NATIVE_WIDTH == 16 && !defined(__AVX512BW__)
#define DOT static __attribute__((noinline))
#else
#define DOT ALWAYS
#endif

/* Each lane's two numbers times two others, both added to it. */
DOT bits
pairs_dot(bits sum, bits a, bits w)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
	return sum + (bits)_mm512_madd_epi16((__m512i)a, (__m512i)w);
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	return sum + (bits)_mm256_madd_epi16((__m256i)a, (__m256i)w);
#elif NATIVE_WIDTH == 4 && defined(__SSE2__)
	return sum + (bits)_mm_madd_epi16((__m128i)a, (__m128i)w);
#else
	return sum + ((a << 16) >> 16) * ((w << 16) >> 16)
	    + (a >> 16) * (w >> 16);
#endif
}

#endif
