#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "ir/base/counted.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir/base/fd.h"

struct counted {
	int fd;
	uint64_t *left;
};

static ssize_t
write_counted(void *cookie, const char *s, size_t n)
{
	const struct counted *c = cookie;

	if (n > *c->left) {
		*c->left = 0;
		errno = EFBIG;
		return 0;
	}
	if (!fd_write_all(c->fd, s, n))
		return 0;
	*c->left -= n;
	return (ssize_t)n;
}

static int
close_counted(void *cookie)
{
	struct counted *c = cookie;
	int fd = c->fd;

	free(c);
	return close(fd);
}

FILE *
counted_open(int fd, uint64_t *left)
{
	const cookie_io_functions_t functions = {
	    .write = write_counted, .close = close_counted};
	struct counted *c = malloc(sizeof *c);
	FILE *f;

	if (!c)
		return NULL;
	*c = (struct counted){fd, left};
	f = fopencookie(c, "w", functions);
	if (f) /* one thread writes it; locks take longer than characters */
		__fsetlocking(f, FSETLOCKING_BYCALLER);
	else
		free(c);
	return f;
}
