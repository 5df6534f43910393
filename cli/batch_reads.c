#define _GNU_SOURCE /* memmem */
#include "cli/batch_reads.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/version.h"
#include "costmodel/environment.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "targets/loaded.h"

static void
put_hash(struct buf *b, struct hash128 h)
{
	buf_add(b, h.byte, sizeof h.byte);
}

/* Facts of this machine that any price may depend on: what each kind that is
 * measured here would say without options. */
static struct hash128
hash_machine(struct arena *a)
{
	static const char *const kinds[] = {
	    "host", "dnnl", "xnnpack", "blas", "native"};
	const char *machine = environment_machine(1, a);
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	buf_str(&b, MARQ_VERSION);
	loaded_program(&b, "program");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct target_kind *kind = target_kind_find(kinds[i]);
		const struct target t = {
		    .kind = kind, .text = kinds[i], .source = PRICE_MEASURED};

		if (kind)
			buf_str(&b, environment_hard(&t, machine, a));
	}
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

void
batch_reads_init(struct batch_reads *r, struct arena *a)
{
	*r = (struct batch_reads){.a = a, .machine = hash_machine(a)};
	map_init(&r->index, a);
}

static bool
hash_file(struct batch_reads *r, const char *path, struct hash128 *out,
    struct err *err)
{
	uint32_t at = map_find(&r->index, path, strlen(path));
	struct mapped_file f;
	const char *key;

	if (at != MAP_NONE) {
		*out = r->file[at];
		return true;
	}
	if (!file_map(&f, path, err))
		return false;
	*out = hash128(f.data, f.bytes);
	file_unmap(&f);
	r->file = arena_grow(r->a, r->file, &r->cap, r->n + 1, sizeof *r->file);
	r->file[r->n] = *out;
	key = arena_str(r->a, path);
	map_add(&r->index, key, strlen(key), r->n++);
	return true;
}

/* A file that is named somewhere; one that cannot be read counts as absent. */
static void
put_file(struct batch_reads *r, struct buf *b, const char *path)
{
	struct err ignored = {.kind = ERR_NONE};
	struct hash128 h;

	if (!hash_file(r, path, &h, &ignored))
		return;
	buf_add(b, path, strlen(path) + 1);
	put_hash(b, h);
}

/* ---- weights beside the model ---- */

static int
by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* TUNING: models of many files have hundreds, in a folder or two. */
#define FILES_MAX 4096u
#define DEPTH_MAX 3

struct beside {
	struct arena *a;
	const struct mapped_file *model;
	const char **path;
	uint32_t n, cap;
};

/* Files beneath the model's folder whose names its bytes hold: a list of
 * external data is nothing else, and one file too many does no harm. */
static void
find_beside(struct beside *x, const char *folder, const char *below, int depth)
{
	const char *at = arena_printf(x->a, "%s/%s", folder, below);
	DIR *d = depth < DEPTH_MAX ? opendir(at) : NULL;
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL && x->n < FILES_MAX) {
		const char *name = arena_printf(
		    x->a, "%s%s%s", below, below[0] ? "/" : "", e->d_name);
		const char *path = arena_printf(x->a, "%s/%s", folder, name);
		struct stat st;

		if (e->d_name[0] == '.' || stat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			find_beside(x, folder, name, depth + 1);
		} else if (S_ISREG(st.st_mode)
		    && memmem(
		        x->model->data, x->model->bytes, name, strlen(name))) {
			x->path = arena_grow(
			    x->a, x->path, &x->cap, x->n + 1, sizeof *x->path);
			x->path[x->n++] = path;
		}
	}
	if (d)
		closedir(d);
}

static void
put_beside(struct batch_reads *r, struct buf *b, const char *model)
{
	struct err ignored = {.kind = ERR_NONE};
	const char *slash = strrchr(model, '/');
	const char *folder = slash ? arena_strn(r->a, model,
	                         (size_t)(slash - model) + (slash == model))
	                           : ".";
	struct mapped_file f;
	struct beside x = {.a = r->a, .model = &f};

	if (!file_map(&f, model, &ignored))
		return;
	if (f.bytes)
		find_beside(&x, folder, "", 0);
	file_unmap(&f);
	if (x.n > 1)
		qsort(x.path, x.n, sizeof *x.path, by_text);
	for (uint32_t i = 0; i < x.n; i++)
		put_file(r, b, x.path[i]);
}

/* ---- what arguments name ---- */

/* Names, sizes and times of a folder's entries: of tools, mostly. */
static void
put_folder(struct batch_reads *r, struct buf *b, const char *path)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		struct stat st;

		if (list[i]->d_name[0] != '.'
		    && stat(arena_printf(r->a, "%s/%s", path, list[i]->d_name),
		           &st)
		        == 0)
			buf_printf(b, "%s/%s %lld %lld\n", path,
			    list[i]->d_name, (long long)st.st_size,
			    (long long)st.st_mtim.tv_sec);
		free(list[i]);
	}
	free(list);
}

/* A command without a slash is found as a shell finds it. */
static void
put_program(struct batch_reads *r, struct buf *b, const char *word)
{
	const char *path = getenv("PATH");

	for (const char *s = path ? path : ""; *s != '\0';) {
		size_t n = strcspn(s, ":");
		const char *at = arena_printf(r->a, "%.*s/%s", (int)n, s, word);
		struct stat st;

		if (stat(at, &st) == 0 && S_ISREG(st.st_mode)
		    && (st.st_mode & 0111)) {
			put_file(r, b, at);
			return;
		}
		s += n + (s[n] == ':');
	}
}

static void
put_word(struct batch_reads *r, struct buf *b, const char *word)
{
	struct stat st;

	if (word[0] == '\0' || strlen(word) > 4096)
		return;
	if (stat(word, &st) != 0) {
		if (!strchr(word, '/'))
			put_program(r, b, word);
	} else if (S_ISREG(st.st_mode)) {
		put_file(r, b, word);
	} else if (S_ISDIR(st.st_mode) && strchr(word, '/')) {
		put_folder(r, b, word);
	}
}

/* Every word of an argument that names a file, and what stands behind '=' as a
 * whole: paths may hold blanks and colons. */
static void
put_argument(struct batch_reads *r, struct buf *b, const char *arg)
{
	static const char between[] = "=:, +\"'";

	buf_add(b, arg, strlen(arg) + 1);
	for (const char *at = strchr(arg, '='); at; at = strchr(at + 1, '='))
		put_word(r, b, at + 1);
	for (const char *s = arg; *s != '\0';) {
		size_t n = strcspn(s, between);

		put_word(r, b, arena_strn(r->a, s, n));
		s += n;
		s += strspn(s, between);
	}
}

static bool
is_written(const char *arg, const char *before)
{
	return strcmp(before, "--db") == 0 || strncmp(arg, "--db=", 5) == 0;
}

bool
batch_reads_unit(struct batch_reads *r, const struct unit *u,
    struct hash128 *out, struct err *err)
{
	struct hash128 model;
	struct buf b;

	if (!hash_file(r, u->model, &model, err))
		return err_in(err, "unit '%s'", u->name);
	buf_init(&b);
	put_hash(&b, model);
	put_hash(&b, r->machine);
	put_beside(r, &b, u->model);
	for (uint32_t i = 0; i < u->nargs; i++) {
		/* What units write into is no input of theirs. */
		if (is_written(u->arg[i], i ? u->arg[i - 1] : ""))
			buf_add(&b, u->arg[i], strlen(u->arg[i]) + 1);
		else
			put_argument(r, &b, u->arg[i]);
	}
	*out = hash128(b.data, b.n);
	buf_release(&b);
	return true;
}
