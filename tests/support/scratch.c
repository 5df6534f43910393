#include "tests/support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir/base/folder.h"

static char folder[4096];
static pid_t owner; /* children do not delete it */

static void
remove_folder(void)
{
	if (getpid() == owner)
		folder_remove(folder);
}

const char *
scratch_folder(void)
{
	const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NULL;
	struct err err = {.kind = ERR_NONE};
	const char *made;
	struct arena a;

	if (owner)
		return folder;
	arena_init(&a);
	made = folder_new(memory, &a, &err);
	if (!made) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	snprintf(folder, sizeof folder, "%s", made);
	arena_release(&a);
	owner = getpid();
	atexit(remove_folder);
	return folder;
}

const char *
scratch_path(const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s", scratch_folder(), name);
}

void
scratch_enter(void)
{
	if (chdir(scratch_folder()) != 0)
		abort();
}
