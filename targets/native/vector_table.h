/* Functions of one byte, by a table of 256 entries: looked up in it many at a time, or
 * computed where they follow a line. */
#ifndef TARGETS_NATIVE_VECTOR_TABLE_H
#define TARGETS_NATIVE_VECTOR_TABLE_H

#include "targets/native/byte_loops.h"
#include "targets/native/vector.h"
#include "targets/native/vector_pairs.h"

/* Of what an instruction set lacks: false, nothing was looked up. */
ALWAYS bool
table_rows_lacking(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	(void)to;
	(void)from;
	(void)r;
	(void)table;
	return false;
}

/* ---- 64 at a time, by VBMI's permutations ---- */

#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
#define VBMI \
	__attribute__((target("avx512vbmi,avx512bw"), always_inline)) inline

struct table_parts {
	__m512i of[4];
};

static VBMI struct table_parts
table_parts(const uint8_t *table)
{
	struct table_parts t;

	for (size_t k = 0; k < 4; k++)
		t.of[k] = _mm512_loadu_si512(table + 64 * k);
	return t;
}

/* 64 bytes at a time: the lower half of the table or the upper, by the first bit. */
static VBMI __m512i
table_look(__m512i x, struct table_parts t)
{
	const __m512i low = _mm512_permutex2var_epi8(t.of[0], x, t.of[1]);
	const __m512i high = _mm512_permutex2var_epi8(t.of[2], x, t.of[3]);

	return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

static VBMI void
table_row_wide(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    struct table_parts t)
{
	size_t i = 0;

	for (; i + 64 <= n; i += 64)
		_mm512_storeu_si512(
		    to + i, table_look(_mm512_loadu_si512(from + i), t));
	if (i < n) {
		const __mmask64 rest = (UINT64_C(1) << (n - i)) - 1;

		_mm512_mask_storeu_epi8(to + i, rest,
		    table_look(_mm512_maskz_loadu_epi8(rest, from + i), t));
	}
}

__attribute__((target("avx512vbmi,avx512bw"))) static void
table_rows_permuted(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	const struct table_parts t = table_parts(table);

	for (size_t k = 0; k < r->rows;
	     k++, to += r->to_step, from += r->from_step)
		table_row_wide(to, from, r->n, t);
}

static bool
table_rows_wide(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	if (!__builtin_cpu_supports("avx512vbmi"))
		return false;
	table_rows_permuted(to, from, r, table);
	return true;
}
#else
#define table_rows_wide table_rows_lacking
#endif

/* ---- computed, where a line says what the table says ---- */

#if NATIVE_WIDTH == 8 && defined(__AVX2__)
ALWAYS void
line_step(uint8_t *to, const uint8_t *from, const struct byte_line *l)
{
	const __m256i x =
	    (__m256i)(shorts_of_codes(from, l->from_unsigned) - l->from_zero);
	const __m256i y = _mm256_mulhrs_epi16(
	    _mm256_sll_epi16(x, _mm_cvtsi32_si128(l->shift)),
	    _mm256_set1_epi16(l->factor));
	const __m256i sum = _mm256_adds_epi16(y, _mm256_set1_epi16(l->to_zero));
	const __m128i low = _mm256_castsi256_si128(sum);
	const __m128i high = _mm256_extracti128_si256(sum, 1);

	_mm_storeu_si128((__m128i *)to,
	    l->to_unsigned ? _mm_packus_epi16(low, high)
	                   : _mm_packs_epi16(low, high));
}

/* Of rows of at least as many bytes as a step takes. What the last step has of the one
 * before is written twice. */
static bool
table_rows_by_line(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	(void)table;
	if (!r->line || r->n < SHORTS)
		return false;
	for (size_t k = 0; k < r->rows;
	     k++, to += r->to_step, from += r->from_step) {
		for (size_t i = 0; i + SHORTS <= r->n; i += SHORTS)
			line_step(to + i, from + i, r->line);
		line_step(to + r->n - SHORTS, from + r->n - SHORTS, r->line);
	}
	return true;
}
#else
#define table_rows_by_line table_rows_lacking
#endif

/* ---- 32 at a time, by shuffles ---- */

#ifdef __AVX2__
#define TABLE_PARTS ((size_t)16)
#define TABLE_STEP ((size_t)32)

/* Of sixteen entries each; but for the first of either half, xor those before. Of a byte,
 * xor of what its own part and those before it in its half have is its entry. */
struct table_sixteens {
	__m256i of[TABLE_PARTS];
};

static struct table_sixteens
table_sixteens(const uint8_t *table)
{
	struct table_sixteens t;
	__m128i before = _mm_setzero_si128();

	for (size_t k = 0; k < TABLE_PARTS; k++) {
		const __m128i part =
		    _mm_loadu_si128((const __m128i *)table + k);

		if (k == TABLE_PARTS / 2)
			before = _mm_setzero_si128();
		t.of[k] =
		    _mm256_broadcastsi128_si256(_mm_xor_si128(part, before));
		before = part;
	}
	return t;
}

/* 0 is looked up for a byte whose first bit is set. Sixteen less at each part sets it for
 * those of parts before, and it stays set: differences saturate. */
ALWAYS __m256i
table_half(__m256i x, const __m256i *part)
{
	__m256i y = _mm256_shuffle_epi8(part[0], x);

	for (size_t k = 1; k < TABLE_PARTS / 2; k++) {
		x = _mm256_subs_epi8(x, _mm256_set1_epi8(16));
		y = _mm256_xor_si256(y, _mm256_shuffle_epi8(part[k], x));
	}
	return y;
}

ALWAYS void
table_step(uint8_t *to, const uint8_t *from, const struct table_sixteens *t)
{
	const __m256i x = _mm256_loadu_si256((const __m256i *)from);
	const __m256i turned = _mm256_xor_si256(x, _mm256_set1_epi8(-128));

	_mm256_storeu_si256((__m256i *)to,
	    _mm256_xor_si256(table_half(x, t->of),
	        table_half(turned, t->of + TABLE_PARTS / 2)));
}

/* n: at least as many as a step takes, as by a line. */
static void
table_row(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const struct table_sixteens *t)
{
	for (size_t i = 0; i + TABLE_STEP <= n; i += TABLE_STEP)
		table_step(to + i, from + i, t);
	table_step(to + n - TABLE_STEP, from + n - TABLE_STEP, t);
}

/* Whether rows are long enough for it. */
static bool
table_rows_by_sixteen(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	struct table_sixteens t;

	if (r->n < TABLE_STEP)
		return false;
	t = table_sixteens(table);
	for (size_t k = 0; k < r->rows;
	     k++, to += r->to_step, from += r->from_step)
		table_row(to, from, r->n, &t);
	return true;
}
#else
#define table_rows_by_sixteen table_rows_lacking
#endif

/* ---- any way ---- */

static void
table_rows_each(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	for (size_t k = 0; k < r->rows;
	     k++, to += r->to_step, from += r->from_step)
		for (size_t i = 0; i < r->n; i++)
			to[i] = table[from[i]];
}

static void
bytes_table_rows(uint8_t *restrict to, const uint8_t *restrict from,
    const struct table_rows *r, const uint8_t *table)
{
	if (!table_rows_wide(to, from, r, table)
	    && !table_rows_by_line(to, from, r, table)
	    && !table_rows_by_sixteen(to, from, r, table))
		table_rows_each(to, from, r, table);
}

static void
bytes_table(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const uint8_t *table)
{
	bytes_table_rows(
	    to, from, &(struct table_rows){n, 1, n, n, NULL}, table);
}

#endif
