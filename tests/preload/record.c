/* Preloaded into a program: what it does to folders, and what it syncs, goes as
 * lines into the file RECORD, "what path [path]", once it has happened. Only the
 * first process: what it starts runs as ever. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int out = -1;
static pid_t owner;

/* The next definition of a function, by its name. */
#define REAL(type, name) \
	static type *real; \
	if (!real) { \
		void *found = dlsym(RTLD_NEXT, name); \
		memcpy(&real, &found, sizeof real); \
	}

typedef FILE *open_stream(const char *path, const char *how);
typedef int on_path(const char *path);
typedef int on_new(const char *path, mode_t mode);
typedef int on_fd(int fd);
typedef int on_two(const char *from, const char *to);
typedef int on_places(
    int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
typedef int opener(const char *path, int flags, ...);

__attribute__((constructor)) static void
begin(void)
{
	REAL(opener, "open")
	const char *path = getenv("RECORD");

	owner = getpid();
	unsetenv("LD_PRELOAD");
	if (path)
		out = real(path,
		    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

static void
record(const char *what, const char *a, const char *b)
{
	char line[9000];
	int n =
	    snprintf(line, sizeof line, "%s\t%s\t%s\n", what, a, b ? b : "");

	if (out >= 0 && getpid() == owner && write(out, line, (size_t)n) != n)
		abort();
}

FILE *
fopen(const char *path, const char *how)
{
	REAL(open_stream, "fopen")
	FILE *f = real(path, how);

	if (f && strchr("wa", *how))
		record("create", path, NULL);
	return f;
}

int
open(const char *path, int flags, ...)
{
	REAL(opener, "open")
	mode_t mode = 0;
	int fd;

	if (flags & O_CREAT) {
		va_list ap;

		va_start(ap, flags);
		mode = (mode_t)va_arg(ap, int);
		va_end(ap);
	}
	fd = real(path, flags, mode);
	if (fd >= 0 && flags & O_CREAT)
		record("create", path, NULL);
	return fd;
}

int
fsync(int fd)
{
	REAL(on_fd, "fsync")
	char link[64], path[4096];
	int status = real(fd);
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (status == 0 && n > 0) {
		path[n] = '\0';
		record("sync", path, NULL);
	}
	return status;
}

int
mkdir(const char *path, mode_t mode)
{
	REAL(on_new, "mkdir")
	int status = real(path, mode);

	if (status == 0)
		record("mkdir", path, NULL);
	return status;
}

int
link(const char *from, const char *to)
{
	REAL(on_two, "link")
	int status = real(from, to);

	if (status == 0)
		record("link", from, to);
	return status;
}

int
unlink(const char *path)
{
	REAL(on_path, "unlink")
	int status = real(path);

	if (status == 0)
		record("remove", path, NULL);
	return status;
}

int
remove(const char *path)
{
	REAL(on_path, "remove")
	int status = real(path);

	if (status == 0)
		record("remove", path, NULL);
	return status;
}

int
rename(const char *from, const char *to)
{
	REAL(on_two, "rename")
	int status = real(from, to);

	if (status == 0)
		record("rename", from, to);
	return status;
}

int
renameat2(
    int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	REAL(on_places, "renameat2")
	int status = real(from_fd, from, to_fd, to, flags);

	if (status == 0)
		record(
		    flags & RENAME_EXCHANGE ? "exchange" : "rename", from, to);
	return status;
}
