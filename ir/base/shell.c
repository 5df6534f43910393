#include "ir/base/shell.h"

#include <string.h>

#include "ir/base/buf.h"

const char *
shell_quote(const char *word, struct arena *a)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"
	                            "QRSTUVWXYZ0123456789_-=./:,@+%";
	const char *quoted;
	struct buf b;

	if (*word != '\0' && word[strspn(word, plain)] == '\0')
		return word;
	buf_init(&b);
	buf_str(&b, "'");
	for (; *word; word++) {
		if (*word == '\'')
			buf_str(&b, "'\\''");
		else
			buf_add(&b, word, 1);
	}
	buf_str(&b, "'");
	quoted = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return quoted;
}

size_t
shell_word_length(const char *line)
{
	const char *s = line;

	while (*s && *s != ' ') {
		if (*s == '"')
			return 0;
		if (*s == '\\' && s[1])
			s++;
		else if (*s == '\'' && !(s = strchr(s + 1, '\'')))
			return 0;
		s++;
	}
	return (size_t)(s - line);
}
