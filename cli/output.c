#define _GNU_SOURCE
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/plain.h"

void
output_keep(struct cli *c, const char *path)
{
	if (path)
		text_list_add(&c->inputs, path, c->run);
}

/* Values are what follows '=', up to ','. */
void
output_keep_values(struct cli *c, const char *spec)
{
	while ((spec = strchr(spec, '='))) {
		size_t n = strcspn(++spec, ",");

		output_keep(c, arena_strn(c->run, spec, n));
	}
}

/* ---- what is read ---- */

struct given_path {
	const char *path; /* as given */
	char real[PATH_MAX]; /* absolute, without links */
	bool folder;
};

static bool
is_in(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0
	    && (path[n] == '\0' || path[n] == '/');
}

/* Is `name` the place, in it or around it? What does not exist is not. */
static bool
is_at(const struct given_path *p, const char *name)
{
	char real[PATH_MAX];
	struct stat a, b;

	if (!realpath(name, real))
		return false;
	if (is_in(real, p->real) || is_in(p->real, real))
		return true;
	return stat(real, &a) == 0 && stat(p->real, &b) == 0
	    && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static const char *
find_input(const struct cli *c, const struct given_path *p)
{
	for (uint32_t i = 0; i < c->inputs.n; i++)
		if (is_at(p, c->inputs.text[i]))
			return c->inputs.text[i];
	return NULL;
}

static bool
keeps_inputs(const struct cli *c, const struct given_path *p, struct err *err)
{
	const char *input = find_input(c, p);

	return !input
	    || err_set(err, ERR_IO,
	        "%s: %s'%s', which this command reads, so it is not replaced",
	        p->path, p->folder ? "holds " : "is ", input);
}

/* ---- what is there ---- */

/* Does a document begin so, blanks apart? */
static bool
begins_with(const char *path, const char *begin)
{
	FILE *f = file_look_into(path);
	size_t at = 0, n = strlen(begin);
	int ch;

	if (!f)
		return false;
	while (at < n && (ch = getc(f)) != EOF) {
		if (ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r')
			continue;
		if (ch != begin[at])
			break;
		at++;
	}
	fclose(f);
	return at == n;
}

/* A result says so in its result.json; one that was damaged since, in the
 * list of its files. */
static bool
holds_result(const char *folder, struct arena *a)
{
	return begins_with(arena_printf(a, "%s/result.json", folder),
	           "{\"schema\":\"marq.result/")
	    || begins_with(arena_printf(a, "%s/files.json", folder),
	        "{\"schema\":\"marq.files/");
}

static bool
is_empty(const char *folder)
{
	DIR *dir = opendir(folder);
	int n = 0;

	if (!dir)
		return false;
	while (n <= 2 && readdir(dir))
		n++;
	closedir(dir);
	return n == 2; /* "." and ".." */
}

static bool
may_replace_folder(const struct cli *c, struct given_path *p, struct err *err)
{
	char here[PATH_MAX];

	p->folder = true;
	if (getcwd(here, sizeof here) && is_in(here, p->real))
		return err_set(err, ERR_IO,
		    "%s: is the current folder or above it; go elsewhere or "
		    "name another",
		    p->path);
	if (!is_empty(p->path) && !holds_result(p->path, c->run))
		return err_set(err, ERR_IO,
		    "%s: holds no result of marq, so --force does not replace "
		    "it",
		    p->path);
	return keeps_inputs(c, p, err);
}

static const char *
what_is(mode_t mode)
{
	return S_ISLNK(mode) ? "a link"
	    : S_ISDIR(mode)  ? "a folder"
	    : S_ISREG(mode)  ? "a file"
	                     : "no file";
}

/* Said before the work rather than after it. */
static bool
parent_exists(const char *path, struct arena *a, struct err *err)
{
	const char *slash = strrchr(path, '/');
	const char *parent = !slash ? "."
	    : slash == path         ? "/"
	                    : arena_strn(a, path, (size_t)(slash - path));

	if (access(parent, W_OK) == 0)
		return true;
	return err_set(err, ERR_IO, "%s: cannot write in %s: %s", path, parent,
	    strerror(errno));
}

static bool
may_write(const struct cli *c, const char *path, bool folder, struct err *err)
{
	struct given_path p = {.path = path};
	size_t n = strlen(path);
	const char *plain;
	struct stat st;

	while (n > 1 && path[n - 1] == '/')
		n--;
	plain = arena_strn(c->run, path, n);
	if (strcmp(path, "-") == 0 && !folder)
		return true; /* standard output */
	if (*plain == '\0')
		return err_set(err, ERR_USAGE, "an empty name to write to");
	if (lstat(plain, &st) != 0)
		return parent_exists(plain, c->run, err);
	if (realpath(plain, p.real) && !keeps_inputs(c, &p, err))
		return false;
	if (folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "%s: is %s, which is not replaced",
		    path, what_is(st.st_mode));
	if (!c->force)
		return err_set(err, ERR_IO,
		    "%s: exists already (--force replaces it)", path);
	return !folder || may_replace_folder(c, &p, err);
}

bool
output_file(const struct cli *c, const char *path, struct err *err)
{
	return may_write(c, path, false, err);
}

bool
output_folder(const struct cli *c, const char *path, struct err *err)
{
	return may_write(c, path, true, err);
}

/* Bytes as they are, unless somebody looks at them. */
static bool
write_stdout(bool (*write)(FILE *f, void *context, struct err *err),
    void *context, struct err *err)
{
	FILE *f;

	if (isatty(STDOUT_FILENO))
		return write(stdout, context, err);
	f = plain_raw_stdout();
	if (!f)
		return err_set(
		    err, ERR_IO, "standard output: %s", strerror(errno));
	if (write(f, context, err))
		return out_close(f, "standard output", err);
	fclose(f);
	return false;
}

bool
output_write(const struct cli *c, const char *path,
    bool (*write)(FILE *f, void *context, struct err *err), void *context,
    struct err *err)
{
	if (strcmp(path, "-") == 0)
		return write_stdout(write, context, err);
	return output_file(c, path, err)
	    && file_write(path, write, context, err);
}
