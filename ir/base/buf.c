#include "ir/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/err.h"
#include "ir/base/size.h"

static void
reserve(struct buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 256;
	char *data;

	if (!size_add(b->n, more, &need) || !size_add(need, 1, &need)
	    || need > SIZE_MAX / 2)
		abort();
	if (need <= b->cap)
		return;
	while (cap < need)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		fprintf(stderr, "marq: out of memory (%zu bytes more)\n", cap);
		exit(err_exit(ERR_INTERNAL));
	}
	b->data = data;
	b->cap = cap;
}

void
buf_init(struct buf *b)
{
	*b = (struct buf){.data = NULL};
}

void
buf_release(struct buf *b)
{
	free(b->data);
	buf_init(b);
}

void
buf_add(struct buf *b, const void *bytes, size_t n)
{
	reserve(b, n);
	if (n)
		memcpy(b->data + b->n, bytes, n);
	b->n += n;
	b->data[b->n] = '\0';
}

void
buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		abort();
	reserve(b, (size_t)n);
	vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
	va_end(again);
	b->n += (size_t)n;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
buf_u8(struct buf *b, uint8_t x)
{
	buf_add(b, &x, 1);
}

void
buf_u32(struct buf *b, uint32_t x)
{
	uint8_t le[4];

	for (unsigned i = 0; i < sizeof le; i++)
		le[i] = (uint8_t)(x >> 8 * i);
	buf_add(b, le, sizeof le);
}

void
buf_u64(struct buf *b, uint64_t x)
{
	buf_u32(b, (uint32_t)x);
	buf_u32(b, (uint32_t)(x >> 32));
}
