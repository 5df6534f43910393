#include "db/hex.h"

#include <string.h>

const char *
hex_text(const void *bytes, size_t n, struct arena *a)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	char *text = arena_alloc(a, 2 * n + 1);

	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digit[from[i] >> 4];
		text[2 * i + 1] = digit[from[i] & 15];
	}
	return text;
}

static int
value_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
hex_bytes(const char *text, const void **bytes, size_t *n, struct arena *a)
{
	size_t length = strlen(text);
	unsigned char *to = arena_alloc(a, length / 2);

	if (length % 2)
		return false;
	for (size_t i = 0; i < length / 2; i++) {
		int high = value_of(text[2 * i]),
		    low = value_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (unsigned char)(high << 4 | low);
	}
	*bytes = to;
	*n = length / 2;
	return true;
}
