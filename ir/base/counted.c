#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include "ir/base/counted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/fd.h"

struct counted {
	int fd; /* -1: all so far is in the former file as well */
	int former; /* -1: none */
	off_t same; /* so many bytes */
	const char *former_path, *path;
	uint64_t *left;
};

#define CHUNK ((size_t)16 << 10)

static bool
is_next(struct counted *c, const char *s, size_t n)
{
	char has[CHUNK];
	off_t at = c->same;

	while (n > 0) {
		size_t some = n < sizeof has ? n : sizeof has;

		if (pread(c->former, has, some, at) != (ssize_t)some
		    || memcmp(has, s, some) != 0)
			return false;
		s += some;
		n -= some;
		at += (off_t)some;
	}
	c->same = at;
	return true;
}

/* A file of its own, with what was the same so far. */
static bool
part(struct counted *c)
{
	char same[CHUNK];

	c->fd = open(c->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (c->fd < 0)
		return false;
	for (off_t at = 0; at < c->same;) {
		size_t some = c->same - at < (off_t)sizeof same
		    ? (size_t)(c->same - at)
		    : sizeof same;

		if (pread(c->former, same, some, at) != (ssize_t)some
		    || !fd_write_all(c->fd, same, some))
			return false;
		at += (off_t)some;
	}
	return true;
}

static ssize_t
write_counted(void *cookie, const char *s, size_t n)
{
	struct counted *c = cookie;

	if (n > *c->left) {
		*c->left = 0;
		errno = EFBIG;
		return 0;
	}
	if (c->fd < 0 && !is_next(c, s, n) && !part(c))
		return 0;
	if (c->fd >= 0 && !fd_write_all(c->fd, s, n))
		return 0;
	*c->left -= n;
	return (ssize_t)n;
}

/* It ends where the former file does, and is it. */
static bool
is_former(const struct counted *c)
{
	struct stat st;

	return fstat(c->former, &st) == 0 && st.st_size == c->same
	    && link(c->former_path, c->path) == 0;
}

static int
close_counted(void *cookie)
{
	struct counted *c = cookie;
	bool bad = c->fd < 0 && !is_former(c) && !part(c);
	int why = errno;

	if (c->fd >= 0)
		bad |= close(c->fd) != 0;
	if (c->former >= 0)
		close(c->former);
	free(c);
	if (bad && why)
		errno = why;
	return bad ? -1 : 0;
}

static FILE *
open_as(struct counted what)
{
	const cookie_io_functions_t functions = {
	    .write = write_counted, .close = close_counted};
	struct counted *c = malloc(sizeof *c);
	FILE *f;

	if (!c)
		return NULL;
	*c = what;
	f = fopencookie(c, "w", functions);
	if (f) /* one thread writes it; locks take longer than characters */
		__fsetlocking(f, FSETLOCKING_BYCALLER);
	else
		free(c);
	return f;
}

FILE *
counted_open(int fd, uint64_t *left)
{
	return open_as((struct counted){.fd = fd, .former = -1, .left = left});
}

FILE *
counted_follow(int fd, const char *former, const char *path, uint64_t *left)
{
	return open_as((struct counted){.fd = -1,
	    .former = fd,
	    .former_path = former,
	    .path = path,
	    .left = left});
}
