/* Files: mapped for reading, whole or absent when written. */
#ifndef IR_BASE_FILE_H
#define IR_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/limits.h"

struct stat; /* sys/stat.h */

/* Which file it is, and of when: one that was written since has another. */
struct file_id {
	uint64_t device, inode, bytes;
	int64_t changed_ns, modified_ns; /* since 1970 */
};

struct file_id file_id_of(int fd);
bool file_id_equal(const struct file_id *a, const struct file_id *b);

/* A read-only mapping. If the file shrinks while mapped, reading past its new
 * end stops the process with a line and the status of ERR_IO (file_guard.h). */
struct mapped_file {
	const unsigned char *data; /* NULL when empty */
	size_t bytes;
	struct file_id id; /* of what was mapped */
};

/* Map a regular file ("-": standard input, here and below). ERR_IO when it cannot be opened or is not regular. */
bool file_map(struct mapped_file *f, const char *path, struct err *err);
/* The same, and the file stays open. */
bool file_map_open(
    struct mapped_file *f, int *fd, const char *path, struct err *err);
/* Map an open regular file; st: what fstat() said of it. `name` is what messages
 * call it, and stays. */
bool file_map_fd(struct mapped_file *f, int fd, const struct stat *st,
    const char *name, struct err *err);
/* Does it lie in what is mapped, and how far behind the beginning? */
bool file_offset(const struct mapped_file *f, const void *at, size_t *offset);
/* Zeros, which take address space, and memory for none of them. */
bool file_map_zeros(struct mapped_file *f, size_t bytes, struct err *err);
void file_unmap(struct mapped_file *f);
/* Its pages need not stay in memory; they are read anew when they are looked at. */
void file_forget(const struct mapped_file *f);

/* Read a whole small file (a config, a manifest) into the arena,
 * NUL-terminated; larger ones are refused. */
bool file_read(const char **text, size_t *n, const char *path,
    enum limit_id most, struct arena *a, struct err *err);

/* A regular file to look into; NULL: it is none, or cannot be opened. */
FILE *file_look_into(const char *path);

/* The SHA-256 of a file, since it was written. */
struct out_sum {
	const struct out_sum *next;
	const char *name;
	char text[65];
};

/* An output directory that is whole or absent: files are written into
 * `<path>.tmp-<pid>` beside it, which out_commit() renames and out_abandon()
 * deletes. An existing `path` is replaced only with `force`. What processes
 * that were killed left of it is deleted first (stale.h). */
struct outdir {
	const char *path, *temporary;
	bool force;
	bool is_scratch; /* deleted soon: not synced */
	uint64_t *left; /* bytes that may still be written */
	const struct out_sum **sums; /* the latest first; of some files */
};

bool out_begin(struct outdir *o, const char *path, bool force, struct arena *a,
    struct err *err);
/* Open a file (its name may have sub-folders, which are made). */
FILE *out_open(
    const struct outdir *o, const char *name, struct arena *a, struct err *err);
/* The same as a descriptor; -1: err is set. */
int out_create(
    const struct outdir *o, const char *name, struct arena *a, struct err *err);
/* Remember the sum of a file that is written. */
void out_know(const struct outdir *o, const char *name, const char sum[65],
    struct arena *a);
/* Flush and close what out_open() gave, reporting any write error. */
bool out_close(FILE *f, const char *name, struct err *err);
/* Delete a file that is open; NULL: not even that. */
void out_discard(const struct outdir *o, FILE *f, const char *name);
/* Did a file want more than *left bytes? */
bool out_is_full(const struct outdir *o);
/* Sync all files and folders, rename, and sync the folder around it: after a
 * kill or a power cut the path has all of the old, or all of the new. */
bool out_commit(struct outdir *o, struct err *err);
void out_abandon(struct outdir *o);

/* One file, written whole or not at all, and synced: `write` fills it. */
bool file_write(const char *path,
    bool (*write)(FILE *f, void *context, struct err *err), void *context,
    struct err *err);

/* Is there nothing of that name? What cannot be asked is taken to be there, so
 * that reading it says why. */
bool file_is_absent(const char *path);

/* The folder that a path lies in: what was renamed there stays. */
bool file_sync_parent(const char *path, struct err *err);

#endif
