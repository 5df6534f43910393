#include "ir/base/sha256.h"

#include <stdio.h>
#include <string.h>

/* SOURCE: FIPS 180-4, sections 4.2.2 (K) and 5.3.3 (the first state). */
static const uint32_t K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
    0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138,
    0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
    0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f,
    0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t
rotated(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void
schedule(uint32_t w[64], const uint8_t *block)
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24
		    | (uint32_t)block[4 * i + 1] << 16
		    | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7]
		    + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3)
		    + (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
	}
}

/* The working variables a to h move up by one each round. */
static void
take_block(struct sha256 *s, const uint8_t *block)
{
	uint32_t w[64], *v = s->state;
	uint32_t a = v[0], b = v[1], c = v[2], d = v[3];
	uint32_t e = v[4], f = v[5], g = v[6], h = v[7];

	schedule(w, block);
	for (unsigned i = 0; i < 64; i++) {
		uint32_t x = h
		    + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25))
		    + ((e & f) ^ (~e & g)) + K[i] + w[i];
		uint32_t y = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22))
		    + ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + x;
		d = c;
		c = b;
		b = a;
		a = x + y;
	}
	v[0] += a;
	v[1] += b;
	v[2] += c;
	v[3] += d;
	v[4] += e;
	v[5] += f;
	v[6] += g;
	v[7] += h;
}

void
sha256_init(struct sha256 *s)
{
	*s = (struct sha256){
	    .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void
sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t at = (size_t)(s->bytes % 64);
		size_t more = 64 - at < n ? 64 - at : n;

		memcpy(s->block + at, from, more);
		s->bytes += more;
		from += more;
		n -= more;
		if (at + more == 64)
			take_block(s, s->block);
	}
}

void
sha256_end(struct sha256 *s, char text[65])
{
	uint64_t bits = s->bytes * 8;
	uint8_t end[8];

	for (int i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, "\x80", 1);
	while (s->bytes % 64 != 56)
		sha256_add(s, "", 1);
	sha256_add(s, end, sizeof end);
	for (size_t i = 0; i < 8; i++)
		snprintf(text + 8 * i, 9, "%08x", (unsigned)s->state[i]);
}
