/* A growable byte buffer on the heap: text and wire bytes on their way out. */
#ifndef IR_BASE_BUF_H
#define IR_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* NUL after the last byte once anything was written */
	size_t n, cap;
};

void buf_init(struct buf *b);
void buf_release(struct buf *b);
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_str(struct buf *b, const char *s);
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void
buf_printf(struct buf *b, const char *fmt, ...);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/* Little-endian fixed-width integers, for canonical bytes. */
void buf_u8(struct buf *b, uint8_t x);
void buf_u32(struct buf *b, uint32_t x);
void buf_u64(struct buf *b, uint64_t x);

#endif
