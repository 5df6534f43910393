#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* flock */
#endif
#include "costmodel/core_lock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "costmodel/core_type.h"

#define LOCK_NAME "marq-measures-on-core-%u"

/* TUNING: a measurement takes tens of milliseconds. */
#define PAUSE_NS 2000000

/* Others must be able to lock it, too. Where others made it, in a folder as
 * /tmp is, O_CREAT is refused: so that comes second. */
static int
open_file(const char *folder, uint32_t core)
{
	char path[4096];
	int fd,
	    n = snprintf(path, sizeof path, "%s/" LOCK_NAME ".lock", folder,
	        (unsigned)core);

	if (n < 0 || (size_t)n >= sizeof path)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			(void)fchmod(fd, 0666);
		else if (errno == EEXIST)
			fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	}
	return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

bool
core_locks_check(const char *folder, struct err *err)
{
	int fd = open_file(folder, 0);

	if (fd < 0)
		return err_set(err, ERR_IO,
		    "%s: no locks can be made there: %s", folder,
		    strerror(errno));
	close(fd);
	return true;
}

void
core_locks_open(struct core_locks *l, const uint32_t *core, uint32_t n)
{
	const char *folder = getenv(CORE_LOCK_FOLDER);

	assert(n <= CORES_MAX);
	l->core = core;
	l->n = n;
	for (uint32_t i = 0; i < n; i++) {
		l->name[i] = -1;
		l->file[i] =
		    folder && *folder ? open_file(folder, core[i]) : -1;
	}
}

static void
pause_for(atomic_uint *waits, uint32_t core)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (waits)
		atomic_store(waits, core + 1);
	nanosleep(&pause, NULL);
}

static void
take_file(int fd, uint32_t core, atomic_uint *waits)
{
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return; /* a file system that has no locks */
		pause_for(waits, core);
	}
}

/* -1 when there is no way to tell. */
static int
take_name(uint32_t core, atomic_uint *waits)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t bytes;

	if (fd < 0)
		return -1;
	n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, LOCK_NAME,
	    (unsigned)core);
	bytes =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	while (bind(fd, (const struct sockaddr *)&name, bytes) != 0) {
		if (errno != EADDRINUSE) {
			close(fd);
			return -1;
		}
		pause_for(waits, core);
	}
	return fd;
}

/* All take them in ascending order, a file before its name, so nobody waits for
 * one that waits for them. */
void
core_locks_take(struct core_locks *l, atomic_uint *waits)
{
	for (uint32_t i = 0; i < l->n; i++) {
		take_file(l->file[i], l->core[i], waits);
		l->name[i] = take_name(l->core[i], waits);
	}
	if (waits)
		atomic_store(waits, 0);
}

void
core_locks_drop(struct core_locks *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->name[i] >= 0)
			close(l->name[i]);
		l->name[i] = -1;
		if (l->file[i] >= 0)
			flock(l->file[i], LOCK_UN);
	}
}

void
core_locks_close(struct core_locks *l)
{
	core_locks_drop(l);
	for (uint32_t i = 0; i < l->n; i++)
		if (l->file[i] >= 0)
			close(l->file[i]);
	l->n = 0;
}

/* How many there are then: n or, where there are less, 0. */
static uint32_t
pin_to_last(uint32_t core[CORES_MAX], uint32_t n)
{
	const uint32_t have = measuring_cores(core, n);

	if (n == 0 || n > have)
		return 0;
	memmove(core, &core[have - n], n * sizeof *core);
	machine_pin(core, n);
	return n;
}

void
cores_pin(uint32_t n)
{
	uint32_t core[CORES_MAX];

	pin_to_last(core, n);
}

void
cores_take(struct cores_taken *t, uint32_t n)
{
	n = pin_to_last(t->core, n);
	core_locks_open(&t->locks, t->core, n);
	core_locks_take(&t->locks, NULL);
}

void
cores_release(struct cores_taken *t)
{
	core_locks_close(&t->locks);
}
