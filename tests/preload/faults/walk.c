#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/preload/faults/faults.h"

#define LONGEST 60 /* seconds that a copy may run */
#define DESCRIPTORS 64

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "walk: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static struct stat opened[DESCRIPTORS];

static void
note_opened(void)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (fstat(fd, &opened[fd]) != 0)
			opened[fd] = (struct stat){.st_ino = 0};
}

static bool
is_opened(const char *path)
{
	struct stat s;

	if (stat(path, &s) != 0)
		return true;
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (opened[fd].st_ino == s.st_ino
		    && opened[fd].st_dev == s.st_dev)
			return true;
	return false;
}

/* SQLite remembers which file it has open: a copy passes for it. */
static struct {
	ino_t was, is;
} copied[DESCRIPTORS];
static int ncopied;

static void
note_copied(int from, int to)
{
	struct stat was, is;

	if (ncopied < DESCRIPTORS && fstat(from, &was) == 0
	    && fstat(to, &is) == 0) {
		copied[ncopied].was = was.st_ino;
		copied[ncopied++].is = is.st_ino;
	}
}

static int
as_before(int status, struct stat64 *s)
{
	for (int i = 0; status == 0 && i < ncopied; i++)
		if (s->st_ino == copied[i].is)
			s->st_ino = copied[i].was;
	return status;
}

int
stat64(const char *path, struct stat64 *s)
{
	return as_before(fstatat64(AT_FDCWD, path, s, 0), s);
}

int
lstat64(const char *path, struct stat64 *s)
{
	return as_before(fstatat64(AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW), s);
}

int
fstat64(int fd, struct stat64 *s)
{
	return as_before(fstatat64(fd, "", s, AT_EMPTY_PATH), s);
}

/* What is written is new, and renamed, so a file that is closed can be the copy's,
 * too; a database is written where it is. */
static void
copy_file(const char *from, const char *to)
{
	int in, out;

	if (!getenv("FAULTS_MOUNT") && !is_opened(from) && link(from, to) == 0)
		return;
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(in >= 0 && out >= 0, from);
	while (sendfile(out, in, NULL, 1 << 20) > 0)
		;
	note_copied(in, out);
	close(in);
	close(out);
}

/* Depth is that of results: a few. NOLINTNEXTLINE(misc-no-recursion) */
static void
copy_tree(const char *from, const char *to)
{
	DIR *d = opendir(from);
	struct dirent *e;

	must(d && mkdir(to, 0755) == 0, to);
	while ((e = readdir(d))) {
		char inner[4096], outer[4096];

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(inner, sizeof inner, "%s/%s", from, e->d_name);
		snprintf(outer, sizeof outer, "%s/%s", to, e->d_name);
		if (e->d_type == DT_DIR)
			copy_tree(inner, outer);
		else if (e->d_type == DT_REG)
			copy_file(inner, outer);
	}
	closedir(d);
}

/* What is open has a place in it of its own from here; a file of the folder is
 * the copy's. */
static void
reopen(int fd, const char *folder, const char *to)
{
	char link[64], target[4096], path[8192];
	size_t n = strlen(folder);
	ssize_t got;
	bool inside;
	int other;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	got = readlink(link, target, sizeof target - 1);
	if (got < 0 || target[0] != '/')
		return;
	target[got] = '\0';
	inside = strncmp(target, folder, n) == 0 && target[n] == '/';
	snprintf(path, sizeof path, "%s%s", inside ? to : "",
	    target + (inside ? n : 0));
	other = open(
	    path, fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
	if (other < 0)
		return; /* it has been deleted */
	lseek(other, lseek(fd, 0, SEEK_CUR), SEEK_SET);
	dup3(other, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(other);
}

/* Memory that is a file of the folder is the copy's file, where it has another. */
static void
map_again(const char *line, const char *folder, const char *to)
{
	unsigned long begin, end, offset;
	char access[5], path[8192], file[4096];
	size_t n = strlen(folder);
	int fd;

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095s", &begin, &end, access,
	        &offset, file)
	        != 5
	    || access[3] != 's' || strncmp(file, folder, n) != 0
	    || file[n] != '/')
		return;
	snprintf(path, sizeof path, "%s%s", to, file + n);
	fd = open(path, O_RDWR | O_CLOEXEC);
	must(fd >= 0, path);
	must(mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
	         MAP_SHARED | MAP_FIXED, fd, (off_t)offset)
	        != MAP_FAILED,
	    "mmap");
	close(fd);
}

static void
map_all_again(const char *folder, const char *to)
{
	static char text[1 << 18];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	must(fd >= 0, "maps");
	while ((got = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	must(n < sizeof text - 1, "maps");
	text[n] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		map_again(line, folder, to);
	}
}

/* What standard output and error were at first: the program may have lent their
 * numbers to something else. */
static struct stat stream[2];

void
walk_begin(void)
{
	fstat(STDOUT_FILENO, &stream[0]);
	fstat(STDERR_FILENO, &stream[1]);
}

/* Every descriptor of the `which`-th stream is that of a file from here. */
static void
divert(const char *to, int which)
{
	struct stat s;
	char path[4200];
	int file;

	snprintf(path, sizeof path, "%s.%s", to, which ? "err" : "out");
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(file >= 0, path);
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (fd != file && fstat(fd, &s) == 0
		    && s.st_ino == stream[which].st_ino
		    && s.st_dev == stream[which].st_dev)
			dup2(file, fd);
	close(file);
}

static void
move_to_copy(unsigned long number)
{
	char folder[4096], to[4096];

	must(getcwd(folder, sizeof folder) != NULL, "getcwd");
	snprintf(to, sizeof to, "%s/%lu", getenv("FAULTS_WALK"), number);
	note_opened();
	copy_tree(folder, to);
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		reopen(fd, folder, to);
	map_all_again(folder, to);
	divert(to, 0);
	divert(to, 1);
	if (getenv("FAULTS_MOUNT")) {
		must(unshare(CLONE_NEWNS) == 0, "unshare");
		must(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
		        && mount(to, folder, NULL, MS_BIND, NULL) == 0,
		    "mount");
	}
	must(chdir(getenv("FAULTS_MOUNT") ? folder : to) == 0, to);
	alarm(LONGEST);
}

/* Other threads would not be in the copy; children would not be its own, and it
 * would read what they write. */
static bool
is_alone(void)
{
	siginfo_t info;
	struct stat s;

	return stat("/proc/self/task", &s) == 0 && s.st_nlink == 3
	    && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0
	    && errno == ECHILD;
}

/* The time that was spent in waiting for copies did not pass: limits on time are
 * not what is looked at. */
static long long waited_ns;

static long long
real_ns(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	long long ns = real_ns(clock) - waited_ns;

	*t = (struct timespec){ns / 1000000000, ns % 1000000000};
	return 0;
}

bool
walk_twice(unsigned long number)
{
	const long long begun = real_ns(CLOCK_MONOTONIC);
	const int said = atoi(getenv("FAULTS_SAY"));
	const int heard = atoi(getenv("FAULTS_HEAR"));
	int status = -1;
	char go;
	pid_t copy;

	if (is_alone()) {
		copy = _Fork();
		must(copy >= 0, "fork");
		if (copy == 0) {
			move_to_copy(number);
			return true;
		}
		while (waitpid(copy, &status, 0) < 0 && errno == EINTR)
			;
	}
	dprintf(said, "%lu %d\n", number, status);
	while (read(heard, &go, 1) < 0 && errno == EINTR)
		;
	waited_ns += real_ns(CLOCK_MONOTONIC) - begun;
	return false;
}
