#define _GNU_SOURCE
#include "ir/base/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

const char *
folder_new(const char *parent, struct arena *a, struct err *err)
{
	const char *temporary = getenv("TMPDIR");
	char *path;

	if (!parent)
		parent = temporary && *temporary ? temporary : "/tmp";
	path = arena_printf(a, "%s/marq-XXXXXX", parent);
	if (mkdtemp(path))
		return path;
	err_set(err, ERR_IO, "%s: cannot make: %s", path, strerror(errno));
	return NULL;
}

void
folder_remove(const char *path)
{
	/* a walk may fail for want of memory, for a moment */
	if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
		nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const struct dirent *
folder_next(DIR *d, const char *path, struct err *err)
{
	const struct dirent *e;

	errno = 0;
	e = readdir(d);
	if (!e && errno != 0)
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return e;
}
