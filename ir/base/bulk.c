#define _GNU_SOURCE
#include "ir/base/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ir/base/fd.h"
#include "ir/base/file_guard.h"
#include "ir/base/sha256.h"

/* TUNING: smaller ones are copied as soon as the disk is asked. */
#define LARGE ((size_t)1 << 20)
/* TUNING: what the disk is given at a time; a signal is heeded in between. */
#define PORTION ((size_t)8 << 20)

void
bulk_init(struct bulk *b, struct arena *a)
{
	*b = (struct bulk){.source_fd = -1, .arena = a};
}

void
bulk_add(struct bulk *b, const void *data, size_t n)
{
	struct bulk_piece *last = b->n ? &b->piece[b->n - 1] : NULL;

	b->bytes += n;
	if (last && last->data + last->n == data) {
		last->n += n;
		return;
	}
	if (n == 0)
		return;
	b->piece =
	    arena_grow(b->arena, b->piece, &b->cap, b->n + 1, sizeof *b->piece);
	b->piece[b->n++] = (struct bulk_piece){data, n};
}

/* A file's pages need not stay. */
static void
add_piece(struct sha256 *s, const struct bulk_piece *p)
{
	for (size_t at = 0; at < p->n; at += PORTION) {
		const size_t left = p->n - at,
		             n = left < PORTION ? left : PORTION;

		sha256_add(s, p->data + at, n);
		file_guard_let_go(p->data + at, n);
	}
}

void
bulk_sum(const struct bulk *b, char sum[65])
{
	struct sha256 s;

	sha256_start(&s);
	for (uint32_t i = 0; i < b->n; i++)
		add_piece(&s, &b->piece[i]);
	sha256_end(&s, sum);
}

static void
advance(struct bulk_piece *p, size_t n)
{
	p->data += n;
	p->n -= n;
}

/* Whole blocks of the source become blocks of the file, at `at`, as on btrfs and
 * XFS. */
static bool
put_shared(int fd, const struct bulk *b, struct bulk_piece *p, uint64_t at)
{
	struct file_clone_range range = {.src_fd = b->source_fd,
	    .src_length = p->n / BULK_BLOCK * BULK_BLOCK,
	    .dest_offset = at};
	size_t from;

	if (b->source_fd < 0 || !file_offset(&b->source, p->data, &from))
		return true;
	range.src_offset = from;
	if (ioctl(fd, FICLONERANGE, &range) != 0)
		return true; /* in another way, then */
	advance(p, (size_t)range.src_length);
	return lseek(fd, (off_t)(at + range.src_length), SEEK_SET) >= 0;
}

static bool
set_direct(int fd, bool on)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags >= 0
	    && fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT)
	    == 0;
}

/* Whole blocks from memory to the disk, as many as it takes that way. */
static bool
put_blocks(int fd, struct bulk_piece *p)
{
	ssize_t put = 0;

	while (p->n >= BULK_BLOCK && put >= 0) {
		size_t n =
		    (p->n < PORTION ? p->n : PORTION) / BULK_BLOCK * BULK_BLOCK;

		put = write(fd, p->data, n);
		if (put < 0 && errno == EINTR)
			put = 0;
		if (put > 0) {
			file_guard_let_go(p->data, (size_t)put);
			advance(p, (size_t)put);
		}
	}
	return put >= 0 || errno == EINVAL; /* that is: not in this way */
}

/* What is left of it is to be written in the usual way. */
static bool
put_direct(int fd, struct bulk_piece *p)
{
	bool ok;

	if (!set_direct(fd, true))
		return true;
	ok = put_blocks(fd, p);
	return set_direct(fd, false) && ok;
}

static bool
put_part(int fd, struct bulk_piece *p, size_t n)
{
	if (!fd_write_all(fd, (const char *)p->data, n))
		return false;
	advance(p, n);
	return true;
}

static size_t
within_block(uint64_t at)
{
	return (size_t)(at % BULK_BLOCK);
}

/* A large one, which begins as far into a block as in memory. */
static bool
put_large(int fd, const struct bulk *b, struct bulk_piece *p, uint64_t at)
{
	const size_t before = (BULK_BLOCK - within_block(at)) % BULK_BLOCK;

	return put_part(fd, p, before) && put_shared(fd, b, p, at + before)
	    && put_direct(fd, p);
}

/* What is deleted soon (`is_scratch`) need not reach the disk. */
static bool
put_piece(int fd, const struct bulk *b, struct bulk_piece p, uint64_t at,
    bool is_scratch)
{
	if (!is_scratch && p.n >= LARGE
	    && within_block(at) == within_block((uintptr_t)p.data)
	    && !put_large(fd, b, &p, at))
		return false;
	return put_part(fd, &p, p.n);
}

static bool
put_all(int fd, const struct bulk *b, const struct outdir *o)
{
	uint64_t at = 0;

	if (b->bytes > *o->left) {
		*o->left = 0;
		errno = EFBIG;
		return false;
	}
	*o->left -= b->bytes;
	for (uint32_t i = 0; i < b->n; at += b->piece[i++].n)
		if (!put_piece(fd, b, b->piece[i], at, o->is_scratch))
			return false;
	return true;
}

bool
bulk_write(const struct bulk *b, const struct outdir *o, const char *name,
    const char sum[65], struct err *err)
{
	int fd = out_create(o, name, b->arena, err), why;
	bool ok;

	if (fd < 0)
		return false;
	ok = put_all(fd, b, o);
	why = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		why = errno;
	}
	if (!ok)
		return err_set(
		    err, ERR_IO, "%s: cannot write: %s", name, strerror(why));
	out_know(o, name, sum, b->arena);
	return true;
}
