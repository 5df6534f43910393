#include "cli/night/html.h"

#include "ir/base/buf.h"
#include "ir/base/plain.h"

static const char *
entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

const char *
escaped(const char *text, struct arena *a)
{
	const char *out;
	char plain[4];
	size_t taken;
	struct buf b;

	buf_init(&b);
	for (const char *s = text; *s; s += taken) {
		const char *e = entity(*s);
		size_t n = plain_next(plain, s, &taken);

		if (e)
			buf_str(&b, e);
		else if (*s == '\n')
			buf_add(&b, s, 1);
		else
			buf_add(&b, plain, n);
	}
	out = b.n ? arena_strn(a, b.data, b.n) : "";
	buf_release(&b);
	return out;
}
