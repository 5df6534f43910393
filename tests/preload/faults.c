/* Preloaded into a program: call number FAULTS_AT (from 1) of FAULTS_KIND fails,
 * once; the number of such calls goes into the file FAULTS_COUNT. Kinds: memory
 * (allocations), io (files opened, written, synced, renamed, made). Only the
 * first process: what it starts runs as ever. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { NONE, MEMORY, IO };

static enum kind armed;
static unsigned long at, seen;
static const char *count_path;
static pid_t owner;

/* glibc's own, which need no look-up before the first allocation. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

__attribute__((constructor)) static void
arm(void)
{
	const char *kind = getenv("FAULTS_KIND"), *n = getenv("FAULTS_AT");

	count_path = getenv("FAULTS_COUNT");
	owner = getpid();
	at = n ? strtoul(n, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	if (kind)
		armed = strcmp(kind, "memory") == 0 ? MEMORY : IO;
}

__attribute__((destructor)) static void
tell(void)
{
	char text[32];
	int fd, n;

	armed = NONE;
	if (!count_path || getpid() != owner)
		return;
	fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	n = snprintf(text, sizeof text, "%lu\n", seen);
	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

static int
fails(enum kind kind, int why)
{
	if (armed != kind || getpid() != owner)
		return 0;
	if (__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = why;
	return 1;
}

/* ---- memory ---- */

void *
malloc(size_t n)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_realloc(p, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	void *got = fails(MEMORY, ENOMEM) ? NULL : __libc_memalign(align, n);

	if (!got)
		return ENOMEM;
	*p = got;
	return 0;
}

void *
aligned_alloc(size_t align, size_t n)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_memalign(align, n);
}

/* ---- files ---- */

/* The next definition of a function, by its name. */
#define REAL(type, name) \
	static type *real; \
	if (!real) { \
		void *found = dlsym(RTLD_NEXT, name); \
		memcpy(&real, &found, sizeof real); \
	}

typedef FILE *open_stream(const char *path, const char *how);
typedef int on_stream(FILE *f);
typedef int on_path(const char *path, mode_t mode);
typedef int on_fd(int fd);
typedef int on_two(const char *from, const char *to);
typedef int on_places(
    int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
typedef ssize_t writer(int fd, const void *bytes, size_t n);
typedef char *maker(char *path);
typedef int opener(const char *path, int flags, ...);

FILE *
fopen(const char *path, const char *how)
{
	REAL(open_stream, "fopen")
	return fails(IO, EIO) ? NULL : real(path, how);
}

int
open(const char *path, int flags, ...)
{
	REAL(opener, "open")
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_list ap;

		va_start(ap, flags);
		mode = (mode_t)va_arg(ap, int);
		va_end(ap);
	}
	return fails(IO, EIO) ? -1 : real(path, flags, mode);
}

int
fflush(FILE *f)
{
	REAL(on_stream, "fflush")
	return fails(IO, ENOSPC) ? EOF : real(f);
}

/* It is closed all the same. */
int
fclose(FILE *f)
{
	REAL(on_stream, "fclose")
	int failed = fails(IO, EIO), status = real(f);

	if (failed)
		errno = EIO;
	return failed ? EOF : status;
}

ssize_t
write(int fd, const void *bytes, size_t n)
{
	REAL(writer, "write")
	return fails(IO, ENOSPC) ? -1 : real(fd, bytes, n);
}

int
fsync(int fd)
{
	REAL(on_fd, "fsync")
	return fails(IO, EIO) ? -1 : real(fd);
}

int
mkdir(const char *path, mode_t mode)
{
	REAL(on_path, "mkdir")
	return fails(IO, ENOSPC) ? -1 : real(path, mode);
}

char *
mkdtemp(char *path)
{
	REAL(maker, "mkdtemp")
	return fails(IO, ENOSPC) ? NULL : real(path);
}

int
rename(const char *from, const char *to)
{
	REAL(on_two, "rename")
	return fails(IO, EIO) ? -1 : real(from, to);
}

int
renameat2(
    int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	REAL(on_places, "renameat2")
	return fails(IO, EIO) ? -1 : real(from_fd, from, to_fd, to, flags);
}
