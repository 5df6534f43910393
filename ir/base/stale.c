#define _GNU_SOURCE
#include "ir/base/stale.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/folder.h"

/* The length of the stem where `name` is "<stem>.tmp-<pid>" as file.c writes
 * it, or the journal that SQLite keeps beside one, and the process is gone; else
 * 0. */
static size_t
left_over(const char *name)
{
	const char *at = NULL;
	char *end;
	long pid;

	for (const char *s = name; (s = strstr(s, ".tmp-")); s++)
		at = s;
	if (!at || at[5] < '1' || at[5] > '9')
		return 0;
	errno = 0;
	pid = strtol(at + 5, &end, 10);
	if (errno != 0 || pid > INT_MAX
	    || (*end != '\0' && strcmp(end, "-journal") != 0)
	    || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return 0;
	return (size_t)(at - name);
}

bool
stale_is_left(const char *name)
{
	return left_over(name) > 0;
}

void
stale_remove_in(const char *folder,
    bool (*is_ours)(const char *stem, const void *context), const void *context)
{
	char stem[256], path[4096 + 256];
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		size_t n = left_over(entry->d_name);

		snprintf(stem, sizeof stem, "%.*s", (int)n, entry->d_name);
		if (n == 0 || !is_ours(stem, context))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		folder_remove(path);
	}
	if (dir)
		closedir(dir);
}

static bool
is_same(const char *stem, const void *context)
{
	return strcmp(stem, context) == 0;
}

void
stale_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	if (slash)
		snprintf(
		    folder, sizeof folder, "%.*s/", (int)(slash - path), path);
	else
		strcpy(folder, ".");
	stale_remove_in(folder, is_same, slash ? slash + 1 : path);
}
