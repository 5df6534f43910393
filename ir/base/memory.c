#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* open_memstream */
#endif
#include "ir/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

FILE *
memory_stream(char **text, size_t *n)
{
	FILE *f = open_memstream(text, n);

	if (!f)
		memory_exhausted(BUFSIZ);
	return f;
}

void
memory_stream_close(FILE *f)
{
	bool bad = fflush(f) != 0 || ferror(f);

	if (fclose(f) != 0 || bad)
		memory_exhausted(BUFSIZ);
}
