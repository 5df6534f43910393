/* SHA-256, for lists of files that others check with tools of their own. */
#ifndef IR_BASE_SHA256_H
#define IR_BASE_SHA256_H

#include <stddef.h>

#include <nettle/sha2.h>

struct sha256 {
	struct sha256_ctx context;
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
/* 64 hex digits and a NUL. */
void sha256_end(struct sha256 *s, char text[65]);

#endif
