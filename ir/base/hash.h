/* Hashes (XXH3). An index only: whoever hits compares the bytes. Stable across
 * machines, so the 128-bit one may be stored. */
#ifndef IR_BASE_HASH_H
#define IR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash128 {
	uint8_t byte[16]; /* XXH3-128, canonical (big-endian) form */
};

uint64_t hash64(const void *bytes, size_t n, uint64_t seed);
struct hash128 hash128(const void *bytes, size_t n);

/* 32 hex digits and a NUL. */
void hash128_print(struct hash128 h, char text[33]);

#endif
