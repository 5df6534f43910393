#include "ir/pb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LEN = 2, FIXED32 = 5 };

static void
add(struct pb *m, const void *bytes, size_t n)
{
	buf_add(&m->bytes, bytes, n);
	m->total += n;
}

static void
add_varint(struct pb *m, uint64_t x)
{
	uint8_t b[10];
	size_t n = 0;

	for (; x >= 0x80; x >>= 7)
		b[n++] = (uint8_t)(x | 0x80);
	b[n++] = (uint8_t)x;
	add(m, b, n);
}

static void
add_tag(struct pb *m, uint32_t field, unsigned type)
{
	add_varint(m, (uint64_t)field << 3 | type);
}

static void
add_reference(struct pb *m, size_t at, const struct tensor *t)
{
	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 16;
		m->reference =
		    realloc(m->reference, m->cap * sizeof *m->reference);
		if (!m->reference)
			abort();
	}
	m->reference[m->n++] = (struct pb_reference){at, t};
}

void
pb_init(struct pb *m)
{
	*m = (struct pb){.n = 0};
}

void
pb_release(struct pb *m)
{
	buf_release(&m->bytes);
	free(m->reference);
	pb_init(m);
}

void
pb_int(struct pb *m, uint32_t field, int64_t x)
{
	add_tag(m, field, VARINT);
	add_varint(m, (uint64_t)x);
}

void
pb_float(struct pb *m, uint32_t field, float x)
{
	uint8_t b[4];
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	for (unsigned i = 0; i < sizeof b; i++)
		b[i] = (uint8_t)(bits >> 8 * i);
	add_tag(m, field, FIXED32);
	add(m, b, sizeof b);
}

void
pb_bytes(struct pb *m, uint32_t field, const void *bytes, size_t n)
{
	add_tag(m, field, LEN);
	add_varint(m, n);
	add(m, bytes, n);
}

void
pb_str(struct pb *m, uint32_t field, const char *s)
{
	if (s)
		pb_bytes(m, field, s, strlen(s));
}

void
pb_payload(struct pb *m, uint32_t field, const struct tensor *t)
{
	add_tag(m, field, LEN);
	add_varint(m, t->bytes);
	add_reference(m, m->bytes.n, t);
	m->total += t->bytes;
}

void
pb_message(struct pb *m, uint32_t field, struct pb *child)
{
	add_tag(m, field, LEN);
	add_varint(m, child->total);
	for (uint32_t i = 0; i < child->n; i++)
		add_reference(m, m->bytes.n + child->reference[i].at,
		    child->reference[i].tensor);
	buf_add(&m->bytes, child->bytes.data, child->bytes.n);
	m->total += child->total;
	pb_release(child);
}

/* One repeated element, a page at a time. */
static void
write_fill(FILE *f, const struct tensor *t)
{
	size_t step = t->count ? t->bytes / t->count : 0, left = t->bytes;
	unsigned char page[4096];

	for (size_t i = 0; step && i + step <= sizeof page; i += step)
		memcpy(page + i, t->fill, step);
	while (left > 0) {
		size_t n = left < sizeof page ? left : sizeof page;

		fwrite(page, 1, n, f);
		left -= n;
	}
}

static void
write_payload(FILE *f, const struct tensor *t)
{
	if (t->kind == TENSOR_FILL)
		write_fill(f, t);
	else if (t->bytes)
		fwrite(t->data, 1, t->bytes, f);
}

bool
pb_write(FILE *f, const struct pb *m, struct err *err)
{
	size_t at = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		size_t to = m->reference[i].at;

		fwrite(m->bytes.data + at, 1, to - at, f);
		write_payload(f, m->reference[i].tensor);
		at = to;
	}
	if (m->bytes.n > at)
		fwrite(m->bytes.data + at, 1, m->bytes.n - at, f);
	return !ferror(f)
	    || err_set(
	        err, ERR_IO, "cannot write the model: %s", strerror(errno));
}
