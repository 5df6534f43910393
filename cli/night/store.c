#include "cli/night/store.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/base/hash.h"
#include "ir/base/jsonin.h"
#include "ir/base/listing.h"
#include "ir/base/stale.h"

static const char *
file_path(const char *out, const char *sum, struct arena *a)
{
	return arena_printf(a, "%s/nights/files/%s", out, sum);
}

const char *
store_path(const char *out, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/nights/results/%s", out, name);
}

bool
store_has(const char *out, const char *name, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	uint32_t n;

	return name[0] && listing_verify(store_path(out, name, a), &n, a, &err);
}

static bool
make_folders(const char *out, struct arena *a, struct err *err)
{
	static const char *const below[] = {"", "/files", "/results"};

	for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
		const char *path =
		    arena_printf(a, "%s/nights%s", out, below[i]);

		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return err_set(
			    err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	return true;
}

/* ---- keeping ---- */

struct keeping {
	const char *out, *from; /* the batch, the result directory */
	struct outdir to;
	struct arena *a;
};

/* Where links cannot be: another file system, or one without. */
static bool
copy_file(struct keeping *k, const char *name, struct err *err)
{
	struct mapped_file m;
	FILE *f;
	bool ok;

	if (!file_map(&m, arena_printf(k->a, "%s/%s", k->from, name), err))
		return false;
	f = out_open(&k->to, name, k->a, err);
	ok = f != NULL;
	if (ok) {
		fwrite(m.data, 1, m.bytes, f);
		ok = out_close(f, name, err);
	}
	file_unmap(&m);
	return ok;
}

static bool
same_bytes(const char *kept, const char *from)
{
	struct mapped_file x = {0}, y = {0};
	struct err err = {.kind = ERR_NONE};
	bool same = file_map(&x, kept, &err) && file_map(&y, from, &err)
	    && x.bytes == y.bytes && memcmp(x.data, y.data, x.bytes) == 0;

	file_unmap(&x);
	file_unmap(&y);
	return same;
}

/* What is under that sum was damaged in place, since it has other bytes. */
static bool
is_damaged(const char *kept, const char *from)
{
	struct stat x, y;

	if (stat(kept, &x) != 0 || stat(from, &y) != 0)
		return true;
	return (x.st_dev != y.st_dev || x.st_ino != y.st_ino)
	    && (x.st_size != y.st_size || !same_bytes(kept, from));
}

static void
make_parents(const char *path, struct arena *a)
{
	char *copy = arena_str(a, path);

	for (char *s = strchr(copy + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(copy, 0777); /* or it is there */
		*s = '/';
	}
}

/* The file under its sum, made by linking the result's own, and a link to that
 * in the kept result. Results are replaced, never written into. */
static bool
keep_file(struct keeping *k, const char *name, const char *sum, struct err *err)
{
	const char *from = arena_printf(k->a, "%s/%s", k->from, name);
	const char *to = arena_printf(k->a, "%s/%s", k->to.temporary, name);
	const char *kept = file_path(k->out, sum, k->a);

	if (is_damaged(kept, from))
		unlink(kept);
	if (link(from, kept) != 0 && errno != EEXIST)
		return copy_file(k, name, err);
	make_parents(to, k->a);
	return link(kept, to) == 0 || copy_file(k, name, err);
}

static bool
keep_files(struct keeping *k, const cJSON *listing, struct err *err)
{
	const cJSON *list, *item;
	const char *name, *sum;

	if (!jsonin_array(listing, "files", &list, err))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		if (!jsonin_str(item, "path", &name, err)
		    || !jsonin_str(item, "sha256", &sum, err)
		    || !keep_file(k, name, sum, err))
			return false;
	}
	return copy_file(k, LISTING_NAME, err);
}

static bool
keep_as(struct keeping *k, const char *path, const char *text, size_t n,
    struct err *err)
{
	struct cJSON *listing = jsonin_parse(text, n, LISTING_NAME, err);
	bool ok;

	if (!listing)
		return false;
	ok = out_begin(&k->to, path, true, k->a, err);
	if (ok) {
		ok = keep_files(k, listing, err) && out_commit(&k->to, err);
		if (!ok)
			out_abandon(&k->to);
	}
	jsonin_close(listing);
	return ok;
}

bool
store_keep(const char *out, const char *result, const char **name,
    struct arena *a, struct err *err)
{
	struct keeping k = {.out = out, .from = result, .a = a};
	const char *text, *path;
	struct hash128 h;
	char hex[33];
	size_t n;

	if (!make_folders(out, a, err)
	    || !file_read(&text, &n,
	        arena_printf(a, "%s/" LISTING_NAME, result), LIMIT_READ_LISTING,
	        a, err))
		return false;
	h = hash128(text, n);
	hash128_print(h, hex);
	*name = arena_str(a, hex);
	path = store_path(out, *name, a);
	return access(path, F_OK) == 0 || keep_as(&k, path, text, n, err);
}

/* ---- pruning ---- */

static bool
is_wanted(const struct history *h, uint32_t from, const char *name)
{
	for (uint32_t i = from; i < h->n; i++)
		for (uint32_t k = 0; k < h->night[i].nunits; k++)
			if (strcmp(h->night[i].unit[k].result, name) == 0)
				return true;
	return false;
}

static void
prune_results(const struct history *h, uint32_t from, struct arena *a)
{
	DIR *d = opendir(store_path(h->out, "", a));
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (strlen(e->d_name) == 32 && !is_wanted(h, from, e->d_name))
			folder_remove(store_path(h->out, e->d_name, a));
	if (d)
		closedir(d);
}

static bool
is_any(const char *stem, const void *context)
{
	(void)stem, (void)context;
	return true;
}

/* A file whose only name is its sum is nobody's. */
static void
prune_files(const struct history *h, struct arena *a)
{
	DIR *d = opendir(file_path(h->out, "", a));
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		const char *path = file_path(h->out, e->d_name, a);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode)
		    && st.st_nlink == 1)
			unlink(path);
	}
	if (d)
		closedir(d);
}

/* Records go first: a kill leaves results that nobody refers to, for the next
 * time, and never a record without its results. */
bool
store_prune(struct history *h, uint32_t keep, uint32_t *n, struct arena *a,
    struct err *err)
{
	uint32_t from = h->n > keep ? h->n - keep : 0;

	*n = from;
	for (uint32_t i = 0; i < from; i++) {
		const uint32_t number = h->night[i].number;

		unlink(night_path(h->out, number, ".html", a));
		if (unlink(night_path(h->out, number, ".json", a)) != 0
		    && errno != ENOENT)
			return err_set(err, ERR_IO, "%s: %s",
			    night_path(h->out, number, ".json", a),
			    strerror(errno));
	}
	stale_remove_in(store_path(h->out, "", a), is_any, NULL);
	prune_results(h, from, a);
	prune_files(h, a);
	memmove(h->night, h->night + from, (h->n - from) * sizeof *h->night);
	h->n -= from;
	return true;
}
