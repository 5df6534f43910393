#include "ir/base/hash.h"

#include <string.h>
#include <xxhash.h>

uint64_t
hash64(const void *bytes, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, n, seed);
}

struct hash128
hash128(const void *bytes, size_t n)
{
	XXH128_canonical_t canonical;
	struct hash128 h;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, n));
	memcpy(h.byte, canonical.digest, sizeof h.byte);
	return h;
}

void
hash128_print(struct hash128 h, char text[33])
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < sizeof h.byte; i++) {
		*text++ = digit[h.byte[i] >> 4];
		*text++ = digit[h.byte[i] & 15];
	}
	*text = '\0';
}
