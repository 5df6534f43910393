#include "ir/base/listing.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/sha256.h"
#include "ir/base/stale.h"

#define DEPTH_MAX 16

struct listed {
	const char *name; /* beneath the folder */
	uint64_t bytes;
	char sum[65];
};

struct listing {
	const char *folder;
	struct arena *a;
	const struct out_sum *known;
	struct listed *file;
	uint32_t n, cap;
};

/* TUNING: as much of a file is in memory at a time. */
#define PIECE ((size_t)1 << 20)

static bool
sum_file(struct listed *f, const char *path, struct err *err)
{
	struct mapped_file m;
	struct sha256 s;

	if (!file_map(&m, path, err))
		return false;
	f->bytes = m.bytes;
	sha256_start(&s);
	for (size_t at = 0; at < m.bytes; at += PIECE) {
		const size_t left = m.bytes - at;

		sha256_add(&s, m.data + at, left < PIECE ? left : PIECE);
		file_forget(&m);
	}
	sha256_end(&s, f->sum);
	file_unmap(&m);
	return true;
}

static struct listed *
add(struct listing *l, const char *name)
{
	l->file = arena_grow(l->a, l->file, &l->cap, l->n + 1, sizeof *l->file);
	l->file[l->n] = (struct listed){.name = name};
	return &l->file[l->n++];
}

static const char *
path_of(const struct listing *l, const char *name)
{
	return arena_printf(l->a, "%s/%s", l->folder, name);
}

/* The names of all files, "" being the folder itself. */
static bool
walk(struct listing *l, const char *below, int depth, struct err *err)
{
	const char *path = arena_printf(l->a, "%s/%s", l->folder, below);
	DIR *d = depth < DEPTH_MAX ? opendir(path) : NULL;
	const struct dirent *e;
	bool ok = d != NULL;

	if (!d)
		return err_set(err, ERR_IO, "%s: %s", path,
		    depth < DEPTH_MAX ? strerror(errno) : "too deep");
	while (ok && (e = folder_next(d, path, err)) != NULL) {
		const char *name = arena_printf(
		    l->a, "%s%s%s", below, below[0] ? "/" : "", e->d_name);
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0
		    || strcmp(name, LISTING_NAME) == 0
		    || stale_is_left(e->d_name))
			continue;
		if (lstat(path_of(l, name), &st) != 0)
			ok = err_set(err, ERR_IO, "%s: %s", path_of(l, name),
			    strerror(errno));
		else if (S_ISDIR(st.st_mode))
			ok = walk(l, name, depth + 1, err);
		else
			add(l, name)->bytes = (uint64_t)st.st_size;
	}
	closedir(d);
	return ok && err->kind == ERR_NONE;
}

static int
by_name(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Its sum, if it is known since the file was written. */
static bool
recall(const struct listing *l, struct listed *f)
{
	for (const struct out_sum *s = l->known; s; s = s->next)
		if (strcmp(s->name, f->name) == 0) {
			memcpy(f->sum, s->text, sizeof f->sum);
			return true;
		}
	return false;
}

static bool
read_folder(struct listing *l, struct err *err)
{
	if (!walk(l, "", 0, err))
		return false;
	if (l->n > 1)
		qsort(l->file, l->n, sizeof *l->file, by_name);
	for (uint32_t i = 0; i < l->n; i++)
		if (!recall(l, &l->file[i])
		    && !sum_file(&l->file[i], path_of(l, l->file[i].name), err))
			return false;
	return true;
}

static bool
write_list(FILE *f, void *context, struct err *err)
{
	const struct listing *l = context;
	struct json j;

	(void)err;
	json_init(&j, f, 1);
	json_object(&j);
	json_key_str(&j, "schema", "marq.files/1");
	json_key(&j, "files");
	json_array(&j);
	for (uint32_t i = 0; i < l->n; i++) {
		json_inline_object(&j);
		json_key_str(&j, "path", l->file[i].name);
		json_key_uint(&j, "bytes", l->file[i].bytes);
		json_key_str(&j, "sha256", l->file[i].sum);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return true;
}

bool
listing_write(const char *folder, const struct out_sum *known, struct arena *a,
    struct err *err)
{
	struct listing l = {.folder = folder, .a = a, .known = known};

	return read_folder(&l, err)
	    && file_write(path_of(&l, LISTING_NAME), write_list, &l, err);
}

static bool
read_item(const cJSON *item, struct listed *f, struct err *err)
{
	const char *sum;
	int64_t bytes;

	if (!jsonin_str(item, "path", &f->name, err)
	    || !jsonin_i64(item, "bytes", &bytes, err)
	    || !jsonin_str(item, "sha256", &sum, err))
		return false;
	f->bytes = bytes < 0 ? UINT64_MAX : (uint64_t)bytes;
	snprintf(f->sum, sizeof f->sum, "%s", sum);
	return true;
}

/* All that is listed but `name`, which comes as it is now. */
static bool
renew(struct listing *l, const cJSON *list, const char *name, struct err *err)
{
	struct listed f;
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (!read_item(item, &f, err))
			return false;
		if (strcmp(f.name, name) != 0)
			*add(l, f.name) = f;
	}
	if (!sum_file(add(l, name), path_of(l, name), err))
		return false;
	qsort(l->file, l->n, sizeof *l->file, by_name);
	return file_write(path_of(l, LISTING_NAME), write_list, l, err);
}

bool
listing_renew(
    const char *folder, const char *name, struct arena *a, struct err *err)
{
	struct listing l = {.folder = folder, .a = a};
	const char *path = path_of(&l, LISTING_NAME);
	const cJSON *list;
	struct cJSON *doc;
	bool ok;

	if (file_is_absent(path))
		return true;
	doc = jsonin_open(path, LIMIT_READ_LISTING, err);
	ok = doc && jsonin_array(doc, "files", &list, err)
	    && renew(&l, list, name, err);
	if (doc)
		jsonin_close(doc);
	return ok;
}

static bool
check_one(
    const struct listing *l, const cJSON *item, uint32_t i, struct err *err)
{
	struct listed f;

	if (!read_item(item, &f, err))
		return false;
	/* Both are sorted: the first that differs is missing, or too much. */
	if (i >= l->n || strcmp(f.name, l->file[i].name) < 0)
		return err_set(err, ERR_IO, "%s: missing", f.name);
	if (strcmp(f.name, l->file[i].name) > 0)
		return err_set(err, ERR_IO, "%s: not in the list of files",
		    l->file[i].name);
	if (f.bytes != l->file[i].bytes || strcmp(f.sum, l->file[i].sum) != 0)
		return err_set(err, ERR_IO, "%s: not what was written", f.name);
	return true;
}

/* Files that are there against those that are listed; *n: how many agree. */
static bool
is_as_listed(struct listing *l, const cJSON *doc, uint32_t *n, struct err *err)
{
	const cJSON *list, *item;

	if (!jsonin_array(doc, "files", &list, err))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		if (!check_one(l, item, (*n)++, err))
			return false;
	}
	return *n == l->n
	    || err_set(
	        err, ERR_IO, "%s: not in the list of files", l->file[*n].name);
}

bool
listing_verify(
    const char *folder, uint32_t *n, struct arena *a, struct err *err)
{
	struct listing l = {.folder = folder, .a = a};
	struct cJSON *doc =
	    jsonin_open(arena_printf(a, "%s/%s", folder, LISTING_NAME),
	        LIMIT_READ_LISTING, err);
	bool ok;

	*n = 0;
	if (!doc)
		return false;
	/* Whatever cannot be read is named with its folder. */
	ok = read_folder(&l, err)
	    && (is_as_listed(&l, doc, n, err) || err_in(err, "%s", folder));
	jsonin_close(doc);
	return ok;
}
