#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/preload/faults/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FAULTS_KIND: which calls; FAULTS_COUNT: the file their number goes to;
 * FAULTS_SITES: the file that says where each was made; FAULTS_AT: the one that
 * fails, from 1; or FAULTS_WALK: each FAULTS_STRIDE-th, from FAULTS_FROM on, fails
 * in a copy of its own. */
static enum kind armed;
static unsigned long at, from, stride, seen;
static const char *count_path;
static pid_t owner;

/* glibc's own, which need no look-up before the first allocation. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static unsigned long
number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void
arm(void)
{
	const char *kind = getenv("FAULTS_KIND");

	count_path = getenv("FAULTS_COUNT");
	owner = getpid();
	at = number("FAULTS_AT");
	from = number("FAULTS_FROM");
	stride = getenv("FAULTS_WALK") ? number("FAULTS_STRIDE") : 0;
	unsetenv("LD_PRELOAD");
	walk_begin();
	sites_begin();
	if (kind)
		armed = strcmp(kind, "memory") == 0 ? MEMORY : IO;
	if (armed == IO && !calls_watch())
		_exit(77);
}

__attribute__((destructor)) static void
tell(void)
{
	char text[32];
	int fd, n;

	armed = NONE;
	if (!count_path || getpid() != owner)
		return;
	sites_tell();
	fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	n = snprintf(text, sizeof text, "%lu\n", seen);
	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

bool
faults_now(enum kind kind)
{
	const int before = errno;
	bool fails, let;

	if (armed != kind || getpid() != owner || gettid() != owner)
		return false;
	armed = NONE; /* while we look */
	let = calls_let(true);
	seen++;
	sites_note();
	fails = stride ? seen >= from && seen % stride == 0 && walk_twice(seen)
	               : seen == at;
	if (!fails || !stride)
		armed = kind;
	calls_let(let);
	errno = before;
	return fails;
}

/* ---- memory ---- */

static bool
memory_fails(void)
{
	if (!faults_now(MEMORY))
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t n)
{
	return memory_fails() ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return memory_fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return memory_fails() ? NULL : __libc_realloc(p, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	void *got = memory_fails() ? NULL : __libc_memalign(align, n);

	if (!got)
		return ENOMEM;
	*p = got;
	return 0;
}

void *
aligned_alloc(size_t align, size_t n)
{
	return memory_fails() ? NULL : __libc_memalign(align, n);
}
