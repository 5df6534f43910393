#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* realpath */
#endif
#include "emit/taken.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/buf.h"
#include "ir/base/clock.h"

/* TUNING: smaller ones are copied as soon as they are looked for. */
#define LEAST ((off_t)1 << 20)

/* Where a file of a result is remembered. */
static struct hash128
place_of(const char *path)
{
	char *whole = realpath(path, NULL);
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "file ");
	buf_str(&b, whole ? whole : path);
	h = hash128(b.data, b.n);
	buf_release(&b);
	free(whole);
	return h;
}

static bool
path_of(char path[4096], const char *folder, const char *name)
{
	return (size_t)snprintf(path, 4096, "%s/%s", folder, name) < 4096;
}

/* A sum, and the file that has it. */
struct identity {
	char text[256];
};

/* Of a large regular file that has no other name. Who writes to it changes its
 * times; links change one of them. */
static bool
identify(
    struct identity *out, const char *path, const char sum[65], struct stat *st)
{
	if (lstat(path, st) != 0 || !S_ISREG(st->st_mode) || st->st_nlink != 1
	    || st->st_size < LEAST)
		return false;
	snprintf(out->text, sizeof out->text,
	    "%s.%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, sum,
	    (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
	    timespec_ns(&st->st_ctim), timespec_ns(&st->st_mtim));
	return true;
}

/* Nobody has written to it until it was linked. */
static bool
is_same(const struct stat *a, const char *path)
{
	struct stat b;

	return lstat(path, &b) == 0 && S_ISREG(b.st_mode)
	    && a->st_dev == b.st_dev && a->st_ino == b.st_ino
	    && a->st_size == b.st_size
	    && timespec_ns(&a->st_mtim) == timespec_ns(&b.st_mtim);
}

bool
taken_link(const struct outdir *o, const char *name, const char sum[65],
    struct pricer *p)
{
	char from[4096], to[4096];
	struct identity now;
	const char *known;
	struct stat st;

	if (!p || !o->force || !path_of(from, o->path, name)
	    || !path_of(to, o->temporary, name)
	    || !identify(&now, from, sum, &st))
		return false;
	known = pricer_find_text(p, place_of(from));
	if (!known || strcmp(now.text, known) != 0
	    || (uint64_t)st.st_size > *o->left || link(from, to) != 0)
		return false;
	if (!is_same(&st, to)) {
		unlink(to);
		return false;
	}
	*o->left -= (uint64_t)st.st_size;
	return true;
}

static void
keep(const struct outdir *o, const struct out_sum *s, struct pricer *p)
{
	char path[4096];
	struct identity now;
	struct stat st;

	if (path_of(path, o->path, s->name)
	    && identify(&now, path, s->text, &st))
		pricer_keep_text(p, place_of(path), now.text);
}

void
taken_keep(const struct outdir *o, struct pricer *p)
{
	for (const struct out_sum *s = *o->sums; s && p; s = s->next)
		keep(o, s, p);
}
