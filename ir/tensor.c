#include "ir/tensor.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/buf.h"
#include "ir/base/size.h"
#include "ir/halves.h"

bool
view_is(struct string_view v, const char *text)
{
	return v.n == strlen(text) && memcmp(v.s, text, v.n) == 0;
}

bool
views_same(struct string_view a, struct string_view b)
{
	/* what is empty may lie nowhere */
	return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

/* What fits a 47-bit address space: a larger tensor cannot exist here. */
#define MAX_BYTES ((size_t)1 << 47)

bool
type_is_static(const struct type *t)
{
	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] < 0)
			return false;
	return true;
}

bool
type_has_size(const struct type *t)
{
	return type_is_static(t) && dtype_bits(t->dtype) > 0;
}

size_t
type_elements(const struct type *t, uint32_t first)
{
	size_t n = 1;

	for (uint32_t i = first; i < t->rank; i++)
		n *= (size_t)t->dim[i];
	return n;
}

size_t
type_leading(const struct type *t, uint32_t last)
{
	size_t n = 1;

	for (uint32_t i = 0; i + last < t->rank; i++)
		n *= (size_t)t->dim[i];
	return n;
}

bool
tensor_size(enum dtype dtype, const int64_t *dim, uint32_t rank, size_t *n,
    size_t *bytes)
{
	size_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		if (dim[i] < 0 || !size_mul(count, (size_t)dim[i], &count))
			return false;
	if (count > MAX_BYTES)
		return false;
	*n = count;
	if (dtype == DT_STRING) {
		*bytes = count * sizeof(struct string_view);
		return true;
	}
	return dtype_bytes(dtype, count, bytes) && *bytes <= MAX_BYTES;
}

static struct tensor
tensor_of(enum dtype dtype, uint32_t rank, const int64_t *dim)
{
	struct tensor t = {.dtype = dtype, .rank = rank, .dim = dim};
	bool fits = tensor_size(dtype, dim, rank, &t.count, &t.bytes);

	assert(fits);
	(void)fits;
	return t;
}

struct tensor
tensor_view(
    enum dtype dtype, uint32_t rank, const int64_t *dim, const void *data)
{
	struct tensor t = tensor_of(dtype, rank, dim);

	t.kind = TENSOR_VIEW;
	t.data = data;
	return t;
}

struct tensor
tensor_strings(
    uint32_t rank, const int64_t *dim, const struct string_view *string)
{
	struct tensor t = tensor_of(DT_STRING, rank, dim);

	t.kind = TENSOR_STRINGS;
	t.string = string;
	return t;
}

struct tensor
tensor_fill(
    enum dtype dtype, uint32_t rank, const int64_t *dim, const void *element)
{
	struct tensor t = tensor_of(dtype, rank, dim);

	assert(dtype_bits(dtype) >= 8);
	t.kind = TENSOR_FILL;
	memcpy(t.fill, element, dtype_bits(dtype) / 8);
	return t;
}

bool
tensor_is_numbers(const struct tensor *t)
{
	return t->kind <= TENSOR_FILL || t->kind == TENSOR_HALVES;
}

/* TUNING: constants that predicates and idioms look into are shorter. */
#define WIDENED_AT_ONCE 4096

struct tensor
tensor_widened(const struct tensor *t, struct arena *a)
{
	struct tensor w = *t;
	float *to;

	if (!dtype_is_half(t->dtype) || t->kind > TENSOR_FILL)
		return w;
	w.dtype = DT_FLOAT;
	w.held = t->dtype;
	w.bytes = t->count * sizeof *to;
	if (t->kind == TENSOR_FILL) {
		float x = t->count ? (float)tensor_real(t, 0) : 0;

		memcpy(w.fill, &x, sizeof x);
		return w;
	}
	w.kind = TENSOR_HALVES;
	return t->count > WIDENED_AT_ONCE ? w : tensor_opened(&w, a);
}

struct tensor
tensor_opened(const struct tensor *t, struct arena *a)
{
	struct tensor open = *t;

	if (t->kind == TENSOR_HALVES) {
		open.data = tensor_data(t, a);
		open.kind = TENSOR_VIEW;
	}
	return open;
}

enum dtype
tensor_held(const struct tensor *t)
{
	return t->held == DT_UNDEFINED ? t->dtype : t->held;
}

const void *
tensor_data(const struct tensor *t, struct arena *a)
{
	size_t step;
	unsigned char *copy;

	assert(tensor_is_numbers(t));
	if (t->kind == TENSOR_VIEW && (uintptr_t)t->data % 64 == 0)
		return t->data;
	/* slack of a cache line: some kernels read past the end */
	copy = arena_alloc(a, t->bytes + 64);
	if (t->kind == TENSOR_HALVES) {
		halves_widen(t->held, t->data, t->count, (float *)(void *)copy);
		return copy;
	}
	if (t->kind == TENSOR_VIEW) {
		if (t->bytes)
			memcpy(copy, t->data, t->bytes);
		return copy;
	}
	step = dtype_bits(t->dtype) / 8;
	for (size_t i = 0; i < t->count; i++)
		memcpy(copy + i * step, t->fill, step);
	return copy;
}

/* The bytes of element i of a VIEW or FILL; dtypes of whole bytes only. */
static const unsigned char *
element(const struct tensor *t, size_t i)
{
	assert(i < t->count);
	if (t->kind == TENSOR_FILL)
		return t->fill;
	assert(t->kind == TENSOR_VIEW);
	return (const unsigned char *)t->data + i * (dtype_bits(t->dtype) / 8);
}

/* Element i of a packed 4- or 2-bit tensor. */
static unsigned
packed_code(const struct tensor *t, size_t i)
{
	const uint32_t bits = dtype_bits(t->dtype), per = 8 / bits;
	const unsigned byte = ((const unsigned char *)t->data)[i / per];

	return byte >> (bits * (i % per)) & ((1u << bits) - 1);
}

static int64_t
packed_int(const struct tensor *t, size_t i)
{
	const uint32_t bits = dtype_bits(t->dtype);
	const unsigned x = packed_code(t, i);

	if (dtype_is_signed(t->dtype) && x >> (bits - 1))
		return (int64_t)x - (INT64_C(1) << bits);
	return x;
}

int64_t
tensor_int(const struct tensor *t, size_t i)
{
	const unsigned char *p;
	uint64_t x = 0;
	uint32_t bits = dtype_bits(t->dtype);

	assert(dtype_is_integer(t->dtype) || t->dtype == DT_BOOL);
	if (bits < 8)
		return packed_int(t, i);
	p = element(t, i);
	for (uint32_t b = 0; b < bits / 8; b++)
		x |= (uint64_t)p[b] << 8 * b;
	if (dtype_is_signed(t->dtype) && bits < 64 && x >> (bits - 1))
		x |= UINT64_MAX << bits;
	return (int64_t)x;
}

struct type
tensor_type(const struct tensor *t)
{
	return (struct type){
	    .kind = TYPE_TENSOR,
	    .dtype = t->dtype,
	    .rank = t->rank,
	    .dim = t->dim,
	};
}

double
tensor_real(const struct tensor *t, size_t i)
{
	const unsigned char *p;
	uint16_t h;
	float f;
	double d;

	if (t->kind == TENSOR_HALVES) {
		halves_widen(
		    t->held, (const unsigned char *)t->data + 2 * i, 1, &f);
		return (double)f;
	}
	if (t->dtype == DT_FLOAT) { /* most are */
		memcpy(&f, element(t, i), sizeof f);
		return (double)f;
	}
	if (dtype_is_integer(t->dtype) || t->dtype == DT_BOOL)
		return t->dtype == DT_UINT64
		    ? (double)(uint64_t)tensor_int(t, i)
		    : (double)tensor_int(t, i);
	if (dtype_bits(t->dtype) < 8)
		return small_float_value(t->dtype, (uint8_t)packed_code(t, i));
	p = element(t, i);
	switch (t->dtype) {
	case DT_DOUBLE:
		memcpy(&d, p, sizeof d);
		return d;
	case DT_FLOAT16:
		memcpy(&h, p, sizeof h);
		return (double)f16_to_f32(h);
	case DT_BFLOAT16:
		memcpy(&h, p, sizeof h);
		return (double)bf16_to_f32(h);
	default:
		assert(dtype_is_float(t->dtype));
		return small_float_value(t->dtype, *p);
	}
}

static bool
same_strings(const struct tensor *a, const struct tensor *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (!views_same(a->string[i], b->string[i]))
			return false;
	return true;
}

/* Items of sequences are tensors, nested as types are. */
static bool
same_items(const struct tensor *a, const struct tensor *b)
{
	if (a->nitems != b->nitems)
		return false;
	for (uint32_t i = 0; i < a->nitems; i++)
		if (!tensor_equal(&a->item[i], &b->item[i]))
			return false;
	return true;
}

static bool
same_elements(const struct tensor *a, const struct tensor *b)
{
	const size_t step = dtype_bits(a->dtype) / 8;

	if (a->kind == TENSOR_HALVES)
		return a->held == b->held
		    && memcmp(a->data, b->data, a->count * 2) == 0;
	if (a->kind == TENSOR_VIEW && b->kind == TENSOR_VIEW)
		return a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0;
	for (size_t i = 0; i < a->count; i++)
		if (memcmp(element(a, i), element(b, i), step) != 0)
			return false;
	return true;
}

bool
tensor_equal(const struct tensor *a, const struct tensor *b)
{
	if (a->kind > TENSOR_FILL || b->kind > TENSOR_FILL) {
		if (a->kind != b->kind)
			return false;
		if (a->kind == TENSOR_SEQUENCE)
			return same_items(a, b);
		if (a->kind == TENSOR_NONE)
			return true;
	}
	if (a->dtype != b->dtype || a->rank != b->rank || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return a->kind == TENSOR_STRINGS ? same_strings(a, b)
	                                 : same_elements(a, b);
}

static void
dim_text(struct buf *b, int64_t dim, const char *const *symbol)
{
	if (dim >= 0)
		buf_printf(b, "%lld", (long long)dim);
	else if (dim == DIM_UNKNOWN || !symbol)
		buf_str(b, "?");
	else
		buf_str(b, symbol[DIM_SYMBOL(0) - dim]);
}

static void
tensor_type_text(struct buf *b, const struct type *t, const char *const *symbol)
{
	buf_str(b, dtype_name(t->dtype));
	if (t->rank == RANK_UNKNOWN) {
		buf_str(b, "[...]");
		return;
	}
	buf_str(b, "[");
	for (uint32_t i = 0; i < t->rank; i++) {
		buf_str(b, i ? "," : "");
		dim_text(b, t->dim[i], symbol);
	}
	buf_str(b, "]");
}

const char *
type_text(const struct type *t, const char *const *symbol, struct arena *a)
{
	static const char *const word[] = {
	    [TYPE_UNKNOWN] = "unknown",
	    [TYPE_SEQUENCE] = "sequence of ",
	    [TYPE_OPTIONAL] = "optional ",
	    [TYPE_OPAQUE] = "opaque",
	};
	struct buf b;
	char *text;

	buf_init(&b);
	while (t && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL)) {
		buf_str(&b, word[t->kind]);
		t = t->elem;
	}
	if (t && t->kind == TYPE_TENSOR)
		tensor_type_text(&b, t, symbol);
	else
		buf_str(&b, t ? word[t->kind] : "unknown");
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}
