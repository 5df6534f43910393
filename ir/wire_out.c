#include "ir/wire_out.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/memory.h"

enum { VARINT = 0, LEN = 2, FIXED32 = 5 };

void
wire_out_init(struct wire_out *w)
{
	*w = (struct wire_out){.hole = NULL};
	buf_init(&w->bytes);
}

void
wire_out_release(struct wire_out *w)
{
	buf_release(&w->bytes);
	free(w->hole);
	w->hole = NULL;
}

static void
add_varint(struct wire_out *w, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		buf_u8(&w->bytes, (uint8_t)(x | 0x80));
	buf_u8(&w->bytes, (uint8_t)x);
}

static void
add_tag(struct wire_out *w, uint32_t field, unsigned type)
{
	add_varint(w, (uint64_t)field << 3 | type);
}

void
wire_out_int(struct wire_out *w, uint32_t field, int64_t x)
{
	add_tag(w, field, VARINT);
	add_varint(w, (uint64_t)x);
}

void
wire_out_float(struct wire_out *w, uint32_t field, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	add_tag(w, field, FIXED32);
	buf_u32(&w->bytes, bits);
}

void
wire_out_bytes(struct wire_out *w, uint32_t field, const void *bytes, size_t n)
{
	add_tag(w, field, LEN);
	add_varint(w, n);
	buf_add(&w->bytes, bytes, n);
}

void
wire_out_str(struct wire_out *w, uint32_t field, const char *s)
{
	wire_out_bytes(w, field, s, strlen(s));
}

void
wire_out_ints(struct wire_out *w, uint32_t field, const int64_t *x, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		for (uint64_t rest = (uint64_t)x[i], more = 1; more;
		     more = rest >>= 7)
			bytes++;
	add_tag(w, field, LEN);
	add_varint(w, bytes);
	for (size_t i = 0; i < n; i++)
		add_varint(w, (uint64_t)x[i]);
}

static void
add_hole(struct wire_out *w, const struct wire_hole *hole)
{
	if (w->nholes == w->hole_cap) {
		w->hole_cap = w->hole_cap ? 2 * w->hole_cap : 16;
		w->hole = memory_resize(w->hole, w->hole_cap * sizeof *w->hole);
	}
	w->hole[w->nholes++] = *hole;
	w->in_holes += hole->tensor->bytes;
}

void
wire_out_content(
    struct wire_out *w, uint32_t field, const struct tensor *t, uint32_t tag)
{
	assert(t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL);
	add_tag(w, field, LEN);
	add_varint(w, t->bytes);
	add_hole(w, &(struct wire_hole){w->bytes.n, t, tag});
}

void
wire_out_message(struct wire_out *w, uint32_t field, struct wire_out *inner)
{
	size_t start;

	add_tag(w, field, LEN);
	add_varint(w, inner->bytes.n + inner->in_holes);
	start = w->bytes.n;
	buf_add(&w->bytes, inner->bytes.data, inner->bytes.n);
	for (size_t i = 0; i < inner->nholes; i++) {
		struct wire_hole hole = inner->hole[i];

		hole.at += start;
		add_hole(w, &hole);
	}
	wire_out_release(inner);
}

/* A FILL, expanded a few kilobytes at a time. */
static void
write_repeated(FILE *f, const struct tensor *t)
{
	unsigned char chunk[4096];
	size_t step = dtype_bits(t->dtype) / 8, left = t->bytes;

	for (size_t i = 0; i + step <= sizeof chunk; i += step)
		memcpy(chunk + i, t->fill, step);
	while (left) {
		size_t n = left < sizeof chunk ? left : sizeof chunk;

		/* every dtype's size divides the chunk's */
		if (fwrite(chunk, 1, n, f) != n)
			return;
		left -= n;
	}
}

void
wire_out_tensor(FILE *f, const struct tensor *t)
{
	if (t->kind == TENSOR_FILL)
		write_repeated(f, t);
	else if (t->bytes)
		fwrite(t->data, 1, t->bytes, f);
}

void
wire_out_write(FILE *f, const struct wire_out *w,
    bool (*fill)(FILE *f, const struct wire_hole *hole, const void *context),
    const void *context)
{
	size_t at = 0;

	for (size_t i = 0; i < w->nholes; i++) {
		const struct wire_hole *hole = &w->hole[i];

		fwrite(w->bytes.data + at, 1, hole->at - at, f);
		at = hole->at;
		if (!fill || !fill(f, hole, context))
			wire_out_tensor(f, hole->tensor);
	}
	if (w->bytes.n > at)
		fwrite(w->bytes.data + at, 1, w->bytes.n - at, f);
}
