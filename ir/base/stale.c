#define _GNU_SOURCE
#include "ir/base/stale.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/folder.h"

/* Is `name` "<stem>.tmp-<pid>" as file.c writes it, of a process that is gone? */
static bool
is_left_over(const char *name, const char *stem)
{
	size_t n = strlen(stem);
	char *end;
	long pid;

	if (strncmp(name, stem, n) != 0 || strncmp(name + n, ".tmp-", 5) != 0)
		return false;
	name += n + 5;
	if (name[0] < '1' || name[0] > '9')
		return false;
	errno = 0;
	pid = strtol(name, &end, 10);
	return errno == 0 && *end == '\0' && pid <= INT_MAX
	    && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void
stale_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *stem = slash ? slash + 1 : path;
	char folder[4096], whole[4096 + 256];
	struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof folder, "%.*s",
	    slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (is_left_over(entry->d_name, stem)) {
			snprintf(
			    whole, sizeof whole, "%s%s", folder, entry->d_name);
			folder_remove(whole);
		}
	if (dir)
		closedir(dir);
}
