#define _GNU_SOURCE
#include "ir/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/counted.h"
#include "ir/base/file_guard.h"
#include "ir/base/folder.h"
#include "ir/base/stale.h"

static bool
fail(struct err *err, const char *path, const char *what)
{
	return err_set(err, ERR_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool
copy_all(int to, int from)
{
	char piece[1 << 16];
	ssize_t n;

	while ((n = read(from, piece, sizeof piece)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write(to, piece, (size_t)n) != n)
			return false;
	}
	return true;
}

/* A signal ends the process from now on; so does one that has come already, and
 * whose handler took it for a search to end. SOURCE: Linux forgets the handler of
 * SA_RESETHAND when it is called, and keeps the flag. */
static void
end_by(int number, struct sigaction *was)
{
	const struct sigaction end = {.sa_handler = SIG_DFL};

	sigaction(number, &end, was);
	if (was->sa_handler == SIG_DFL
	    && ((unsigned)was->sa_flags & (unsigned)SA_RESETHAND) != 0)
		raise(number);
}

/* While standard input is waited for nothing has begun: a signal to stop ends
 * the process as it would any other. */
static bool
copy_stdin(int to)
{
	struct sigaction on_int, on_term;
	bool ok;

	end_by(SIGINT, &on_int);
	end_by(SIGTERM, &on_term);
	ok = copy_all(to, STDIN_FILENO);
	sigaction(SIGINT, &on_int, NULL);
	sigaction(SIGTERM, &on_term, NULL);
	return ok;
}

/* Standard input as a file: it is read once, and may be opened again. */
static int
open_stdin(struct err *err)
{
	static FILE *copy;
	int fd;

	if (!copy && isatty(STDIN_FILENO)) {
		err_set(err, ERR_USAGE,
		    "standard input is a terminal: send a file into it");
		return -1;
	}
	if (!copy) {
		copy = tmpfile();
		if (!copy || !copy_stdin(fileno(copy))) {
			fail(err, "standard input", "cannot read");
			return -1;
		}
	}
	fd = dup(fileno(copy));
	if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0)
		fail(err, "standard input", "cannot read");
	return fd;
}

/* A descriptor of a regular file and its size, or -1. "-" is standard input. */
static int
open_regular(const char *path, struct stat *st, struct err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? open_stdin(err)
	                  : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		if (err->kind == ERR_NONE)
			fail(err, path, "cannot open");
		return -1;
	}
	if (fstat(fd, st) != 0) {
		fail(err, path, "cannot stat");
	} else if (!S_ISREG(st->st_mode)) {
		err_set(err, ERR_IO, "%s: not a regular file", path);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

static struct file_id
id_from(const struct stat *st)
{
	return (struct file_id){st->st_dev, st->st_ino, (uint64_t)st->st_size,
	    (int64_t)timespec_ns(&st->st_ctim),
	    (int64_t)timespec_ns(&st->st_mtim)};
}

struct file_id
file_id_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? id_from(&st) : (struct file_id){0};
}

bool
file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->device == b->device && a->inode == b->inode
	    && a->bytes == b->bytes && a->changed_ns == b->changed_ns
	    && a->modified_ns == b->modified_ns;
}

bool
file_map_fd(struct mapped_file *f, int fd, const struct stat *st,
    const char *name, struct err *err)
{
	const size_t n = (size_t)st->st_size;
	void *p = NULL;

	if (n > 0)
		p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return fail(err, name, "cannot map");
	if (n > 0)
		file_guard_add(p, n, name);
	*f = (struct mapped_file){p, n, id_from(st)};
	return true;
}

bool
file_map_open(struct mapped_file *f, int *fd, const char *path, struct err *err)
{
	struct stat st;

	*f = (struct mapped_file){.data = NULL};
	*fd = open_regular(path, &st, err);
	if (*fd < 0)
		return false;
	if (file_map_fd(f, *fd, &st, path, err))
		return true;
	close(*fd);
	return false;
}

bool
file_map(struct mapped_file *f, const char *path, struct err *err)
{
	int fd;

	if (!file_map_open(f, &fd, path, err))
		return false;
	close(fd);
	return true;
}

bool
file_offset(const struct mapped_file *f, const void *at, size_t *offset)
{
	const uintptr_t from = (uintptr_t)f->data, place = (uintptr_t)at;

	if (place < from || place - from >= f->bytes)
		return false;
	*offset = place - from;
	return true;
}

bool
file_map_zeros(struct mapped_file *f, size_t bytes, struct err *err)
{
	void *p = mmap(NULL, bytes, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*f = (struct mapped_file){.data = NULL};
	if (p == MAP_FAILED)
		return err_set(err, ERR_IO,
		    "no address space for %zu bytes of zeros", bytes);
	*f = (struct mapped_file){.data = p, .bytes = bytes};
	return true;
}

void
file_unmap(struct mapped_file *f)
{
	file_guard_remove(f->data);
	if (f->data)
		munmap((void *)(uintptr_t)f->data, f->bytes);
	*f = (struct mapped_file){.data = NULL};
}

void
file_forget(const struct mapped_file *f)
{
	if (f->data)
		madvise((void *)(uintptr_t)f->data, f->bytes, MADV_DONTNEED);
}

bool
file_read(const char **text, size_t *n, const char *path, enum limit_id most,
    struct arena *a, struct err *err)
{
	struct stat st;
	int fd = open_regular(path, &st, err);
	size_t got = 0;
	ssize_t r = 0;
	char *buf;

	if (fd < 0)
		return false;
	if ((size_t)st.st_size > limit_of(most)) {
		close(fd);
		return err_set(err, ERR_INPUT,
		    "%s: %lld bytes, limit is %" PRIu64, path,
		    (long long)st.st_size, limit_of(most));
	}
	buf = arena_alloc(a, (size_t)st.st_size + 1);
	while (got < (size_t)st.st_size
	    && (r = read(fd, buf + got, (size_t)st.st_size - got)) > 0)
		got += (size_t)r;
	close(fd);
	if (r < 0)
		return fail(err, path, "cannot read");
	*text = buf;
	*n = got;
	return true;
}

FILE *
file_look_into(const char *path)
{
	struct err ignored = {.kind = ERR_NONE};
	struct stat st;
	int fd =
	    strcmp(path, "-") == 0 ? -1 : open_regular(path, &st, &ignored);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

bool
out_begin(struct outdir *o, const char *path, bool force, struct arena *a,
    struct err *err)
{
	struct stat st;
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	*o = (struct outdir){.path = arena_strn(a, path, n), .force = force};
	if (lstat(o->path, &st) == 0 && !force)
		return err_set(err, ERR_IO,
		    "%s: exists already (--force replaces it)", o->path);
	o->left = arena_new(a, uint64_t, 1);
	*o->left = UINT64_MAX;
	o->sums = arena_new(a, const struct out_sum *, 1);
	o->temporary = arena_printf(a, "%s.tmp-%ld", o->path, (long)getpid());
	stale_remove(o->path);
	out_abandon(o);
	if (mkdir(o->temporary, 0777) != 0)
		return fail(err, o->path, "cannot make directory");
	return true;
}

/* A file's path; folders on the way are made. */
static const char *
make_way(
    const struct outdir *o, const char *name, struct arena *a, struct err *err)
{
	char *path = arena_printf(a, "%s/%s", o->temporary, name);

	for (char *s = path + strlen(o->temporary) + 1; (s = strchr(s, '/'));
	     *s++ = '/') {
		*s = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST) {
			fail(err, name, "cannot make directory");
			return NULL;
		}
	}
	return path;
}

int
out_create(
    const struct outdir *o, const char *name, struct arena *a, struct err *err)
{
	const char *path = make_way(o, name, a, err);
	int fd;

	if (!path)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		fail(err, name, "cannot create");
	return fd;
}

/* The file of that name in the folder that is replaced, if it has no other name, and
 * owner and mode of what is made now; -1: there is none. */
static int
open_former(const struct outdir *o, const char *path)
{
	struct stat st, now;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && lstat(o->temporary, &now) == 0
	    && S_ISREG(st.st_mode) && st.st_nlink == 1
	    && (st.st_mode & 07777) == (now.st_mode & 0666)
	    && st.st_uid == now.st_uid && st.st_gid == now.st_gid)
		return fd;
	close(fd);
	return -1;
}

static FILE *
follow(
    const struct outdir *o, const char *name, struct arena *a, struct err *err)
{
	const char *path = make_way(o, name, a, err);
	const char *former = arena_printf(a, "%s/%s", o->path, name);
	int fd = path ? open_former(o, former) : -1;
	FILE *f = fd < 0 ? NULL : counted_follow(fd, former, path, o->left);

	if (!f && fd >= 0)
		close(fd);
	return f;
}

FILE *
out_open(
    const struct outdir *o, const char *name, struct arena *a, struct err *err)
{
	FILE *f = o->force ? follow(o, name, a, err) : NULL;
	int fd;

	if (f || err->kind != ERR_NONE)
		return f;
	fd = out_create(o, name, a, err);
	f = fd < 0 ? NULL : counted_open(fd, o->left);
	if (!f && fd >= 0) {
		fail(err, name, "cannot create");
		close(fd);
	}
	return f;
}

void
out_know(const struct outdir *o, const char *name, const char sum[65],
    struct arena *a)
{
	struct out_sum *s = arena_new(a, struct out_sum, 1);

	*s = (struct out_sum){.next = *o->sums, .name = arena_str(a, name)};
	memcpy(s->text, sum, sizeof s->text);
	*o->sums = s;
}

bool
out_is_full(const struct outdir *o)
{
	return *o->left == 0;
}

bool
out_close(FILE *f, const char *name, struct err *err)
{
	bool bad = fflush(f) != 0 || ferror(f);
	int why = errno;

	bad |= fclose(f) != 0;
	if (!bad)
		return true;
	errno = why ? why : errno;
	return fail(err, name, "cannot write");
}

void
out_discard(const struct outdir *o, FILE *f, const char *name)
{
	char path[4096];

	if (f)
		fclose(f);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", o->temporary, name)
	    < sizeof path)
		unlink(path);
}

bool
file_is_absent(const char *path)
{
	return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool
file_sync_parent(const char *path, struct err *err)
{
	char parent[4096];
	const char *slash = strrchr(path, '/');
	bool ok;
	int fd;

	if (!slash)
		snprintf(parent, sizeof parent, ".");
	else
		snprintf(parent, sizeof parent, "%.*s",
		    (int)(slash == path ? 1 : slash - path), path);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, parent, "cannot open");
	/* some file systems refuse it */
	ok = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP
	    || fail(err, parent, "cannot sync");
	close(fd);
	return ok;
}

/* All contents are on their way before the first is waited for: one commit of
 * the file system's journal then holds all of them. */
static int
start_sync(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	int fd = type == FTW_F && st->st_nlink == 1
	    ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
	    : -1;

	(void)ftw;
	if (fd < 0)
		return 0;
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
	return 0;
}

static int
sync_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	int fd, bad;

	(void)ftw;
	if ((type != FTW_F && type != FTW_DP)
	    || (type == FTW_F && st->st_nlink > 1)) /* a former result's */
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	/* some file systems cannot; their renames stand */
	bad = fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP;
	close(fd);
	return bad;
}

bool
out_commit(struct outdir *o, struct err *err)
{
	struct stat st;

	if (!o->is_scratch
	    && (nftw(o->temporary, start_sync, 16, FTW_PHYS) != 0
	        || nftw(o->temporary, sync_entry, 16, FTW_DEPTH | FTW_PHYS)
	            != 0))
		return fail(err, o->path, "cannot sync");
	if (o->force && lstat(o->path, &st) == 0) {
		if (renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->path,
		        RENAME_EXCHANGE)
		    != 0)
			return fail(err, o->path, "cannot replace");
		/* the old one goes once nothing can bring it back */
		if (!file_sync_parent(o->path, err))
			return false;
		folder_remove(o->temporary);
		return true;
	}
	if (renameat2(
	        AT_FDCWD, o->temporary, AT_FDCWD, o->path, RENAME_NOREPLACE)
	    != 0)
		return fail(err, o->path, "cannot rename into place");
	return file_sync_parent(o->path, err);
}

void
out_abandon(struct outdir *o)
{
	folder_remove(o->temporary);
}

/* Write it out, to the disk, and close it. */
static bool
sync_stream(FILE *f, const char *path, struct err *err)
{
	bool bad = fflush(f) == 0 && !ferror(f) && fsync(fileno(f)) != 0
	    && errno != EINVAL && errno != ENOTSUP;

	if (!bad)
		return out_close(f, path, err);
	fail(err, path, "cannot sync");
	fclose(f);
	return false;
}

bool
file_write(const char *path,
    bool (*write)(FILE *f, void *context, struct err *err), void *context,
    struct err *err)
{
	char temporary[4096];
	bool ok;
	FILE *f;

	if ((size_t)snprintf(
	        temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid())
	    >= sizeof temporary)
		return err_set(err, ERR_IO, "%s: path too long", path);
	stale_remove(path);
	unlink(temporary); /* of an earlier process with our id */
	f = fopen(temporary, "wxe");
	if (!f)
		return fail(err, path, "cannot create");
	ok = write(f, context, err);
	if (ok)
		ok = sync_stream(f, path, err);
	else
		fclose(f);
	if (ok && rename(temporary, path) != 0)
		ok = fail(err, path, "cannot rename into place");
	ok = ok && file_sync_parent(path, err);
	if (!ok)
		unlink(temporary);
	return ok;
}
