#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "ir/base/plain.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/fd.h"
#include "ir/base/utf8.h"

/* ---- characters ---- */

/* SOURCE: Unicode 15: general category Cc, line and paragraph separators, and
 * the property Bidi_Control. */
static bool
is_control(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c
	    || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e)
	    || (c >= 0x2066 && c <= 0x2069);
}

bool
plain_is_control(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	if (n == 1)
		return is_control(p[0]);
	if (n == 2)
		return is_control((p[0] & 0x1fu) << 6 | (p[1] & 0x3fu));
	if (n == 3)
		return is_control(
		    (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
	return false;
}

/* The next character of s, as it goes out; its bytes there. */
static size_t
take(char *out, const char *s, size_t n, const char *kept, size_t *taken)
{
	size_t len = utf8_length(s, n);

	*taken = len ? len : 1;
	if (len == 0
	    || (plain_is_control(s, len)
	        && !(len == 1 && *s && strchr(kept, *s)))) {
		*out = '?';
		return 1;
	}
	memmove(out, s, len);
	return len;
}

void
plain_line(char *text)
{
	size_t n = strlen(text), to = 0, taken;

	for (size_t i = 0; i < n; i += taken)
		to += take(text + to, text + i, n - i, "", &taken);
	text[to] = '\0';
}

size_t
plain_next(char out[4], const char *text, size_t *taken)
{
	size_t n = take(out, text, strnlen(text, 4), "", taken);

	if (strchr("\t\n\v\f\r", *text))
		*out = ' ';
	return n;
}

/* ---- the stream ---- */

/* Bytes of a character whose rest comes with the next write. */
static struct {
	char byte[4];
	size_t n;
} begun;

/* Could more bytes make it well-formed? `n` is below 4. */
static bool
is_begun(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;
	size_t whole = c < 0xc2 || c > 0xf4 ? 1
	    : c < 0xe0                      ? 2
	    : c < 0xf0                      ? 3
	                                    : 4;

	return n < whole;
}

static ssize_t
write_plain(void *cookie, const char *s, size_t n)
{
	char in[4096 + sizeof begun.byte], out[sizeof in];
	size_t left = n;

	(void)cookie;
	while (left > 0) {
		size_t fit = left < 4096 ? left : 4096, have = begun.n, to = 0;
		size_t i = 0, taken;

		memcpy(in, begun.byte, have);
		memcpy(in + have, s, fit);
		have += fit;
		while (i < have) {
			if (have - i < 4 && utf8_length(in + i, have - i) == 0
			    && is_begun(in + i, have - i))
				break;
			to += take(out + to, in + i, have - i, "\n\t", &taken);
			i += taken;
		}
		begun.n = have - i;
		memcpy(begun.byte, in + i, begun.n);
		if (!fd_write_all(STDOUT_FILENO, out, to))
			return 0;
		s += fit;
		left -= fit;
	}
	return (ssize_t)n;
}

void
plain_stdout(void)
{
	const cookie_io_functions_t functions = {.write = write_plain};
	FILE *f = fopencookie(NULL, "w", functions);

	if (!f)
		return;
	if (isatty(STDOUT_FILENO))
		setvbuf(f, NULL, _IOLBF, BUFSIZ);
	stdout = f;
}

FILE *
plain_raw_stdout(void)
{
	int fd =
	    fflush(stdout) == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}
