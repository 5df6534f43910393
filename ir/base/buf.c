#include "ir/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/err.h"
#include "ir/base/memory.h"
#include "ir/base/size.h"

static void
enlarge(struct buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 256;

	if (!size_add(b->n, more, &need) || !size_add(need, 1, &need)
	    || need > SIZE_MAX / 2)
		abort();
	while (cap < need)
		cap *= 2;
	b->data = memory_resize(b->data, cap);
	b->cap = cap;
}

/* Room for so much and a 0; n is below cap, or both are 0. */
static inline void
reserve(struct buf *b, size_t more)
{
	if (more >= b->cap - b->n)
		enlarge(b, more);
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
	const size_t room = b->cap - b->n;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(room ? b->data + b->n : NULL, room, fmt, ap);
	if (n < 0)
		abort();
	if ((size_t)n >= room) {
		reserve(b, (size_t)n);
		vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
	}
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

/* The place of n bytes more; what it holds is theirs to say. */
static inline unsigned char *
extend(struct buf *b, size_t n)
{
	unsigned char *at;

	reserve(b, n);
	at = (unsigned char *)b->data + b->n;
	b->n += n;
	at[n] = '\0';
	return at;
}

/* One by one: compilers make one store of it. */
static inline void
put_u32(unsigned char *at, uint32_t x)
{
	at[0] = (unsigned char)x;
	at[1] = (unsigned char)(x >> 8);
	at[2] = (unsigned char)(x >> 16);
	at[3] = (unsigned char)(x >> 24);
}

void
buf_u8(struct buf *b, uint8_t x)
{
	*extend(b, 1) = x;
}

void
buf_u32(struct buf *b, uint32_t x)
{
	put_u32(extend(b, 4), x);
}

void
buf_u64(struct buf *b, uint64_t x)
{
	unsigned char *at = extend(b, 8);

	put_u32(at, (uint32_t)x);
	put_u32(at + 4, (uint32_t)(x >> 32));
}
