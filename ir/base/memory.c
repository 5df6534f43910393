#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "ir/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "ir/base/err.h"

_Noreturn void
memory_exhausted(size_t bytes)
{
	fprintf(stderr, "marq: out of memory (%zu bytes more)\n", bytes);
	exit(err_exit(ERR_INTERNAL));
}

void *
memory_get(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		memory_exhausted(bytes);
	return p;
}

void *
memory_resize(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);

	if (!p)
		memory_exhausted(bytes);
	return p;
}

struct stream {
	char **text;
	size_t *n, room;
};

static ssize_t
add(void *cookie, const char *bytes, size_t n)
{
	struct stream *s = cookie;
	size_t need = *s->n + n + 1;

	if (need > s->room) {
		size_t room = need > 2 * s->room ? need : 2 * s->room;
		char *more = realloc(*s->text, room);

		/* exit() would flush this very stream; the close will tell. */
		if (!more)
			return 0;
		*s->text = more;
		s->room = room;
	}
	memcpy(*s->text + *s->n, bytes, n);
	*s->n += n;
	(*s->text)[*s->n] = '\0';
	return (ssize_t)n;
}

static int
forget(void *cookie)
{
	free(cookie);
	return 0;
}

/* glibc's own (open_memstream) loses what it has no memory for, and does not
 * say so. */
FILE *
memory_stream(char **text, size_t *n)
{
	const cookie_io_functions_t io = {.write = add, .close = forget};
	struct stream *s = memory_get(sizeof *s);
	FILE *f;

	*s = (struct stream){.text = text, .n = n, .room = 1};
	*text = memory_get(1);
	**text = '\0';
	*n = 0;
	f = fopencookie(s, "w", io);
	if (!f)
		memory_exhausted(BUFSIZ);
	__fsetlocking(f, FSETLOCKING_BYCALLER); /* one thread writes it */
	return f;
}

void
memory_stream_close(FILE *f)
{
	bool bad = fflush(f) != 0 || ferror(f);

	if (fclose(f) != 0 || bad)
		memory_exhausted(BUFSIZ);
}
