#include "ir/base/sha256.h"

#include <nettle/base16.h>

void
sha256_start(struct sha256 *s)
{
	sha256_init(&s->context);
}

void
sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	sha256_update(&s->context, n, bytes);
}

void
sha256_end(struct sha256 *s, char text[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(&s->context, sizeof digest, digest);
	base16_encode_update(text, sizeof digest, digest);
	text[64] = 0;
}
