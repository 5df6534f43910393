#include "cli/night/html.h"

#include "ir/base/buf.h"

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
	struct buf b;

	buf_init(&b);
	for (const char *s = text; *s; s++) {
		const char *e = entity(*s);

		if (e)
			buf_str(&b, e);
		else
			buf_add(&b,
			    (unsigned char)*s < ' ' && *s != '\n' ? " " : s, 1);
	}
	out = b.n ? arena_strn(a, b.data, b.n) : "";
	buf_release(&b);
	return out;
}
